// SPDX-License-Identifier: Apache-2.0
#include "sim/report/show/show.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <ostream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/report/format/fields.hpp"
#include "sim/report/format/table.hpp"
#include "sim/report/format/text.hpp"
#include "sim/report/format/words.hpp"
#include "sim/workload/profile_words.hpp"

namespace gradway::report {
namespace {

double elements(const std::vector<std::int64_t>& shape) {
  return std::accumulate(shape.begin(), shape.end(), 1.0, std::multiplies<>{});
}

/// "296 tensors, 306,535,400 elements, 1.226 GB"
template <class Tensor>
std::string tensors_text(const std::vector<Tensor>& tensors) {
  double count = 0;
  double bytes = 0;
  for (const auto& tensor : tensors) {
    count += elements(tensor.shape);
    bytes += elements(tensor.shape) * tensor.element_bytes;
  }
  return fmt::format("{}, {} elements, {}", counted_text(tensors.size(), "tensor"),
                     thousands_text(static_cast<std::int64_t>(count)), bytes_text(Bytes{bytes}));
}

struct Totals {
  std::int64_t launches = 0;
  Seconds gpu{};
  Seconds cpu{};
  Flops flops{};

  void add(const Launch& launch) {
    ++launches;
    gpu += launch.gpu;
    cpu += launch.cpu;
    flops += launch.flops;
  }
};

std::vector<std::string> cells(std::string phase, std::string kind, const Totals& totals) {
  return {std::move(phase),
          std::move(kind),
          thousands_text(totals.launches),
          time_text(totals.gpu),
          time_text(totals.cpu),
          totals.flops == Flops{} ? "-" : count_text(totals.flops.value(), "FLOP")};
}

Totals totals_of(const Profile& profile, std::optional<ProfiledPhase> phase = {},
                 std::optional<KernelClass> kind = {}) {
  Totals totals;
  for (const auto& launch : profile.launches) {
    if ((!phase || launch.phase == *phase) && (!kind || launch.kind == *kind)) totals.add(launch);
  }
  return totals;
}

/// Whether the CPU or the GPU limits the step. The profiler slows down the CPU.
std::string pace_text(const Profile& profile, const Totals& totals) {
  const double share = totals.cpu / totals.gpu;
  if (share < 0.9)
    return fmt::format("the GPU: the CPU issues the step in {} of the GPU's time", percent_text(share));
  const auto under = profile.step_time ? "" : ", but the profiler may be the cause";
  return fmt::format("the CPU: issuing the step takes {} of the GPU's time{}", percent_text(share), under);
}

/// The source of the memory of activations, and its peak.
std::string memory_text(const Profile& profile) {
  if (profile.memory_from == MemorySource::none) return "activations are unknown";
  Bytes most{};
  for (const auto& moment : profile.memory) most = std::max(most, moment.grows + moment.fixed);
  const auto lacks = profile.memory_lacks.empty()
                         ? ""
                         : fmt::format(", without those of {}", fmt::join(profile.memory_lacks, ", "));
  constexpr std::array<std::string_view, 4> sources{"", "from shapes",
                                                    "from the operands of compiled kernels", "as recorded"};
  return fmt::format("activations of {} {}{}", bytes_text(most),
                     sources[static_cast<std::size_t>(profile.memory_from)], lacks);
}

void write_head(Fields& fields, const Profile& profile, const Totals& totals) {
  fields.add("measured on", fmt::format("{}, {}, batch {}, {}", profile.gpu, name_of(profile.precision),
                                        profile.batch, name_of(profile.optimizer)));
  fields.add("steps",
             fmt::format("{}, {} each under the profiler", profile.steps, time_text(profile.traced_step)));
  fields.add("step time", profile.step_time
                              ? fmt::format("{} without the profiler", time_text(*profile.step_time))
                              : "not measured without the profiler");
  fields.add("gradients", tensors_text(profile.gradients));
  if (!profile.buffers.empty()) fields.add("buffers", tensors_text(profile.buffers));
  fields.add("launches", fmt::format("{}: {} on the GPU, {} of the CPU, {} between kernels",
                                     thousands_text(totals.launches), time_text(totals.gpu),
                                     time_text(totals.cpu), time_text(profile.gap)));
  fields.add("memory", memory_text(profile));
  fields.add("limited by", pace_text(profile, totals));
}

}  // namespace

void write_profile(std::ostream& out, const Profile& profile, const Style& style) {
  namespace words = profile_words;
  const auto step_totals = totals_of(profile);
  Fields fields{out, style};
  write_head(fields, profile, step_totals);

  using enum Table::Align;
  Table table{{{"phase", left},
               {"class", left},
               {"launches", right},
               {"GPU", right},
               {"CPU", right},
               {"operations", right}}};
  for (std::size_t phase = 0; phase < words::phases.size(); ++phase) {
    for (std::size_t kind = 0; kind < words::classes.size(); ++kind) {
      const auto totals =
          totals_of(profile, static_cast<ProfiledPhase>(phase), static_cast<KernelClass>(kind));
      if (totals.launches > 0)
        table.add(cells(std::string{words::phases[phase]}, std::string{words::classes[kind]}, totals));
    }
  }
  table.add(cells("all", "", step_totals));
  out << '\n';
  table.write(out, style);
}

}  // namespace gradway::report
