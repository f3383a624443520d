// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/recompute.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace gradway {

ReadModules read_recomputed_modules(std::string_view words) {
  constexpr std::string_view separators = ", []";  // of lists in YAML and on command lines
  ReadModules read;
  while (true) {
    const auto start = words.find_first_not_of(separators);
    if (start == std::string_view::npos) return read;
    words.remove_prefix(start);
    const auto word = words.substr(0, words.find_first_of(separators));
    words.remove_prefix(word.size());
    const auto known = std::ranges::find(recomputed_module_words, word);
    if (known == recomputed_module_words.end()) {
      read.unknown = word;
      return read;
    }
    read.modules.add(static_cast<RecomputedModule>(known - recomputed_module_words.begin()));
  }
}

std::string in_words(const RecomputedModules& modules) {
  std::string words;
  for (std::size_t module = 0; module < recomputed_module_words.size(); ++module) {
    if (!modules.has(static_cast<RecomputedModule>(module))) continue;
    words += fmt::format("{}{}", words.empty() ? "" : ", ", recomputed_module_words[module]);
  }
  return words;
}

}  // namespace gradway
