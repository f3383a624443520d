// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gradway {

/// The candidate nearest to `name` by edit distance, or "" if none is near enough to be a likely slip
/// (at most a third of the name's letters may differ, or the name is the start of the candidate). Ties go to
/// the first. Not for units.
std::string nearest(std::string_view name, const std::vector<std::string>& candidates);

/// "did you mean 'x'?" if there is a near candidate, else "known: a, b, c", else "".
std::string suggestion(std::string_view name, const std::vector<std::string>& candidates);

}  // namespace gradway
