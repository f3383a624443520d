// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>

#include "sim/workload/memory_use.hpp"

namespace gradway::report {

/// A part of a GPU's memory.
struct MemoryPart {
  std::string_view key;  ///< in documents
  std::string_view title;
  Bytes MemoryUse::*size;
  bool is_allocated = true;  ///< torch.cuda.max_memory_allocated counts it
};

inline constexpr std::array memory_parts{
    MemoryPart{"parameters_bytes", "parameters", &MemoryUse::parameters},
    MemoryPart{"gradients_bytes", "gradients", &MemoryUse::gradients},
    MemoryPart{"optimizer_bytes", "optimizer state", &MemoryUse::optimizer_state},
    MemoryPart{"buckets_bytes", "buckets", &MemoryUse::buckets},
    MemoryPart{"gathered_bytes", "gathered parameters", &MemoryUse::gathered},
    MemoryPart{"comm_hook_bytes", "communication hook", &MemoryUse::comm_hook},
    MemoryPart{"activations_bytes", "activations", &MemoryUse::activations},
    MemoryPart{"input_bytes", "input", &MemoryUse::input},
    MemoryPart{"workspace_bytes", "workspace", &MemoryUse::workspace},
    MemoryPart{"slack_bytes", "allocator's slack", &MemoryUse::slack, false},
    MemoryPart{"context_bytes", "CUDA context", &MemoryUse::context, false},
    MemoryPart{"nccl_bytes", "NCCL", &MemoryUse::nccl, false}};

}  // namespace gradway::report
