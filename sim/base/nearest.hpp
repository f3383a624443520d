// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gradway {

/// The candidates that a misspelt name may mean, likeliest first, at most four: those that contain it as a
/// whole part ("h100" in "h100-sxm", "Azure Blob" in "azure-blob-premium"); else the one with the smallest
/// edit distance, if at most a third of the letters differ; else those that begin with it. Shorter names come
/// first, then the order of the candidates. Do not use it for units.
std::vector<std::string> near_names(std::string_view name, const std::vector<std::string>& candidates);

/// The first of `near_names`, or "".
std::string nearest(std::string_view name, const std::vector<std::string>& candidates);

/// A hint: "did you mean 'x'?" or "did you mean 'x', 'y' or 'z'?" if there are near candidates; else "known:
/// a, b, c", of more than twelve the five with the smallest edit distance; "" without candidates.
std::string suggestion(std::string_view name, const std::vector<std::string>& candidates);

/// The same for keys, all of which are listed: they say what can be written in a place.
std::string suggestion_of_keys(std::string_view key, const std::vector<std::string>& known);

}  // namespace gradway
