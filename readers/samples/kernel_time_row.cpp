// SPDX-License-Identifier: Apache-2.0
#include "readers/samples/sample_rows.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/nearest.hpp"

namespace gradway {
namespace {

/// Such as "product number layout".
std::string words_text(const TimedKind& kind) {
  auto text = std::string{kind.name};
  for (std::size_t i = 0; i < word_count(kind); ++i) text.append(" ").append(kind.words[i]);
  return text;
}

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  for (std::size_t start = 0; start <= text.size();) {
    const auto end = std::min(text.find(' ', start), text.size());
    words.push_back(text.substr(start, end - start));
    start = end + 1;
  }
  return words;
}

const TimedKind& read_kind(const JsonRow& row, std::string_view name) {
  if (const auto* const kind = kind_of_name(name)) return *kind;
  std::vector<std::string> names;
  for (const auto& known : timed_kinds) names.emplace_back(known.name);
  row.fail("kernel", fmt::format("'{}' is not a kind of timed kernel", name), suggestion(name, names));
}

/// Checks the words of a kernel. @return its kind
const TimedKind& read_words(const JsonRow& row, const std::string& kernel) {
  const auto words = words_of(kernel);
  const auto& kind = read_kind(row, words.front());
  if (words.size() != 1 + word_count(kind)) {
    row.fail("kernel",
             fmt::format("'{}' has {} words instead of {}", kernel, words.size(), 1 + word_count(kind)),
             fmt::format("expected: {}", words_text(kind)));
  }
  for (std::size_t i = 1; i < words.size(); ++i) {
    const auto known = choices(kind, i - 1);
    if (std::ranges::find(known, words[i]) != known.end()) continue;
    row.fail("kernel", fmt::format("'{}' is not {}", words[i], noun_of_word(kind, i - 1)),
             suggestion(words[i], {known.begin(), known.end()}));
  }
  return kind;
}

std::vector<double> read_size(const JsonRow& row, const TimedKind& kind) {
  auto size = row.whole_numbers("size");
  const auto wanted = size_count(kind);
  if (size.size() != wanted) {
    row.fail("size",
             fmt::format("'size' has {} numbers, but a size of {} has {}", size.size(), kind.name, wanted),
             fmt::format("expected: {}", fmt::join(std::span{kind.size}.first(wanted), ", ")));
  }
  for (std::size_t i = 0; i < wanted; ++i) {
    if (size[i] < least_size(kind, i))
      row.fail("size", fmt::format("{} of {} must be above zero", kind.size[i], kind.name), "");
  }
  return size;
}

}  // namespace

void add_kernel_time(const JsonRow& row, Samples& samples) {
  KernelTime timed;
  timed.kernel = row.text("kernel");
  timed.size = read_size(row, read_words(row, timed.kernel));
  timed.time = row.time("seconds");
  samples.kernel_times.push_back(std::move(timed));
}

}  // namespace gradway
