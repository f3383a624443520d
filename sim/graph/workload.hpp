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

/// A program's own number of a group or channel. Each actor maps its slots to groups and channels, so that
/// actors of different groups can share a program.
struct Slot {
  std::uint32_t index = 0;
  auto operator<=>(const Slot&) const = default;
};

/// A kernel on the GPU's multiprocessors.
struct Kernel {
  Seconds work{};
  Seconds pause{};                       ///< idle time of the GPU before it, even if it was issued early
  std::optional<Footprint> footprint{};  ///< absent: as a large kernel of the job's precision
  bool operator==(const Kernel&) const = default;
};

enum class Place : std::uint8_t { host, gpu };

/// A copy between host memory and the actor's GPU by a copy engine.
struct Copy {
  Bytes bytes{};
  Place to = Place::gpu;
  bool pinned = true;
  bool operator==(const Copy&) const = default;
};

/// A call on a communicator. The k-th call of an actor on a group matches the k-th call of every other
/// member. A send and its receive are one call on a group of two.
struct Call {
  CollectiveKind kind = CollectiveKind::all_reduce;
  Bytes bytes{};  ///< size of the buffer on each rank (all-gather, reduce-scatter: of the larger one)
  Slot group{};
  bool waits_beside_kernels = false;  ///< other work of the actor runs while it waits for the other members:
                                      ///< its kernel then occupies multiprocessors from when it could start
  auto operator<=>(const Call&) const = default;
};

/// Where samples are read from.
enum class ReadFrom : std::uint8_t {
  storage,
  cache,  ///< of the node
  cold,   ///< the tier from which a dataset is still being staged
  ahead   ///< from storage into the cache of the node, before a worker asks
};

/// A read of samples from storage into the memory of the actor's node.
struct Read {
  Bytes bytes{};
  Seconds latency{};          ///< of all its requests, which are made one after another
  double latency_spread = 0;  ///< coefficient of variation of the latency; see `Variation`
  ReadFrom from = ReadFrom::storage;
  BytesPerSecond at_most = BytesPerSecond::infinite();
  double weight = 1;  ///< weight against other flows on shared resources
  bool operator==(const Read&) const = default;
};

/// Work on CPU cores of the actor's node.
struct HostWork {
  Seconds core_time{};  ///< of all threads
  double threads = 1;   ///< number of cores that it uses at a time
  bool operator==(const HostWork&) const = default;
};

/// Work of the GPU's JPEG decoder, which is no part of its multiprocessors.
struct DecoderWork {
  Seconds time{};
  bool operator==(const DecoderWork&) const = default;
};

/// Puts an item into a channel, or takes one from it. The k-th take waits for the k-th put, and the
/// (k + depth)-th put waits for the k-th take.
struct Put {
  Slot channel;
  bool operator==(const Put&) const = default;
};
struct Take {
  Slot channel;
  bool operator==(const Take&) const = default;
};

/// No work: the task only waits for its dependencies.
struct Wait {
  bool operator==(const Wait&) const = default;
};

using TaskWork = std::variant<Kernel, Copy, Call, HostWork, Put, Take, Wait, Read, DecoderWork>;

/// "kernel", "copy", "collective", "CPU", "put", "take", "host", "read" or "decoder".
std::string_view kind_of(const TaskWork& work);
/// Bytes that a copy, a call or a read moves; zero for other work.
Bytes bytes_of(const TaskWork& work);
Activity activity_of(const TaskWork& work);

/// The kind of a stream and the order of its tasks.
enum class Lane : std::uint8_t {
  compute,    ///< in order of issue; the CPU may run ahead by the depth of the launch queue
  ordered,    ///< in order of issue: communicators and further streams
  unordered,  ///< in any order: a task waits for its dependencies only
};

struct Stream {
  std::string name;
  Lane lane = Lane::compute;
  int servers = 1;  ///< ordered streams only: loader workers that serve it round-robin; see Task::begins_turn
};

/// Random variation of the work of a task between actors and steps: a gamma distribution whose mean is the
/// work of the task. Tasks of the same actor, step and `draw` vary together.
struct Variation {
  double spread = 0;  ///< coefficient of variation; 0: no variation
  double share = 1;   ///< share of the work that varies
  int draw = 0;
  bool operator==(const Variation&) const = default;
};

/// One item that a program issues.
struct Task {
  static constexpr std::int32_t none = -1;

  std::string name;
  TaskWork work;
  Variation varies{};  ///< reads and host work only
  Phase phase = Phase::forward;
  StreamId stream{0};
  Seconds launch{};           ///< CPU time to issue it
  int launches = 1;           ///< entries that it takes in the launch queue of its stream
  bool host_waits = false;    ///< the CPU issues no further task until this one has ended
  bool begins_turn = false;   ///< from here on, the next server of the stream serves its tasks
  std::vector<TaskId> after;  ///< dependencies besides its stream, in the same step and program
  std::int32_t layer = none;
  std::int32_t unit = none;  ///< the unit that it fills, communicates or unpacks
};

/// Gradients or parameters that are communicated together, such as a bucket of DDP.
struct Unit {
  struct Gradient {
    std::int32_t layer;
    std::int32_t parameter;
    Bytes size;
  };
  std::vector<Gradient> gradients;  ///< in the order in which they become ready
  Bytes size{};
  std::int32_t filled_by = Task::none;  ///< index of the task that produces its last gradient
};

