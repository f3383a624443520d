// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gradway {

/// The candidates that a name may stand for, the likeliest first, four at most: those that have it as a part
/// of their own ("h100" in "h100-sxm", "gpus" in "job.gpus"; large and small letters are the same); else the
/// one with the smallest edit distance, if at most a third of the name's letters differ; else those that
/// begin with it. Shorter names come first, then the order of the candidates. Not for units.
std::vector<std::string> near_names(std::string_view name, const std::vector<std::string>& candidates);

/// The first of `near_names`, or "".
std::string nearest(std::string_view name, const std::vector<std::string>& candidates);

/// "did you mean 'x'?" or "did you mean 'x', 'y' or 'z'?" if there are near candidates, else "known: a, b,
/// c", else "".
std::string suggestion(std::string_view name, const std::vector<std::string>& candidates);

}  // namespace gradway
