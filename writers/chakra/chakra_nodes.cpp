// SPDX-License-Identifier: Apache-2.0
#include "writers/chakra/chakra_nodes.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <ostream>

#include <nlohmann/json.hpp>

#include "sim/report/format/json_document.hpp"
#include "sim/report/format/words.hpp"

namespace gradway::report {
namespace {

using Ids = std::vector<std::uint64_t>;

std::string_view class_word(KernelClass kind) {
  return kind == KernelClass::attention ? "attention" : kind == KernelClass::memory ? "memory" : "matrix";
}

/// Groups are numbered from 1: ASTRA-sim takes 0 for all ranks, and does not accept it in the file of groups.
std::string name_of_group(std::size_t index) {
  return std::to_string(index + 1);
}

void add_all(Ids& ids, const Ids& added) {
  ids.insert(ids.end(), added.begin(), added.end());
}

/// Writes the tasks of one rank's program.
class RankWriter {
 public:
  RankWriter(const Workload& workload, ActorId rank)
      : workload_{workload},
        rank_{rank},
        program_{workload.program_of(rank)},
        actor_{workload.actors[rank.index()]} {}

  std::vector<ChakraNode> write() && {
    for (const auto& task : program_.tasks) add(task);
    return std::move(nodes_);
  }

 private:
  /// The nodes that dependants of a task wait for: its own, or its dependencies if it has none.
  void add(const Task& task) {
    Ids before = after_host_;
    for (const auto& dependency : task.after) add_all(before, ends_[dependency.index()]);
    const bool in_order = program_.lane(task) != Lane::unordered;
    auto& last = last_on_[task.stream.index()];
    if (in_order) add_all(before, last);
    std::ranges::sort(before);
    const auto [first, end] = std::ranges::unique(before);
    before.erase(first, end);
    const auto made = nodes_.size();
    put(task, before);
    Ids ends;
    for (auto i = made; i < nodes_.size(); ++i) ends.push_back(nodes_[i].id);
    if (ends.empty()) ends = std::move(before);
    if (in_order) last = ends;
    if (task.host_waits) after_host_ = ends;
    ends_.push_back(std::move(ends));
  }

  void put(const Task& task, const Ids& before) {
    if (const auto* kernel = std::get_if<Kernel>(&task.work)) return compute(task, *kernel, before);
    if (const auto* copy = std::get_if<Copy>(&task.work)) {
      auto& made = node(task, copy->to == Place::gpu ? ChakraType::mem_load : ChakraType::mem_store, before);
      made.attributes.push_back({"tensor_size", whole(copy->bytes)});
    } else if (const auto* call = std::get_if<Call>(&task.work)) {
      communicate(task, *call, before);
    }
  }

  void compute(const Task& task, const Kernel& kernel, const Ids& before) {
    auto& made = node(task, ChakraType::compute, before);
    const auto nanoseconds = (kernel.pause + kernel.work * actor_.slowdown).value() * 1e9;
    const auto begun = std::llround(computed_ns_ * 1e-3);
    computed_ns_ += nanoseconds;
    made.duration_micros = static_cast<std::uint64_t>(std::llround(computed_ns_ * 1e-3) - begun);
    made.attributes.push_back({exact_duration, nanoseconds});
    if (kernel.footprint)
      made.attributes.push_back({kernel_class, std::string{class_word(kernel.footprint->kind)}});
  }

  void communicate(const Task& task, const Call& call, const Ids& before) {
    const auto id = actor_.groups[call.group.index];
    const auto& group = workload_.groups[id.index()];
    const auto ranks = group.members.size();
    const auto mine =
        static_cast<std::size_t>(std::ranges::find(group.members, rank_) - group.members.begin());
    const auto call_number = static_cast<std::int32_t>(calls_[id.index()]++);
    const auto exchange = [&](ChakraType type, std::size_t from, std::size_t to) {
      auto& made = node(task, type, before);
      made.attributes.push_back({"comm_size", static_cast<std::int64_t>(whole(call.bytes))});
      made.attributes.push_back({"comm_src", static_cast<std::int32_t>(group.members[from].index())});
      made.attributes.push_back({"comm_dst", static_cast<std::int32_t>(group.members[to].index())});
      made.attributes.push_back({"comm_tag", call_number});
      made.attributes.push_back({"pg_name", name_of_group(id.index())});
    };
    if (call.kind == CollectiveKind::send)
      return exchange(mine == 0 ? ChakraType::send : ChakraType::receive, 0, 1);
    if (call.kind == CollectiveKind::send_recv) {
      exchange(ChakraType::send, mine, (mine + 1) % ranks);
      return exchange(ChakraType::receive, (mine + ranks - 1) % ranks, mine);
    }
    const bool is_gather = call.kind == CollectiveKind::all_gather;
    auto& made = node(task, ChakraType::collective, before);
    made.attributes.push_back({"comm_type", static_cast<std::int64_t>(type_of(call.kind))});
    made.attributes.push_back(
        {"comm_size",
         static_cast<std::int64_t>(whole(is_gather ? call.bytes / static_cast<double>(ranks) : call.bytes))});
    made.attributes.push_back({"pg_name", name_of_group(id.index())});
  }

  static ChakraCollective type_of(CollectiveKind kind) {
    switch (kind) {
      case CollectiveKind::all_gather:
        return ChakraCollective::all_gather;
      case CollectiveKind::reduce_scatter:
        return ChakraCollective::reduce_scatter;
      case CollectiveKind::broadcast:
        return ChakraCollective::broadcast;
      case CollectiveKind::all_to_all:
        return ChakraCollective::all_to_all;
      default:
        return ChakraCollective::all_reduce;
    }
  }

  static std::uint64_t whole(Bytes bytes) { return static_cast<std::uint64_t>(std::llround(bytes.value())); }

  ChakraNode& node(const Task& task, ChakraType type, const Ids& before) {
    nodes_.push_back({.id = nodes_.size() + 1, .name = task.name, .type = type, .data_deps = before});
    nodes_.back().attributes.push_back({"is_cpu_op", false});
    nodes_.back().attributes.push_back({step_phase, std::string{name_of(task.phase)}});
    return nodes_.back();
  }

  const Workload& workload_;
  ActorId rank_;
  const Program& program_;
  const Actor& actor_;
  std::vector<ChakraNode> nodes_;
  std::vector<Ids> ends_;               ///< by task
  std::map<std::size_t, Ids> last_on_;  ///< by stream
  Ids after_host_;                      ///< nodes that the CPU has waited for
  std::map<std::size_t, int> calls_;    ///< by group
  double computed_ns_ = 0;
};

}  // namespace

std::vector<ChakraNode> chakra_nodes(const Workload& workload, ActorId rank) {
  return RankWriter{workload, rank}.write();
}

void write_chakra_groups(std::ostream& out, const Workload& workload) {
  nlohmann::ordered_json groups = nlohmann::ordered_json::object();
  for (std::size_t i = 0; i < workload.groups.size(); ++i) {
    auto& members = groups[name_of_group(i)] = nlohmann::ordered_json::array();
    for (const auto member : workload.groups[i].members) members.push_back(member.index());
  }
  out << serialized(groups) << '\n';
}

}  // namespace gradway::report
