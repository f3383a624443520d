// SPDX-License-Identifier: Apache-2.0
#include "sim/report/show/show_rates.hpp"

#include <algorithm>
#include <cmath>
#include <ostream>

#include <fmt/format.h>

#include "sim/report/format/table.hpp"
#include "sim/report/format/text.hpp"

namespace gradway::report {
namespace {

/// The timed kernels of one kind and number format.
struct TimedGroup {
  std::string name;  ///< "product bf16"
  int rows = 0;
  Seconds shortest{};
  Seconds longest{};
  FlopsPerSecond best{};  ///< 0 for memory-bound kernels
};

/// Product of all dimensions.
double times_all(const std::vector<double>& size) {
  double product = 1;
  for (const auto number : size) product *= number;
  return product;
}

/// Operations of a compute-bound kernel; zero for memory-bound kernels. A causal mask halves attention; its
/// backward pass has five products, its forward pass two.
Flops work_of(const TimedKind& kind, const KernelTime& row) {
  const auto& size = row.size;
  if (kind.name.ends_with("product")) return Flops{2 * times_all(size)};
  if (kind.name.starts_with("attention")) {
    const auto pairs = row.kernel.ends_with("causal") ? 0.5 : 1.0;
    return Flops{(kind.name.ends_with("backward") ? 10 : 4) * pairs * times_all(size) * size[2]};
  }
  if (kind.name.starts_with("convolution")) {
    const auto side = std::floor((size[6] + 2 * size[5] - size[3]) / size[4]) + 1;
    return Flops{2 * size[0] * size[2] * side * side * (size[1] / size[7]) * size[3] * size[3]};
  }
  return Flops{};
}

/// "product bf16", without layout and other details
std::string group_name(const TimedKind& kind, const std::string& kernel) {
  const auto number = std::ranges::find(kind.words, "number");
  if (number == kind.words.end()) return std::string{kind.name};
  std::string_view remaining = kernel;
  for (auto word = kind.words.begin(); word <= number; ++word)
    remaining.remove_prefix(remaining.find(' ') + 1);
  return fmt::format("{} {}", kind.name, remaining.substr(0, remaining.find(' ')));
}

std::vector<TimedGroup> groups_of(const KernelTimes& times) {
  std::vector<TimedGroup> groups;
  for (const auto& row : times.rows) {
    const auto& kind = *kind_of_name(row.kernel.substr(0, row.kernel.find(' ')));
    const auto name = group_name(kind, row.kernel);
    auto group = std::ranges::find(groups, name, &TimedGroup::name);
    if (group == groups.end()) group = groups.insert(group, {name, 0, row.time, row.time, {}});
    ++group->rows;
    group->shortest = std::min(group->shortest, row.time);
    group->longest = std::max(group->longest, row.time);
    group->best = std::max(group->best, work_of(kind, row) / row.time);
  }
  return groups;
}

}  // namespace

void write_kernel_times(std::ostream& out, const KernelTimes& times, const Style& style) {
  using enum Table::Align;
  Table rows{{{fmt::format("timed kernels on {}", times.gpu), left},
              {"rows", right},
              {"shortest", right},
              {"longest", right},
              {"best rate", right}}};
  for (const auto& group : groups_of(times)) {
    rows.add({group.name, fmt::format("{}", group.rows), time_text(group.shortest), time_text(group.longest),
              group.best > FlopsPerSecond{} ? count_text(group.best.value(), "FLOP/s") : "-"});
  }
  out << '\n';
  rows.write(out, style);
}

}  // namespace gradway::report
