// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <ostream>
#include <string>
#include <tuple>
#include <vector>

#include <fmt/format.h>

#include "sim/cost/nccl_model.hpp"
#include "sim/report/format/fact_words.hpp"
#include "sim/report/format/fields.hpp"
#include "sim/report/format/table.hpp"
#include "sim/report/format/text.hpp"
#include "sim/report/format/words.hpp"
#include "sim/report/show/show.hpp"

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
  table.write(out, style.unlimited_width());
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

namespace {

int columns_of(Pass pass) {
  return pass == Pass::backward ? 2 : 1;
}

/// Places the passes of each rank in columns.
class Chart {
 public:
  Chart(const Pipeline& pipeline, int micro_batches) : pipeline_{pipeline} {
    for (int rank = 0; rank < pipeline.ranks; ++rank) {
      turns_.push_back(passes_of_rank(pipeline, rank, micro_batches));
      lines_.emplace_back();
    }
    std::vector<std::size_t> next(turns_.size(), 0);
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t rank = 0; rank < turns_.size(); ++rank)
        while (next[rank] < turns_[rank].size() && place(rank, turns_[rank][next[rank]])) {
          ++next[rank];
          moved = true;
        }
    }
  }

  const std::vector<std::string>& lines() const { return lines_; }

 private:
  using Key = std::tuple<bool, int, int>;  // forward, stage, micro-batch

  /// @return whether all passes that it depends on have been placed
  bool place(std::size_t rank, const ChunkPass& turn) {
    const auto stage = pipeline_.stage_of(static_cast<int>(rank), turn.chunk);
    const bool is_forward = turn.pass == Pass::forward;
    std::size_t begin = lines_[rank].size();
    if (turn.pass != Pass::weight_gradients) {
      const auto before = is_forward ? stage - 1 : stage + 1;
      if (before >= 0 && before < pipeline_.stages()) {
        const auto previous = ends_.find({is_forward, before, turn.micro_batch});
        if (previous == ends_.end()) return false;
        begin = std::max(begin, previous->second);
      }
    }
    auto& line = lines_[rank];
    line.resize(begin, '.');
    line.append(static_cast<std::size_t>(columns_of(turn.pass)), letter(turn));
    if (turn.pass != Pass::weight_gradients) ends_[{is_forward, stage, turn.micro_batch}] = line.size();
    return true;
  }

  static char letter(const ChunkPass& turn) {
    const auto number = turn.micro_batch % 10;
    switch (turn.pass) {
      case Pass::forward:
        return static_cast<char>('0' + number);
      case Pass::backward:
      case Pass::input_gradients:
        return static_cast<char>('a' + number);
      case Pass::weight_gradients:
        return static_cast<char>('A' + number);
    }
    return '?';
  }

  const Pipeline& pipeline_;
  std::vector<std::vector<ChunkPass>> turns_;
  std::vector<std::string> lines_;
  std::map<Key, std::size_t> ends_;
};

}  // namespace

void write_schedule_chart(std::ostream& out, const Pipeline& pipeline, int micro_batches,
                          const Style& style) {
  const Chart chart{pipeline, micro_batches};
  const auto label = fmt::format("stage {}  ", pipeline.ranks - 1).size();
  const auto room = style.width > label + 8 ? style.width - label : std::size_t{8};
  bool is_model_parallel = false;
  for (int rank = 0; rank < pipeline.ranks; ++rank) {
    const auto& line = chart.lines()[static_cast<std::size_t>(rank)];
    is_model_parallel = is_model_parallel || line.size() > room;
    out << fmt::format("{:<{}}", fmt::format("stage {}", rank), label)
        << (line.size() > room ? line.substr(0, room - 1) + ">" : line) << '\n';
  }
  const auto* halves = pipeline.splits_backward() ? "; A B C: weight gradients" : "";
  out << style.paint(Paint::dim, fmt::format("0 1 2: forward pass, last digit of the micro-batch; a b c: "
                                             "backward pass{}; .: idle; transfers are not shown{}",
                                             halves, is_model_parallel ? "; >: continues" : ""))
      << '\n';
}

}  // namespace gradway::report
