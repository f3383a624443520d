// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>

#include "sim/base/units.hpp"
#include "sim/platform/gpu.hpp"
#include "sim/workload/optimizer.hpp"

namespace gradway {

enum class StrategyKind { none, ddp };
enum class CommHook { none, fp16, bf16, powersgd };

/// Data parallelism as PyTorch's DistributedDataParallel understands it.
struct Strategy {
  StrategyKind kind = StrategyKind::ddp;
  std::optional<Bytes>
      bucket_cap;  ///< absent: PyTorch's own, 1 MiB for the first bucket, 25 MiB for the others
  bool static_graph = false;
  bool gradient_as_bucket_view = false;
  CommHook comm_hook = CommHook::none;
  int powersgd_rank = 1;
};

/// How the batch reaches the GPU.
struct InputSettings {
  bool pin_memory = true;
  int loader_workers = 8;
  Bytes background_copy{};  ///< each GPU also copies this much from pinned memory beside every step
};

/// A training job: everything but the model and the hardware.
struct Job {
  int gpus = 1;
  int batch_per_gpu = 1;
  Precision precision = Precision::fp32;
  int accumulate = 1;
  Strategy strategy;
  Optimizer optimizer = Optimizer::sgd;
  InputSettings input;
  std::map<std::string, std::string> nccl;  ///< checked variables of NCCL, by name
  int steps = 1;
};

}  // namespace gradway
