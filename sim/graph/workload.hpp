// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "sim/base/ids.hpp"
#include "sim/base/units.hpp"
#include "sim/graph/origin.hpp"
#include "sim/workload/collective_kind.hpp"
#include "sim/workload/memory_use.hpp"
#include "sim/workload/profile.hpp"

namespace gradway {

/// "My group 1", "my channel 0": what a program calls a group or channel. The actor says which one it is, so
/// that actors in other groups share the program.
struct Slot {
  std::uint32_t index = 0;
  auto operator<=>(const Slot&) const = default;
};

/// Work of the GPU's multiprocessors.
struct Kernel {
  Seconds work{};
  Seconds pause{};                       ///< the GPU does nothing before it, however early it was issued
  std::optional<Footprint> footprint{};  ///< if known; else that of any large kernel of the job's precision
};

enum class Place : std::uint8_t { host, gpu };

/// Bytes that a copy engine moves between host memory and the actor's GPU.
struct Copy {
  Bytes bytes{};
  Place to = Place::gpu;
  bool pinned = true;
};

/// A call on a communicator: the k-th call of an actor on a group meets the k-th call of every other member.
/// Send and receive are a call on a group of two.
struct Call {
  CollectiveKind kind = CollectiveKind::all_reduce;
  Bytes bytes{};  ///< the buffer on each rank (all-gather, reduce-scatter: the large one)
  Slot group{};
  auto operator<=>(const Call&) const = default;
};

/// Samples from storage to the memory of the actor's node.
struct Read {
  Bytes bytes{};
  Seconds latency{};          ///< of all its requests, one after the other
  double latency_spread = 0;  ///< standard deviation over the mean; drawn as `Variation` says
  bool from_cache = false;
  BytesPerSecond at_most = BytesPerSecond::infinite();
  double weight = 1;  ///< its share against other flows where they meet
};

/// Work of one CPU core, of those that the actor's node has.
struct HostWork {
  Seconds core_time{};
};

/// Hands something over: the k-th put goes before the k-th take of the channel, and the (k + depth)-th put
/// waits for the k-th take.
struct Put {
  Slot channel;
};
struct Take {
  Slot channel;
};

/// Nothing but what the task waits for.
struct Wait {};

using TaskWork = std::variant<Kernel, Copy, Call, HostWork, Put, Take, Wait, Read>;

/// "kernel", "copy", "collective", "host", "put", "take".
std::string_view kind_of(const TaskWork& work);
/// What a copy, a call or a read moves; nothing for other work.
Bytes bytes_of(const TaskWork& work);
Activity activity_of(const TaskWork& work);

/// What goes on a stream, and in which order.
enum class Lane : std::uint8_t {
  compute,  ///< in the order of issue; the CPU may be ahead by the depth of its launch queue
  ordered,  ///< in the order of issue: communicators, streams beside compute
  side,     ///< in any order: a task only waits for what it names
};

struct Stream {
  std::string name;
  Lane lane = Lane::compute;
  int servers = 1;  ///< of an ordered one: loader workers, whose turns go round; see Task::begins_turn
};

/// How much a task has to do differs from actor to actor and from step to step: it is drawn from a gamma
/// distribution around what the task says. Tasks of an actor and a step with the same `draw` vary together.
struct Variation {
  double spread = 0;  ///< standard deviation over the mean; 0: it is always the same
  double share = 1;   ///< of the work that varies
  int draw = 0;
};

/// One thing that a program issues, in the order of its list.
struct Task {
  static constexpr std::int32_t none = -1;

