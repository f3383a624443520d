// SPDX-License-Identifier: Apache-2.0
#include "sim/report/trace/kineto_trace.hpp"

#include <map>
#include <ostream>
#include <string_view>
#include <tuple>

#include <fmt/format.h>

#include "sim/metrics/steps.hpp"
#include "sim/report/trace/events.hpp"

namespace gradway::report {
namespace {

// Ids as in a PyTorch process with one GPU: stream 7 is the first non-default stream.
constexpr std::size_t cpu_process = 1'000;
constexpr std::size_t main_thread = 1'001;
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
  KinetoWriter(std::ostream& out, const Run& run, std::size_t rank) : events_{out}, run_{run}, rank_{rank} {}

  void steps() {
    for (const auto& window : step_windows(run_.workload, run_.ops, run_.timeline)) {
      if (nanoseconds(window.to) <= nanoseconds(window.from)) continue;
      events_.slice({cpu_process, main_thread}, json_text(fmt::format("ProfilerStep#{}", window.step)),
                    "user_annotation", nanoseconds(window.from), nanoseconds(window.to), "");
    }
  }

  void write(const Slice& slice) {
    if (slice.task == Origin::none || slice.track == Track::phases || slice.track == Track::loader) return;
    const auto& task = run_.workload.programs[slice.program].tasks[static_cast<std::size_t>(slice.task)];
    if (slice.track == Track::launch) return launch(slice, task);
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
      args += fmt::format(R"(,"bytes":{:.0f})", copy->bytes.value());
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
    const TraceThread thread{cpu_process, main_thread};
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
};

}  // namespace

void write_kineto_trace(std::ostream& out, const Run& run, const Slices& slices, std::size_t rank) {
  out << fmt::format(
      R"({{"schemaVersion":1,"distributedInfo":{{"backend":"nccl","rank":{},"world_size":{}}},"deviceProperties":[{{"id":0,"name":{}}}],"displayTimeUnit":"ms","traceEvents":[)",
      rank, run.workload.ranks, json_text(run.scenario.platform.gpu_models.front().name));
  KinetoWriter writer{out, run, rank};
  writer.steps();
  for (const auto& slice : slices.of(rank)) writer.write(slice);
  out << "\n]}\n";
}

}  // namespace gradway::report
