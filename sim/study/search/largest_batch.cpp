// SPDX-License-Identifier: Apache-2.0
#include "sim/study/search/largest_batch.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/base/problem.hpp"
#include "sim/compute/memory_range.hpp"
#include "sim/plan/plan.hpp"
#include "sim/study/ask/ask.hpp"

namespace gradway {
namespace {

constexpr int most_samples = 1'000'000;  // largest batch of a scenario

/// Memory of the GPU with any batch. NCCL's share does not depend on the batch; it is simulated once.
class MemoryOfBatches {
 public:
  explicit MemoryOfBatches(Scenario scenario)
      : scenario_{std::move(scenario)}, of_one_{ask(with(1), {.engine = "fluid"}).measured.memory} {}

  const MemoryUse& of_one() const { return of_one_; }

  MemoryUse of(int batch) { return planned_memory(with(batch), of_one_.nccl); }

  bool holds(int batch) { return fits(scenario_, of(batch)); }
  bool holds_with_room(int batch) { return surely_fits(scenario_, of(batch)); }

 private:
  const Scenario& with(int batch) {
    scenario_.job.batch_per_gpu = batch;
    return scenario_;
  }

  Scenario scenario_;
  MemoryUse of_one_;
};

/// The largest number for which a predicate holds. @pre it holds for `least` and up to some number only
template <class Holds>
int largest_from(int least, const Holds& holds) {
  int holding = least;
  int too_many = 2 * least;
  while (too_many <= most_samples && holds(too_many)) {
    holding = too_many;
    too_many *= 2;
  }
  too_many = std::min(too_many, most_samples + 1);
  while (too_many - holding > 1) {
    const auto middle = holding + (too_many - holding) / 2;
    (holds(middle) ? holding : too_many) = middle;
  }
  return holding;
}

void check_has_one(const Scenario& scenario) {
  if (!trains(scenario.job.strategy))
    refuse("a collective has no batch size", "leave out '--fit', or use a scenario with a model");
  const auto& gpu = scenario.platform.gpu_models.front();
  if (gpu.ideal)
    refuse(fmt::format("the memory of the GPU '{}' is unlimited, so there is no largest batch", gpu.name),
           "use a platform whose GPUs have a memory size");
}

void check_one_sample(const Scenario& scenario, const MemoryUse& memory) {
  if (!knows_memory(scenario))
    refuse(fmt::format("the largest batch of the profile '{}' is unknown: its memory does not include {}",
                       scenario.model.name,
                       scenario.model.profile->memory_lacks.empty() ? "activations" : "all activations"),
           "import a trace that was recorded with profile_memory=True, or describe the model by its "
           "architecture");
  if (!fits(scenario, memory))
    refuse(fmt::format("with batch_per_gpu 1 the job {}", verdict_in_words(scenario, memory)),
           fmt::format("no batch fits: use GPUs with more memory{}, or an optimizer that keeps less state",
                       scenario.model.causal_heads > 0 && !scenario.job.lora
                           ? ", adapters (job.finetune, for fine-tuning)"
                           : ""));
}

}  // namespace

MemoryUse planned_memory(const Scenario& scenario, Bytes nccl) {
  auto memory = std::ranges::max(memory_of_ranks(scenario, compute_costs(scenario)), {}, &MemoryUse::needed);
  memory.nccl = nccl;
  return memory;
}

LargestBatch largest_batch(const Scenario& scenario) {
  check_has_one(scenario);
  MemoryOfBatches memory{scenario};
  check_one_sample(scenario, memory.of_one());
  const auto tight = largest_from(1, [&](int batch) { return memory.holds(batch); });
  const auto with_room = memory.holds_with_room(1)
                             ? largest_from(1, [&](int batch) { return memory.holds_with_room(batch); })
                             : tight;
  LargestBatch largest{.batch = with_room,
                       .as_written = scenario.job.batch_per_gpu,
                       .needs = memory.of(with_room).needed(),
                       .one_more_needs = {},
                       .tight_batch = tight};
  if (with_room < most_samples) largest.one_more_needs = memory.of(with_room + 1).needed();
  return largest;
}

}  // namespace gradway
