// SPDX-License-Identifier: Apache-2.0
#include "sim/report/show/show.hpp"

#include <map>
#include <ostream>

#include <fmt/format.h>

#include "sim/cost/nccl_model.hpp"
#include "sim/report/format/fields.hpp"
#include "sim/report/format/table.hpp"
#include "sim/report/format/text.hpp"
#include "sim/report/format/warning_words.hpp"
#include "sim/report/format/words.hpp"

namespace gradway::report {
namespace {

using enum Table::Align;

/// Totals over the tasks of one phase and kind on one rank.
struct TaskTotals {
  std::string_view kind;
  int tasks = 0;
  Seconds work{};
  Bytes bytes{};
  Seconds launch{};
};

std::string gradient_name(const Model& model, const Unit::Gradient& gradient) {
  const auto& layer = model.layers[static_cast<std::size_t>(gradient.layer)];
  const auto& name = layer.parameters[static_cast<std::size_t>(gradient.parameter)].name;
  return name.starts_with(layer.name) ? name : fmt::format("{}.{}", layer.name, name);
}

/// Bytes in MiB, the unit of DDP's bucket caps.
std::string mebibytes(Bytes size) {
  return fmt::format("{:.2f} MiB", size.value() / 1048576);
}

std::string dash_if(bool empty, const std::string& text) {
  return empty ? "-" : text;
}

void write_phases(std::ostream& out, const Program& program, const Style& style) {
  std::map<std::pair<Phase, std::size_t>, TaskTotals> totals;  // by kind of work
  for (const auto& task : program.tasks) {
    auto& total = totals[{task.phase, task.work.index()}];
    ++total.tasks;
    total.kind = kind_of(task.work);
    if (const auto* kernel = std::get_if<Kernel>(&task.work)) total.work += kernel->work;
    total.bytes += bytes_of(task.work);
    total.launch += task.launch;
  }
  Table table{
      {{"phase", left}, {"kind", left}, {"tasks", right}, {"work", right}, {"bytes", right}, {"CPU", right}}};
  for (const auto& [key, total] : totals) {
    table.add({std::string{name_of(key.first)}, std::string{total.kind}, fmt::format("{}", total.tasks),
               dash_if(total.work == Seconds{}, time_text(total.work)),
               dash_if(total.bytes == Bytes{}, bytes_text(total.bytes)),
               dash_if(total.launch == Seconds{}, time_text(total.launch))});
  }
  table.write(out, style);
}

/// Writes one row per pipeline stage.
void write_stages(std::ostream& out, const Workload& workload, const Style& style) {
  Table table{
      {{"", left}, {"parameters", right}, {"activations", right}, {"memory", right}, {"kernels", right}}};
  for (const auto& program : workload.programs) {
    Seconds work{};
    for (const auto& task : program.tasks)
      if (const auto* kernel = std::get_if<Kernel>(&task.work)) work += kernel->work;
    table.add({program.name, bytes_text(program.memory.parameters), bytes_text(program.memory.activations),
               bytes_text(program.memory.allocated()), time_text(work)});
  }
  table.write(out, style);
}

/// "tensor parallel" of "tensor parallel 3".
std::string_view kind_of_group(std::string_view name) {
  const auto end = name.find_last_not_of("0123456789");
  return end + 1 < name.size() && end != std::string_view::npos ? name.substr(0, end) : name;
}

/// Writes one row per kind of process group. The schedule chart shows which stages are neighbours.
void write_groups(std::ostream& out, const Workload& workload, const Style& style) {
  constexpr std::size_t most_named = 8;
  Table table{{{"groups", left}, {"number", right}, {"ranks", right}, {"first group", left}}};
  for (std::size_t i = 0; i < workload.groups.size();) {
    const auto& first = workload.groups[i];
    const auto kind = kind_of_group(first.name);
    auto end = i;
    while (end < workload.groups.size() && kind_of_group(workload.groups[end].name) == kind) ++end;
    std::vector<std::string> members;
    for (const auto member : first.members) {
      if (members.size() == most_named) break;
      members.push_back(fmt::format("{}", member.index()));
    }
    if (members.size() < first.members.size()) members.emplace_back("...");
    if (first.purpose != Purpose::pipeline)
      table.add({std::string{kind}, fmt::format("{}", end - i), fmt::format("{}", first.members.size()),
                 fmt::format("{}", fmt::join(members, " "))});
    i = end;
  }
  table.write(out, style);
  out << '\n';
}

void write_collectives(std::ostream& out, const Program& program, const Style& style) {
  std::map<std::pair<CollectiveKind, Bytes>, int> counts;
  for (const auto& task : program.tasks) {
    if (const auto* call = std::get_if<Call>(&task.work)) ++counts[{call->kind, call->bytes}];
  }
  if (counts.empty()) return;
  Table table{{{"collective", left}, {"per step", right}, {"size", right}, {"bytes", right}}};
  for (const auto& [key, count] : counts) {
    table.add({std::string{name_of(key.first)}, fmt::format("{}", count), mebibytes(key.second),
               fmt::format("{:.0f}", key.second.value())});
  }
  out << '\n';
  table.write(out, style);
}

void write_buckets(std::ostream& out, const Model& model, const std::vector<Unit>& buckets,
                   const Style& style) {
  if (buckets.empty()) return;
  Table table{{{"bucket", right},
               {"size", right},
               {"gradients", right},
               {"first ready", left},
               {"last ready", left}}};
  for (std::size_t i = 0; i < buckets.size(); ++i) {
    const auto& gradients = buckets[i].gradients;
    if (gradients.empty()) continue;
    table.add({fmt::format("{}", i), mebibytes(buckets[i].size), fmt::format("{}", gradients.size()),
               gradient_name(model, gradients.front()), gradient_name(model, gradients.back())});
  }
  out << '\n';
  table.write(out, Style{style.colour, Style::unlimited, Style::unlimited});
}

}  // namespace

void write_plan(std::ostream& out, const Scenario& scenario, const Workload& workload, const Style& style) {
  const auto& program = workload.first_program();
  Fields fields{out, style};
  out << style.paint(Paint::bold, scenario.name) << "\n\n";
  fields.add("model", scenario.model.name);
  fields.add("platform", fmt::format("{}: {}", scenario.platform.name,
                                     hardware_in_words(scenario.platform, scenario.job.gpus)));
  const auto& layout = scenario.job.layout;
  if (layout.is_model_parallel()) fields.add("layout", describe(layout, scenario.job));
  fields.add("strategy", describe(scenario.job.strategy));
  fields.add("tasks", fmt::format("{} per step on {}", thousands_text(program.tasks.size()),
                                  layout.pipeline > 1 ? "the first stage" : "each rank"));
  fields.add("warning", with_codes(scenario.warnings), Paint::yellow);
  out << '\n';
  if (layout.pipeline > 1) {
    write_schedule_chart(out, pipeline_of(layout), scenario.job.accumulate, style);
    out << '\n';
    write_stages(out, workload, style);
    out << '\n';
  }
  if (layout.is_model_parallel()) write_groups(out, workload, style);
  write_phases(out, program, style);
  write_collectives(out, program, style);
  write_buckets(out, scenario.model, program.units, style);
}

}  // namespace gradway::report
