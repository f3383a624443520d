// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "sim/base/units.hpp"
#include "sim/platform/gpu.hpp"
#include "sim/workload/collective_kind.hpp"
#include "sim/workload/operation.hpp"
#include "sim/workload/optimizer.hpp"

namespace gradway {

enum class CommHook { none, fp16, bf16, powersgd };

/// Ranks do not exchange anything.
struct Alone {};

/// Data parallelism as PyTorch's DistributedDataParallel understands it.
struct Ddp {
  std::optional<Bytes>
      bucket_cap{};  ///< absent: PyTorch's own, 1 MiB for the first bucket, 25 MiB for the others
  bool static_graph = false;
  bool gradient_as_bucket_view = false;
  CommHook comm_hook = CommHook::none;
  int powersgd_rank = 1;
};

/// A collective without a model, as benchmarks call it over and over.
struct OneCollective {
  CollectiveKind kind = CollectiveKind::all_reduce;
  Bytes size{};  ///< the buffer on each rank (all-gather, reduce-scatter: the large one)
  bool one_by_one =
      false;  ///< PyTorch issues each call and waits for it; else they follow each other on the GPU
};

/// How ranks work together, each kind with its own settings. What each does is a `Sync` in `plan/`.
using Strategy = std::variant<Ddp, Alone, OneCollective>;

inline bool trains(const Strategy& strategy) {
  return !std::holds_alternative<OneCollective>(strategy);
}

/// How the batch reaches the GPU.
struct InputSettings {
  bool pin_memory = true;
  int loader_workers = 8;
  Bytes background_copy{};  ///< each GPU also copies this much from pinned memory beside every step
};

/// A neighbour's traffic between two parts of the platform, as long as the job runs.
struct BackgroundFlow {
  std::string from;  ///< names of devices
  std::string to;
  std::optional<BytesPerSecond> rate;  ///< that it would like
  double load = 1;                     ///< without a rate: the share that it would like of the slowest link
  double weight = 1;                   ///< its share against a flow of weight 1 where they meet
};

/// A training job: everything but the model and the hardware.
struct Job {
  int gpus = 1;
  int batch_per_gpu = 1;
  Precision precision = Precision::fp32;
  int accumulate = 1;
  int sequence = 0;  ///< tokens a sample, for models of text; 0: the model's own
  AttentionKernel attention = AttentionKernel::automatic;
  bool channels_last = false;  ///< images and convolutions in NHWC
  bool compiled = false;       ///< torch.compile
  /// The training loop lets go of the logits before the backward pass, and of the gradients after the
  /// optimizer's step; else they are there during the backward, and the next forward pass.
  bool frees_early = false;
  Strategy strategy;
  Optimizer optimizer = Optimizer::sgd;
  InputSettings input;
  std::vector<BackgroundFlow> traffic;
  std::map<std::string, std::string> nccl;  ///< checked variables of NCCL, by name
  int steps = 1;
};

}  // namespace gradway
