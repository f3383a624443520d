// SPDX-License-Identifier: Apache-2.0
#include "readers/nsys/step_marks.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <string>
#include <string_view>

#include "sim/base/text.hpp"

namespace gradway::nsys {
namespace {

bool names_step(const NvtxRange& range) {
  if (range.is_operation || range.name.find('#') != std::string::npos) return false;
  const auto name = lower_case(range.name);
  constexpr std::array<std::string_view, 3> words{"step", "iter", "batch"};
  return std::ranges::any_of(words, [&](auto word) { return name.find(word) != std::string::npos; });
}

/// Ranges of the same name but for numbers, with the number of kernels launched during them.
struct Marks {
  std::vector<const Range*> ranges;
  std::ptrdiff_t launches = 0;
};

}  // namespace

std::vector<const Range*> step_marks(const std::vector<Range>& ranges, std::int64_t process,
                                     std::vector<std::int64_t> launches) {
  std::ranges::sort(launches);
  std::map<std::string, Marks> names;
  for (const auto& range : ranges) {
    if (process_of(range.thread) != process || !names_step(*range.text)) continue;
    auto name = range.text->name;
    std::erase_if(name, [](unsigned char c) { return std::isdigit(c) != 0; });
    auto& marks = names[name];
    marks.ranges.push_back(&range);
    marks.launches +=
        std::ranges::upper_bound(launches, range.end) - std::ranges::lower_bound(launches, range.start);
  }
  Marks best;
  for (auto& [name, marks] : names) {
    const bool is_same = marks.launches == best.launches && marks.ranges.size() < best.ranges.size();
    if (marks.launches > best.launches || is_same) best = std::move(marks);
  }
  if (2 * best.launches < static_cast<std::ptrdiff_t>(launches.size())) return {};
  std::ranges::sort(best.ranges, {}, &Range::start);
  return best.ranges;
}

}  // namespace gradway::nsys