/// A pass of a pipeline rank through a chunk of its layers.
enum class Pass : std::uint8_t {
  forward,
  backward,         ///< gradients of inputs and of parameters
  input_gradients,  ///< the half of a backward pass that computes gradients of inputs
  weight_gradients  ///< the half that computes gradients of parameters
};

/// The tasks of one pass of a micro-batch through a chunk.
struct StagePass {
  Pass pass = Pass::forward;
  int micro_batch = 0;
  int chunk = 0;
  std::size_t first = 0;  ///< index of the first task
  std::size_t end = 0;    ///< index one past the last task
};

/// Tasks of a step that stand for several periods of equal ones: for a few of its micro-batches.
struct RepeatedTasks {
  std::size_t first = 0;   ///< of the tasks that are equal from period to period
  std::size_t end = 0;     ///< one past the last of them
  std::size_t period = 0;  ///< tasks from one to the next that is equal; zero: nothing repeats
  int left_out = 0;        ///< periods that the step has besides those of `first` to `end`
  bool operator==(const RepeatedTasks&) const = default;
};

/// The tasks of a step that one or more actors run.
struct Program {
  std::string name;
  std::vector<Stream> streams{};
  std::vector<Task> tasks{};        ///< of one step, in the order in which the CPU issues them
  std::vector<Unit> units{};        ///< in the order of their reduction
  std::vector<StagePass> passes{};  ///< pipelines only, in order
  RepeatedTasks repeated{};
  double samples = 0;  ///< samples per step that no other program counts
  int period = 1;      ///< number of steps after which its steps repeat
  MemoryUse memory{};  ///< of a GPU; NCCL's buffers are added when its channels are known

  Lane lane(const Task& task) const { return streams[task.stream.index()].lane; }
  /// Whether the task is a background copy, which no step waits for: a prefetch.
  bool is_background_copy(const Task& task) const {
    return std::holds_alternative<Copy>(task.work) && lane(task) == Lane::unordered;
  }
  /// How often a step executes the task, which stands for those of the periods left out.
  int times(std::size_t task) const {
    const bool is_first_period = task >= repeated.first && task < repeated.first + repeated.period;
    return 1 + (is_first_period ? repeated.left_out : 0);
  }
  /// Whether its work is random. Then steps do not repeat, and no actor that runs it can represent another.
  bool varies() const {
    return std::ranges::any_of(tasks, [](const Task& task) {
      const auto* read = std::get_if<Read>(&task.work);
      return task.varies.spread > 0 || (read && read->latency_spread > 0);
    });
  }
};

/// What runs a program: a rank or a loader.
struct Actor {
  ProgramId program;
  DeviceId at;                        ///< its GPU, or its socket if it uses no GPU
  double slowdown = 1;                ///< factor on the duration of its kernels (straggler)
  std::vector<GroupId> groups{};      ///< by slot
  std::vector<ChannelId> channels{};  ///< by slot
};

/// What a group communicates.
enum class Purpose : std::uint8_t {
  data,      ///< gradients and parameters
  tensor,    ///< activations of layers that are split over the ranks
  pipeline,  ///< activations between stages
  context,   ///< keys and values of other ranks' tokens
  expert     ///< tokens, to the ranks of their experts and back
};
inline constexpr std::array<std::string_view, 5> purpose_words{"data", "tensor", "pipeline", "context",
                                                               "expert"};

/// A process group.
struct Group {
  std::string name;
  std::vector<ActorId> members;  ///< in the order of NCCL's ranks
  Purpose purpose = Purpose::data;
};

/// A bounded queue between two actors, such as a loader's.
struct Channel {
  ActorId from;
  ActorId to;
  int depth = 1;
};

/// The steps of a job: actors run programs, communicate in groups and pass items through channels.
struct Workload {
  std::vector<Program> programs;
  std::vector<Actor> actors;  ///< the ranks first, in order
  std::vector<Group> groups;
  std::vector<Channel> channels;
  int ranks = 1;
  int steps = 1;               ///< least number of steps to simulate
  int after_reported = 0;      ///< steps to simulate after the reported one, whose prefetches run during it
  bool starts_steady = false;  ///< the first step is as long as all others, since CPU time is zero
  bool may_repeat_early = false;  ///< the CPU waits for the GPU near the end of each step, so that the second
                                  ///< step may already be like all later ones
  bool whole_epoch = false;       ///< `steps` is a whole epoch: nothing is prefetched before it or after it

  const Program& program_of(ActorId actor) const { return programs[actors[actor.index()].program.index()]; }
  /// Period of steps in number of steps, since the servers of a stream take turns.
  int turns() const {
    int most = 1;
    for (const auto& program : programs) most = std::max(most, program.period);
    for (const auto& program : programs)
      for (const auto& stream : program.streams) most = std::max(most, stream.servers);
    return most;
  }
  bool varies() const { return std::ranges::any_of(programs, &Program::varies); }
  /// Number of programs that ranks run. They come first.
  std::size_t programs_of_ranks() const {
    std::size_t count = 0;
    for (std::size_t rank = 0; rank < static_cast<std::size_t>(ranks); ++rank)
      count = std::max(count, actors[rank].program.index() + 1);
    return count;
  }
  /// The program of rank 0.
  const Program& first_program() const { return program_of(ActorId{0}); }
};

/// Checks that all members of a group make the same calls on it in the same order, that each item that is put
/// into a channel is taken in the same step, and that slots, tasks and streams exist.
/// @throws SimulationError that names the actor, the group and the first call that differs
void check(const Workload& workload);

}  // namespace gradway
