// SPDX-License-Identifier: Apache-2.0
#include "sim/metrics/loading.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "sim/plan/input/loader.hpp"

namespace gradway {
namespace {

/// Sums up the work of simulated actors, weighted by the number of actors that each represents.
class LoadingSums {
 public:
  LoadingSums(const Workload& workload, const Platform& platform, const Lowered& lowered,
              const Timeline& timeline, const StepWindow& window)
      : workload_{workload},
        platform_{platform},
        lowered_{lowered},
        timeline_{timeline},
        window_{window},
        alike_(workload.actors.size(), 0),
        amounts_(platform.resources.size(), 0) {
    for (const auto id : lowered.folding.actor_representative) ++alike_[id.index()];
    loading_.has_workers = workload.actors.size() > static_cast<std::size_t>(workload.ranks);
  }

  Loading run() {
    for (std::size_t i = 0; i < lowered_.ops.size(); ++i) {
      const auto& origin = lowered_.ops.op(OpId{i}).origin;
      const bool is_of_step_before = origin.step == window_.step - window_.steps;
      if (is_of_step_before) before_ = std::max(before_, timeline_.end[i]);
      if (origin.actor == Origin::none || origin.task == Origin::none) continue;
      if (is_of_step_before && origin.actor == 0 && is_batch(i))
        own_before_ = std::max(own_before_, timeline_.end[i]);
      if (origin.activity == Activity::load) add_load(i);
      if (origin.activity == Activity::kernel) add_kernel(i);
      if (origin.actor < workload_.ranks) add_take(i);
    }
    find_batches();
    find_busy();
    find_longest_waits();
    find_work_of_a_worker();
    loading_.read = Bytes{loading_.read.value() / window_.steps};
    return loading_;
  }

 private:
  const Program& program_of(const Origin& origin) const { return workload_.programs[origin.program]; }

  void add_load(std::size_t i) {
    const auto& op = lowered_.ops.op(OpId{i});
    const auto& task = program_of(op.origin).tasks[static_cast<std::size_t>(op.origin.task)];
    const auto* read = std::get_if<Read>(&task.work);
    const bool is_ahead = read != nullptr && read->from == ReadFrom::ahead;
    if (!is_ahead) add_work(i, task);
    if (!window_.has(op.origin.step)) return;
    const auto times = alike_[static_cast<std::size_t>(op.origin.actor)];
    if (is_ahead) ahead_ += (timeline_.end[i] - timeline_.start[i]) * (times / window_.steps);
    if (read != nullptr && read->from != ReadFrom::cache)
      loading_.read += (op.kind == OpKind::flow ? Bytes{op.amount} : read->bytes) * times;
    if (op.kind != OpKind::flow) return;
    for (const auto resource : lowered_.ops.path(op.path)) amounts_[resource.index()] += op.amount;
  }

  /// Adds work that a batch waits for.
  void add_work(std::size_t i, const Task& task) {
    const auto& op = lowered_.ops.op(OpId{i});
    auto& [begin, end] =
        spans_.try_emplace({op.origin.actor, op.origin.step}, timeline_.start[i], timeline_.end[i])
            .first->second;
    begin = std::min(begin, timeline_.start[i]);
    end = std::max(end, timeline_.end[i]);
    // A rank without workers has its batch once it has made it.
    if (op.origin.actor < workload_.ranks && std::holds_alternative<HostWork>(task.work))
      note_batch(op.origin.actor, timeline_.end[i]);
    if (!window_.has(op.origin.step)) return;
    note_work(op.origin, task, timeline_.end[i] - timeline_.start[i]);
    if (op.origin.actor < workload_.ranks) note_wait(op.origin, timeline_.end[i] - timeline_.start[i]);
  }

  /// Adds a kernel of a loader. @pre an actor with kernels that is no rank is a loader
  void add_kernel(std::size_t i) {
    const auto& origin = lowered_.ops.op(OpId{i}).origin;
    if (origin.actor < workload_.ranks || !window_.has(origin.step)) return;
    loading_.on_gpu += (timeline_.end[i] - timeline_.start[i]) *
                       (alike_[static_cast<std::size_t>(origin.actor)] / window_.steps);
  }

  /// Adds work of the workers' stream, and of DALI's reader, as a share of each worker. Pinning threads are
  /// another stream.
  void note_work(const Origin& origin, const Task& task, Seconds time) {
    if (std::holds_alternative<DecoderWork>(task.work)) return;
    const bool is_of_workers = origin.actor >= workload_.ranks &&
                               (task.stream == StreamId{0} || std::holds_alternative<Read>(task.work));
    if (is_of_workers != loading_.has_workers) return;
    const auto workers = program_of(origin).streams[task.stream.index()].servers;
    auto& sum = std::holds_alternative<Read>(task.work) ? loading_.reading : loading_.making;
    sum += time * (alike_[static_cast<std::size_t>(origin.actor)] / workers / window_.steps);
    workers_of_.insert(origin.actor);
  }

  /// @pre all work was added
  void find_work_of_a_worker() {
    double loaders = 0;
    for (const auto actor : workers_of_) loaders += alike_[static_cast<std::size_t>(actor)];
    if (loaders == 0) return;
    loading_.reading = std::max(loading_.reading, ahead_) / loaders;
    loading_.making = loading_.making / loaders;
    loading_.on_gpu = loading_.on_gpu / loaders;
  }

  /// A rank has its batch once it has taken it, or, without workers, made it.
  bool is_batch(std::size_t i) const {
    const auto& origin = lowered_.ops.op(OpId{i}).origin;
    return origin.activity == Activity::load || ends_take(lowered_.ops, i, program_of(origin));
  }

