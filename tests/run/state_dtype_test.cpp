// SPDX-License-Identifier: Apache-2.0
// job.state_dtype: bytes that are kept and sent, by strategy, in closed form.
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "sim/compute/compute_costs.hpp"
#include "sim/compute/memory_range.hpp"
#include "sim/config/config.hpp"
#include "sim/plan/plan.hpp"

using namespace gradway;

namespace {

const DataPath data{{GRADWAY_SOURCE_DIR}};

Scenario gpt(const std::string& strategy, const std::string& dtype) {
  return load_scenario("h200-2x/gpt_1b3",
                       {{"model", "gpt_1b3"},
                        {"job.sequence", "1024"},
                        {"job.precision", "bf16"},
                        {"job.state_dtype", dtype},
                        {"strategy", strategy}},
                       data);
}

MemoryUse memory_of(const Scenario& scenario) {
  return plan(scenario, compute_costs(scenario)).first_program().memory;
}

Bytes sent(const Scenario& scenario, CollectiveKind kind) {
  Bytes sum{};
  const auto workload = plan(scenario, compute_costs(scenario));
  for (const auto& task : workload.first_program().tasks)
    if (const auto* call = std::get_if<Call>(&task.work); call != nullptr && call->kind == kind)
      sum += call->bytes;
  return sum;
}

}  // namespace

TEST_CASE("DDP keeps, reduces and buckets 16-bit states in half the bytes") {
  for (const auto& [dtype, width] : {std::pair{"fp32", 4.0}, {"bf16", 2.0}}) {
    const auto scenario = gpt("{kind: ddp, gradient_as_bucket_view: true}", dtype);
    const auto parameters = static_cast<double>(scenario.model.parameter_count());
    const auto use = memory_of(scenario);
    CHECK(use.parameters == Bytes{width * parameters});
    CHECK(use.buckets == Bytes{width * parameters});
    CHECK(use.in(RunPart::rebuilt_buckets) == use.allocated() + use.buckets);
    const auto peak = peak_of_run(scenario, use);
    CHECK(peak.allocated == use.allocated() + use.buckets);
    CHECK(peak.decided_by == "first buckets");
    CHECK(peak.step == 2);
    CHECK(use.gradients == 0_B);
    CHECK(use.optimizer_state.value() >= 2 * width * parameters);
    CHECK(sent(scenario, CollectiveKind::all_reduce) == Bytes{width * parameters});
  }
}

TEST_CASE("the first buckets of DDP are gone when the optimizer steps") {
  const auto with = [](const char* batch, const char* sequence) {
    return load_scenario("h200-2x/gpt_1b3",
                         {{"model", "gpt_1b3"},
                          {"job.batch_per_gpu", batch},
                          {"job.sequence", sequence},
                          {"job.precision", "bf16"},
                          {"strategy", "{kind: ddp}"},
                          {"optimizer", "adamw"}},
                         data);
  };
  // Activations decide the peak, which the second step has beside the first buckets.
  const auto large = memory_of(with("16", "1024"));
  CHECK(large.in(RunPart::rebuilt_buckets) == large.allocated() + large.buckets);
  // Temporaries of the optimizer decide it.
  const auto small = with("1", "128");
  const auto use = memory_of(small);
  CHECK(use.activations == 0_B);
  CHECK(use.in(RunPart::rebuilt_buckets) < use.allocated() + use.buckets);
  const auto peak = peak_of_run(small, use);
  CHECK(peak.allocated == std::max(use.allocated(), use.in(RunPart::rebuilt_buckets)));
  // The allocator reserves more than that; the context and NCCL's buffers are beside it.
  CHECK(peak.reserved >= peak.allocated);
  CHECK(peak.reserved > 1.09 * use.allocated());
  CHECK(peak.nvidia_smi() == peak.reserved + use.context + use.nccl);
}

TEST_CASE("sharded strategies keep shards of 16 bits and no masters") {
  for (const char* strategy : {"{kind: fsdp}", "{kind: fsdp1}"}) {
    const auto whole = memory_of(gpt(strategy, "fp32"));
    const auto half = memory_of(gpt(strategy, "bf16"));
    CHECK(half.parameters == whole.parameters / 2);
    CHECK(sent(gpt(strategy, "bf16"), CollectiveKind::reduce_scatter) ==
          sent(gpt(strategy, "fp32"), CollectiveKind::reduce_scatter) / 2);
  }
  for (const char* strategy : {"{kind: zero, stage: 1}", "{kind: distributed_optimizer}"}) {
    const auto with_masters = gpt(strategy, "fp32");
    const auto parameters = static_cast<double>(with_masters.model.parameter_count());
    const auto ranks = with_masters.job.data_parallel();
    CHECK(memory_of(with_masters).parameters == Bytes{2 * parameters} + Bytes{4 * parameters / ranks});
    CHECK(memory_of(gpt(strategy, "bf16")).parameters == Bytes{2 * parameters});
  }
}

TEST_CASE("the verdict on memory says where the capacity lies in its interval") {
  auto scenario = gpt("{kind: ddp}", "bf16");
  const auto use = memory_of(scenario);
  const auto range = memory_range(scenario, use);
  CHECK(range.low < use.needed());
  CHECK(use.needed() < range.high);
  auto& capacity = scenario.platform.gpu_models.front().memory;
  const auto verdict_at = [&](Bytes bytes) {
    capacity = bytes;
    return memory_range(scenario, use).verdict;
  };
  CHECK(verdict_at(range.high) == MemoryVerdict::fits);
  CHECK(verdict_at(use.needed()) == MemoryVerdict::tight);
  CHECK(verdict_at(range.low) == MemoryVerdict::may_not_fit);
  CHECK(verdict_at(range.low - 1_MB) == MemoryVerdict::does_not_fit);
}
