// SPDX-License-Identifier: Apache-2.0
#include "writers/kineto/kineto_trace.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <ostream>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "sim/metrics/steps.hpp"
#include "sim/report/trace/events.hpp"

namespace gradway::report {
namespace {

// Ids as in a PyTorch process with one GPU: stream 7 is the first non-default stream.
constexpr std::size_t cpu_process = 1'000;
constexpr std::size_t main_thread = 1'001;
constexpr std::size_t loader_thread = 1'002;
constexpr std::size_t compute_stream = 7;
constexpr std::size_t copy_stream = 13;
constexpr std::size_t first_communicator = 20;
constexpr std::size_t first_other = 40;

/// Names of a collective: NCCL's kernel and PyTorch's operation.
struct KernelName {
  std::string_view kernel;
  std::string_view collective;
};
/// @param receives for messages: whether the rank is the destination
KernelName names_of(CollectiveKind kind, bool receives) {
  switch (kind) {
    case CollectiveKind::all_reduce:
      return {"AllReduce", "allreduce"};
    case CollectiveKind::all_gather:
      return {"AllGather", "_allgather_base"};
    case CollectiveKind::reduce_scatter:
      return {"ReduceScatter", "_reduce_scatter_base"};
    case CollectiveKind::broadcast:
      return {"Broadcast", "broadcast"};
    case CollectiveKind::all_to_all:
      return {"SendRecv", "all_to_allv"};
    case CollectiveKind::send_recv:
    case CollectiveKind::send:
      break;
  }
  return {"SendRecv", receives ? "recv" : "send"};
}

class KinetoWriter {
 public:
  KinetoWriter(std::ostream& out, const Run& run, const std::vector<Slice>& slices, std::size_t rank)
      : events_{out}, run_{run}, rank_{rank} {
    for (const auto& slice : slices)
      if (slice.track == Track::launch)
        launch_ends_[{slice.program, slice.step}].emplace(slice.task, slice.end_ns);
  }

  /// The profiler's annotations. As in PyTorch they are the CPU's: a step contains its launches, and ends
  /// with the last of them, which may be long before the GPU ends the step.
  void steps() {
    std::int64_t start = 0;
    const auto windows = step_windows(run_.workload, run_.ops, run_.timeline);
    for (const auto& window : windows) {
      auto end = nanoseconds(window.to);
      const auto launches = launch_ends_.find({program_of_rank(), window.step});
      if (launches != launch_ends_.end() && &window != &windows.back()) {
        end = 0;
        for (const auto& [task, launch_end] : launches->second) end = std::max(end, launch_end);
      }
      step_starts_[window.step] = start;
      if (end <= start) continue;
      events_.slice({cpu_process, main_thread}, json_text(fmt::format("ProfilerStep#{}", window.step)),
                    "user_annotation", start, end, "");
      start = end;
    }
  }

  void write(const Slice& slice) {
    if (slice.task == Origin::none || slice.track == Track::phases || slice.track == Track::loader) return;
    const auto& task = run_.workload.programs[slice.program].tasks[static_cast<std::size_t>(slice.task)];
    if (slice.track == Track::launch) return launch(slice, task);
    if (!has_launch(slice)) launch(free_launch(slice), task);
    const auto stream = stream_of(slice);
    auto args = fmt::format(R"("device":0,"stream":{},"correlation":{},"External id":{})", stream,
                            correlation(slice), correlation(slice));
    if (const auto* call = std::get_if<Call>(&task.work)) {
      const auto& actor = run_.workload.actors[rank_];
      const auto id = actor.groups[call->group.index];
      const auto& members = run_.workload.groups[id.index()].members;
      const auto names = names_of(call->kind, members.front().index() != rank_);
      args += fmt::format(
          R"(,"Collective name":"{}","In msg nelems":{:.0f},"Out msg nelems":{:.0f},"dtype":"Byte","Group size":{},"Process Group Name":"{}")",
          names.collective, input_of(*call, id).value(), output_of(*call, id).value(), members.size(),
          id.index());
      return event(slice, stream, fmt::format("ncclKernel_{}", names.kernel), "kernel", args);
    }
    if (const auto* copy = std::get_if<Copy>(&task.work)) {
      const auto* memory = copy->pinned ? "Pinned" : "Pageable";
      args += fmt::format(R"_(,"bytes":{:.0f},"memory bandwidth (GB/s)":{:.3f})_", copy->bytes.value(),
                          copy->bytes.value() / static_cast<double>(slice.end_ns - slice.start_ns));
      return event(slice, stream,
                   copy->to == Place::gpu ? fmt::format("Memcpy HtoD ({} -> Device)", memory)
                                          : fmt::format("Memcpy DtoH (Device -> {})", memory),
                   "gpu_memcpy", args);
    }
    event(slice, stream, task.name, "kernel", args);
  }