  void add_take(std::size_t i) {
    const auto& origin = lowered_.ops.op(OpId{i}).origin;
    if (!ends_take(lowered_.ops, i, program_of(origin))) return;
    note_batch(origin.actor, timeline_.end[i]);
    if (window_.has(origin.step)) note_wait(origin, timeline_.end[i] - timeline_.end[i - 1]);
  }

  void note_wait(const Origin& origin, Seconds waited) { waits_[origin.step][origin.actor] += waited; }

  /// Ranks that exchange something in every step continue once the last of them has its batch.
  void find_longest_waits() {
    // An epoch's window starts at the mean end of the first step; the last rank has not ended it. The wait of
    // the first rank for its own batch in that time is counted with its waits.
    loading_.for_others = std::max(Seconds{}, before_ - std::max(window_.from, own_before_)) / window_.steps;
    for (const auto& [step, ranks] : waits_) {
      Seconds longest{};
      for (const auto& [rank, waited] : ranks) longest = std::max(longest, waited);
      loading_.for_others += (longest - ranks.begin()->second) / window_.steps;
      loading_.wait += longest / window_.steps;
    }
  }

  void note_batch(std::int32_t rank, Seconds arrival) {
    if (has_batch_.insert(rank).second) loading_.first_batch = std::max(loading_.first_batch, arrival);
  }

  void find_batches() {
    Seconds sum{};
    int count = 0;
    for (const auto& [of, span] : spans_) {
      if (!window_.has(of.second)) continue;
      sum += span.second - span.first;
      ++count;
    }
    if (count > 0) loading_.batch = sum / count;
  }

  void find_busy() {
    const auto length = (window_.to - window_.from).value();
    if (length <= 0) return;
    const auto note = [&](std::optional<double>& most, ResourceId id) {
      const auto& resource = platform_.resources[id.index()];
      const auto busy = amounts_[lowered_.folding.resources.of(id).index()] / (resource.rate() * length);
      most = std::max(most.value_or(0), std::min(1.0, busy));
    };
    for (const auto& path : platform_.loading) {
      for (const auto id : path.storage) note(loading_.storage_busy, id);
      for (const auto id : path.cold) note(loading_.storage_busy, id);
      if (path.cores) note(loading_.cores_busy, *path.cores);
    }
  }

  const Workload& workload_;
  const Platform& platform_;
  const Lowered& lowered_;
  const Timeline& timeline_;
  const StepWindow& window_;
  std::vector<double> alike_;    ///< by actor that is simulated: how many it stands for
  std::vector<double> amounts_;  ///< by resource
  std::map<std::pair<std::int32_t, std::int32_t>, std::pair<Seconds, Seconds>>
      spans_;             ///< by actor and step: what a worker did for the batches of a step
  Seconds ahead_{};       ///< per step: of reads into caches, over all loaders
  Seconds before_{};      ///< the end of the step before the window
  Seconds own_before_{};  ///< when the first rank had its batch of that step
  std::map<std::int32_t, std::map<std::int32_t, Seconds>> waits_;  ///< by step and rank
  std::set<std::int32_t> workers_of_;                              ///< actors that make batches
  std::set<std::int32_t> has_batch_;                               ///< ranks whose first one was seen
  Loading loading_;
};

}  // namespace

bool ends_take(const OpGraph& ops, std::size_t op, const Program& program) {
  const auto& origin = ops.op(OpId{op}).origin;
  if (op == 0 || origin.activity != Activity::marker || origin.task == Origin::none) return false;
  const auto& before = ops.op(OpId{op - 1}).origin;
  return before.activity == Activity::marker && before.task == origin.task && before.step == origin.step &&
         before.actor == origin.actor &&
         std::holds_alternative<Take>(program.tasks[static_cast<std::size_t>(origin.task)].work);
}

void add_epoch(Metrics& metrics, const InputSettings& input, const Workload& workload,
               const StepWindow& window) {
  auto& loading = *metrics.loading;
  const auto start = start_of_workers(input);
  const auto fill = std::exchange(loading.first_batch, loading.first_batch + start);
  if (workload.whole_epoch) {
    loading.epoch_steps = workload.steps;
    loading.epoch_start = std::max(Seconds{}, start + window.to - metrics.step_time * loading.epoch_steps);
    return;
  }
  loading.epoch_steps = std::ceil(input.dataset->samples / metrics.samples);
  if (input.loader_workers == 0) return;  // each step waits for its whole batch
  const auto waits = metrics.input_wait + loading.for_others;
  const auto at_once = input.loader == LoaderKind::pytorch ? input.loader_workers : 1;
  const auto last_batches = (metrics.step_time - waits) * at_once;
  loading.epoch_start = start + std::max(fill - waits * loading.epoch_steps, std::min(fill, last_batches));
}

Seconds epoch_time(const Metrics& metrics, const Loading& loading) {
  return metrics.step_time * loading.epoch_steps + loading.epoch_start;
}

double accelerator_utilisation(const Metrics& metrics) {
  if (metrics.step_time <= Seconds{}) return 1;
  const auto for_others = metrics.loading ? metrics.loading->for_others : Seconds{};
  return 1 - (metrics.input_wait + for_others) / metrics.step_time;
}

std::optional<Loading> measure_loading(const Workload& workload, const Platform& platform,
                                       const Lowered& lowered, const Timeline& timeline,
                                       const StepWindow& window) {
  const bool loads = std::ranges::any_of(workload.programs, [](const Program& program) {
    return std::ranges::any_of(program.tasks, [](const Task& task) {
      return std::holds_alternative<Read>(task.work) || std::holds_alternative<HostWork>(task.work);
    });
  });
  if (!loads) return std::nullopt;
  return LoadingSums{workload, platform, lowered, timeline, window}.run();
}

}  // namespace gradway
