// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "sim/workload/profile.hpp"

/// The words of profile files in the order of their enums. Reader and writer share these tables.
namespace gradway::profile_words {

inline constexpr std::array<std::string_view, 3> phases = {"forward", "backward", "optimizer"};
inline constexpr std::array<std::string_view, 5> classes = {"matrix", "attention", "memory", "copy_in",
                                                            "copy_out"};
inline constexpr std::array<std::string_view, 4> memory_sources = {"none", "shapes", "compiled", "recorded"};
/// Profiles of fp8 steps are not supported.
inline constexpr std::array<std::string_view, 4> precisions = {"fp32", "tf32", "bf16", "fp16"};
inline constexpr auto optimizers = optimizer_words;

/// Types of tensor elements and their size. Writers use the first type of a size.
struct ElementType {
  std::string_view name;
  int bytes;
};
inline constexpr std::array<ElementType, 5> element_types = {
    {{"fp32", 4}, {"bf16", 2}, {"fp16", 2}, {"fp64", 8}, {"int64", 8}}};

inline constexpr std::string_view scalar = "scalar";  ///< the shape of a tensor without dimensions
inline constexpr std::string_view waits = "waits";    ///< flags
inline constexpr std::string_view fixed = "fixed";
inline constexpr std::string_view tiles = "tiles=";
inline constexpr std::string_view stream = "stream=";
inline constexpr std::string_view no_flags = "-";

template <std::size_t size, class Enum>
constexpr std::string_view word(const std::array<std::string_view, size>& words, Enum value) {
  return words.at(static_cast<std::size_t>(value));
}

}  // namespace gradway::profile_words