  std::string name;
  TaskWork work;
  Variation varies{};  ///< of reads, and of work on a core
  Phase phase = Phase::forward;
  StreamId stream{0};
  Seconds launch{};           ///< CPU time to issue it
  int launches = 1;           ///< places it takes in the launch queue of its stream
  bool host_waits = false;    ///< the CPU issues nothing more until it has ended
  bool begins_turn = false;   ///< the next of its stream's servers does this and what follows on the stream
  std::vector<TaskId> after;  ///< what it waits for besides its stream, of the same step and program
  std::int32_t layer = none;
  std::int32_t unit = none;  ///< that it fills, sends or empties
};

/// Gradients or parameters that travel together: a bucket of DDP.
struct Unit {
  struct Gradient {
    std::int32_t layer;
    std::int32_t parameter;
    Bytes size;
  };
  std::vector<Gradient> gradients;  ///< in the order in which they get ready
  Bytes size{};
  std::int32_t filled_by = Task::none;  ///< index of the task that puts its last gradient in place
};

/// What a rank of a pipeline does with a chunk of its layers.
enum class Pass : std::uint8_t {
  forward,
  backward,         ///< gradients of inputs, then those of parameters
  input_gradients,  ///< the first half of a backward pass alone
  weight_gradients  ///< the second
};

/// The tasks of one micro-batch's pass through a chunk of a rank's layers.
struct StagePass {
  Pass pass = Pass::forward;
  int micro_batch = 0;
  int chunk = 0;
  std::size_t first = 0;  ///< task
  std::size_t end = 0;    ///< behind the last one
};

/// What some actors do in a step, and what that takes.
struct Program {
  std::string name;
  std::vector<Stream> streams{};
  std::vector<Task> tasks{};        ///< of one step, in the order in which the CPU issues them
  std::vector<Unit> units{};        ///< in the order of their reduction
  std::vector<StagePass> passes{};  ///< of a stage of a pipeline, in their order
  double samples = 0;               ///< of a step, that no other program counts
  MemoryUse memory{};               ///< of a GPU; NCCL's buffers are added when its channels are known

  Lane lane(const Task& task) const { return streams[task.stream.index()].lane; }
  /// Beside the step, which does not wait for it: a prefetch.
  bool is_beside(const Task& task) const {
    return std::holds_alternative<Copy>(task.work) && lane(task) == Lane::side;
  }
  /// Steps do not repeat, and no actor that runs it stands for another.
  bool varies() const {
    return std::ranges::any_of(tasks, [](const Task& task) {
      const auto* read = std::get_if<Read>(&task.work);
      return task.varies.spread > 0 || (read && read->latency_spread > 0);
    });
  }
};

/// Who runs a program: a rank, or a loader.
struct Actor {
  ProgramId program;
  DeviceId at;                        ///< a GPU; a socket for what needs none
  double slower = 1;                  ///< its kernels take so many times as long as those of its kind
  std::vector<GroupId> groups{};      ///< by slot
  std::vector<ChannelId> channels{};  ///< by slot
};

/// What ranks send each other in a group.
enum class Purpose : std::uint8_t {
  data,      ///< gradients and parameters
  tensor,    ///< activations of the layers that they share
  pipeline,  ///< activations from stage to stage
  context,   ///< keys and values of the tokens that others have
  expert     ///< tokens to the experts that others have, and back
};
inline constexpr std::array<std::string_view, 5> purpose_words{"data", "tensor", "pipeline", "context",
                                                               "expert"};

/// A communicator.
struct Group {
  std::string name;
  std::vector<ActorId> members;  ///< in the order of NCCL's ranks
  Purpose purpose = Purpose::data;
};

/// A bounded hand-over: a loader's queue.
struct Channel {
  ActorId from;
  ActorId to;
  int depth = 1;
};

/// What a job does in each of its steps: actors run programs, a group is a meeting, a channel is a hand-over.
struct Workload {
  std::vector<Program> programs;
  std::vector<Actor> actors;  ///< the ranks first, rank by rank
  std::vector<Group> groups;
  std::vector<Channel> channels;
  int ranks = 1;
  int steps = 1;               ///< at least; see `starts_steady`
  int after_reported = 0;      ///< steps behind the one that is reported: their prefetches fall into it
  bool starts_steady = false;  ///< the first step takes as long as all others: the CPU costs nothing
  bool whole_epoch = false;    ///< `steps` are all there are: nothing was made ahead before, or is behind

  const Program& program_of(ActorId actor) const { return programs[actors[actor.index()].program.index()]; }
  /// Steps repeat after a multiple of so many: the servers of a stream take turns.
  int turns() const {
    int most = 1;
    for (const auto& program : programs)
      for (const auto& stream : program.streams) most = std::max(most, stream.servers);
    return most;
  }
  bool varies() const { return std::ranges::any_of(programs, &Program::varies); }
  /// Those that ranks run stand first.
  std::size_t programs_of_ranks() const {
    std::size_t count = 0;
    for (std::size_t rank = 0; rank < static_cast<std::size_t>(ranks); ++rank)
      count = std::max(count, actors[rank].program.index() + 1);
    return count;
  }
  /// The program of rank 0.
  const Program& first_program() const { return program_of(ActorId{0}); }
};

/// Every member of a group makes the same calls on it in the same order; what is put into a channel in a step
/// is taken; slots, tasks and streams that are named are there.
/// @throws SimulationError naming the actor, the group and the first call that differs
void check(const Workload& workload);

}  // namespace gradway