 private:
  /// The operation that launches, and the call of CUDA in it.
  void launch(const Slice& slice, const Task& task) {
    const auto number = correlation(slice);
    const TraceThread thread{cpu_process, slice.program == program_of_rank() ? main_thread : loader_thread};
    events_.slice(thread, json_text(task.name), "cpu_op", slice.start_ns, slice.end_ns,
                  fmt::format(R"("External id":{})", number));
    const bool copies = std::holds_alternative<Copy>(task.work);
    events_.slice(thread, copies ? R"("cudaMemcpyAsync")" : R"("cudaLaunchKernel")", "cuda_runtime",
                  slice.start_ns, slice.end_ns,
                  fmt::format(R"("correlation":{},"External id":{})", number, number));
  }

  void event(const Slice& slice, std::size_t stream, const std::string& name, std::string_view category,
             const std::string& args) {
    events_.slice({0, stream}, json_text(name), category, slice.start_ns, slice.end_ns, args);
  }

  bool has_launch(const Slice& slice) const {
    const auto launches = launch_ends_.find({slice.program, slice.step});
    return launches != launch_ends_.end() && launches->second.contains(slice.task);
  }

  /// The launch of work that costs the CPU nothing: at the end of the launch before it in its step. A loader
  /// has none; it launches its work when this starts. If possible the time is in whole microseconds: Holistic
  /// Trace Analysis rounds starts up and ends down to them, which makes the duration negative otherwise.
  Slice free_launch(const Slice& slice) const {
    auto launched = slice.start_ns;
    if (slice.program == program_of_rank()) {
      launched = std::min(launched, step_starts_.at(slice.step));
      if (const auto launches = launch_ends_.find({slice.program, slice.step});
          launches != launch_ends_.end()) {
        const auto next = launches->second.lower_bound(slice.task);
        if (next != launches->second.begin()) launched = std::min(slice.start_ns, std::prev(next)->second);
      }
      const auto rounded_up = (launched + 999) / 1'000 * 1'000;
      if (rounded_up <= slice.start_ns) launched = rounded_up;
    }
    auto call = slice;
    call.track = Track::launch;
    call.start_ns = call.end_ns = launched;
    return call;
  }

  std::uint16_t program_of_rank() const {
    return static_cast<std::uint16_t>(run_.workload.actors[rank_].program.index());
  }

  static std::size_t stream_of(const Slice& slice) {
    const auto lane = static_cast<std::size_t>(slice.lane);
    return slice.track == Track::communicator ? first_communicator + lane
           : slice.track == Track::copy       ? copy_stream
           : slice.track == Track::other      ? first_other + lane
                                              : compute_stream + lane;
  }

  /// A number that only a launch and the launched work share.
  std::size_t correlation(const Slice& slice) {
    return numbers_.emplace(std::tuple{slice.program, slice.step, slice.task}, numbers_.size() + 1)
        .first->second;
  }

  double ranks_of(GroupId id) const {
    return static_cast<double>(run_.workload.groups[id.index()].members.size());
  }
  Bytes input_of(const Call& call, GroupId id) const {
    return call.kind == CollectiveKind::all_gather ? call.bytes / ranks_of(id) : call.bytes;
  }
  Bytes output_of(const Call& call, GroupId id) const {
    return call.kind == CollectiveKind::reduce_scatter ? call.bytes / ranks_of(id) : call.bytes;
  }

  TraceEvents events_;
  const Run& run_;
  std::size_t rank_;
  std::map<std::tuple<std::uint16_t, std::int32_t, std::int32_t>, std::size_t> numbers_;
  std::map<std::int32_t, std::int64_t> step_starts_;  ///< of the CPU; known after `steps`
  /// By program and step, then by task.
  std::map<std::pair<std::uint16_t, std::int32_t>, std::map<std::int32_t, std::int64_t>> launch_ends_;
};

}  // namespace

void write_kineto_trace(std::ostream& out, const Run& run, const Slices& slices, std::size_t rank) {
  // Holistic Trace Analysis searches the text for the rank, and expects a space before it.
  out << fmt::format(
      R"({{"schemaVersion":1,"distributedInfo":{{"backend":"nccl","rank": {},"world_size":{}}},"deviceProperties":[{{"id":0,"name":{}}}],"displayTimeUnit":"ms","traceEvents":[)",
      rank, run.workload.ranks, json_text(run.scenario.platform.gpu_models.front().name));
  const auto of_rank = slices.of(rank);
  KinetoWriter writer{out, run, of_rank, rank};
  writer.steps();
  for (const auto& slice : of_rank) writer.write(slice);
  out << "\n]}\n";
}

}  // namespace gradway::report
