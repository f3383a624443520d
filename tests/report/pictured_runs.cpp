// SPDX-License-Identifier: Apache-2.0
#include "tests/report/pictured_runs.hpp"

namespace gradway::testing {

std::vector<PicturedRun> pictured_runs() {
  const std::string nodes = "azure-nd96isr-h100-v5";
  return {
      {"layers", "article/g6e", {}},
      {"layers over NVLink", "article/p4d", {{"strategy.bucket_cap", "25 MiB"}}},
      {"a profile with many gradients and buffers", "h200-4x/resnet50", {}},
      {"kernels and collectives that slow each other", "h200-4x/vit_l_32", {{"nccl.NCCL_P2P_DISABLE", "1"}}},
      {"several steps", "article/g6e", {{"steps", "3"}, {"job.gpus", "4"}}},
      {"accumulation", "h200-4x/vit_l_32", {{"job.accumulate", "3"}}},
      {"casts", "article/g6e", {{"strategy.comm_hook", "bf16"}, {"strategy.bucket_cap", "25 MiB"}}},
      {"PowerSGD",
       "h200-4x/vit_l_32",
       {{"strategy.comm_hook", "powersgd"}, {"strategy.powersgd_rank", "2"}, {"job.gpus", "2"}}},
      {"traffic", "article/g6e", {{"traffic", "[{ from: cpu0, to: gpu1, load: 0.5, weight: 2 }]"}}},
      {"several nodes",
       "article/g6e",
       {{"platform", nodes}, {"job.gpus", "16"}, {"strategy.bucket_cap", "25 MiB"}}},
      {"many nodes", "scale/pod-1024", {}},
      {"one rank", "article/g6e", {{"job.gpus", "1"}}},
      {"no exchange", "article/g6e", {{"strategy.kind", "none"}, {"job.gpus", "1"}}},
      {"a collective alone", "published/all-reduce", {}},
      {"a collective alone, with traffic between nodes",
       "published/all-reduce",
       {{"platform", nodes},
        {"job.gpus", "16"},
        {"nccl.NCCL_ALGO", "Ring"},
        {"traffic", "[{ from: node0.ib3, to: node1.ib3, load: 0.7, weight: 2 }]"}}},
  };
}

Scenario scenario_of(const PicturedRun& run) {
  return load_scenario(run.scenario, run.set, DataPath{{GRADWAY_SOURCE_DIR}});
}

}  // namespace gradway::testing
