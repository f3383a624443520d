// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/recompute.hpp"

#include <algorithm>
#include <span>

#include <fmt/format.h>

namespace gradway {
namespace {

template <class Module>
ReadModules<Module> read_modules(std::string_view words, std::span<const std::string_view> known_words) {
  constexpr std::string_view separators = ", []";  // of lists in YAML and on command lines
  ReadModules<Module> read;
  while (true) {
    const auto start = words.find_first_not_of(separators);
    if (start == std::string_view::npos) return read;
    words.remove_prefix(start);
    const auto word = words.substr(0, words.find_first_of(separators));
    words.remove_prefix(word.size());
    const auto known = std::ranges::find(known_words, word);
    if (known == known_words.end()) {
      read.unknown = word;
      return read;
    }
    read.modules.add(static_cast<Module>(known - known_words.begin()));
  }
}

template <class Module>
std::string words_of(const ModuleSet<Module>& modules, std::span<const std::string_view> known_words) {
  std::string words;
  for (std::size_t module = 0; module < known_words.size(); ++module) {
    if (!modules.has(static_cast<Module>(module))) continue;
    words += fmt::format("{}{}", words.empty() ? "" : ", ", known_words[module]);
  }
  return words;
}

}  // namespace

ReadModules<RecomputedModule> read_recomputed_modules(std::string_view words) {
  return read_modules<RecomputedModule>(words, recomputed_module_words);
}

ReadModules<OffloadedModule> read_offloaded_modules(std::string_view words) {
  return read_modules<OffloadedModule>(words, offloaded_module_words);
}

std::string in_words(const RecomputedModules& modules) {
  return words_of(modules, recomputed_module_words);
}

std::string in_words(const OffloadedModules& modules) {
  return words_of(modules, offloaded_module_words);
}

}  // namespace gradway
