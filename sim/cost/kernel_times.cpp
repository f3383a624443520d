// SPDX-License-Identifier: Apache-2.0
#include "sim/cost/kernel_times.hpp"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/contract.hpp"
#include "sim/platform/gpu.hpp"
#include "sim/workload/operation.hpp"
#include "sim/workload/optimizer.hpp"

namespace gradway {
namespace {

using namespace std::string_view_literals;

// One letter per factor: n for normal, t for transposed. The forward pass of a linear layer is nt.
constexpr std::array product_layouts{"nt"sv, "nn"sv, "tn"sv};
constexpr std::array single_product_layouts{"nt"sv, "nn"sv, "tn"sv, "nt_fast"sv, "nt_rows"sv};
constexpr std::array image_layouts{"nchw"sv, "nhwc"sv};
constexpr std::array attention_implementations{"cudnn"sv, "flash"sv, "efficient"sv};
constexpr std::array masks{"causal"sv, "full"sv};

/// The possible values of a word of a kind.
struct Choices {
  std::string_view kind;  ///< empty: all kinds without their own entry
  std::string_view word;
  std::string_view noun;
  std::span<const std::string_view> words;
};
const std::array all_choices{Choices{"", "number", "a number format", precision_words},
                             Choices{"product", "layout", "a layout", single_product_layouts},
                             Choices{"batched_product", "layout", "a layout", product_layouts},
                             Choices{"grouped_product", "layout", "a layout", product_layouts},
                             Choices{"", "layout", "a layout", image_layouts},
                             Choices{"", "how", "an implementation", attention_implementations},
                             Choices{"", "mask", "a mask", masks},
                             Choices{"elementwise", "what", "a kernel", elementwise_kernels()},
                             Choices{"rows", "what", "a kernel", row_kernels()},
                             Choices{"optimizer", "what", "a timed optimizer", timed_optimizer_words}};

const Choices& choices_of_word(const TimedKind& kind, std::size_t word) {
  const auto match = std::ranges::find_if(all_choices, [&](const Choices& choice) {
    return (choice.kind.empty() || choice.kind == kind.name) && choice.word == kind.words[word];
  });
  expects(match != all_choices.end(), "every word of a kind must have choices");
  return *match;
}

template <std::size_t size>
std::size_t count(const std::array<std::string_view, size>& words) {
  return size - static_cast<std::size_t>(std::ranges::count(words, ""));
}

/// Index of a kernel's kind in `timed_kinds`.
std::size_t place_of(std::string_view kernel) {
  const auto name = kernel.substr(0, kernel.find(' '));
  return static_cast<std::size_t>(std::ranges::find(timed_kinds, name, &TimedKind::name) -
                                  timed_kinds.begin());
}

}  // namespace

const TimedKind* kind_of_name(std::string_view name) {
  const auto kind =
      static_cast<std::size_t>(std::ranges::find(timed_kinds, name, &TimedKind::name) - timed_kinds.begin());
  return kind == timed_kinds.size() ? nullptr : &timed_kinds[kind];
}

std::size_t word_count(const TimedKind& kind) {
  return count(kind.words);
}

std::size_t size_count(const TimedKind& kind) {
  return count(kind.size);
}

std::string size_names(const TimedKind& kind) {
  return fmt::format("{}", fmt::join(std::span{kind.size}.first(size_count(kind)), "x"));
}

double least_size(const TimedKind& kind, std::size_t number) {
  return kind.size[number] == "pad" ? 0 : 1;
}

std::span<const std::string_view> choices(const TimedKind& kind, std::size_t word) {
  return choices_of_word(kind, word).words;
}

std::string noun_of_word(const TimedKind& kind, std::size_t word) {
  return fmt::format("{} of {}", choices_of_word(kind, word).noun, kind.name);
}

bool is_listed_before(const KernelTime& a, const KernelTime& b) {
  if (a.kernel == b.kernel) return a.size < b.size;
  return std::tuple{place_of(a.kernel), std::string_view{a.kernel}} <
         std::tuple{place_of(b.kernel), std::string_view{b.kernel}};
}

}  // namespace gradway
