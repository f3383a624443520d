// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>

/// The words of calibration files in the order of their enums. Reader and writer share these tables.
#include "sim/platform/gpu.hpp"
#include "sim/workload/optimizer.hpp"

namespace gradway::calibration_words {

using namespace std::string_view_literals;

inline constexpr std::array transports{"none"sv, "p2p"sv, "shm"sv, "net"sv};
inline constexpr std::array operations{"all_reduce"sv, "all_gather"sv, "reduce_scatter"sv,
                                       "broadcast"sv,  "send_recv"sv,  "all_to_all"sv};
inline constexpr std::array algorithms{"ring"sv, "tree"sv};
inline constexpr std::array protocols{"ll"sv, "ll128"sv, "simple"sv};
/// The spelling of NCCL and of sample files.
inline constexpr std::array algorithm_tags{"Ring"sv, "Tree"sv};
inline constexpr std::array protocol_tags{"LL"sv, "LL128"sv, "Simple"sv};
inline constexpr std::string_view any = "any";  ///< algorithm or protocol that NCCL chose
inline constexpr std::array links{"to_gpu"sv,      "from_gpu"sv,          "pageable_to_gpu"sv, "peer"sv,
                                  "host_memory"sv, "pageable_from_gpu"sv, "same_gpu"sv};
inline constexpr auto precisions = precision_words;
inline constexpr std::array arithmetics{"fp32"sv, "tf32"sv, "bf16"sv, "fp16"sv, "fp8"sv};
inline constexpr std::array product_shapes{"small"sv, "large"sv, "medium"sv, "skinny"sv};
inline constexpr std::array memory_kernels{"copy_fp32"sv, "add_fp32"sv, "scale_fp32"sv, "cast_fp32_bf16"sv,
                                           "cast_bf16_fp32"sv};
inline constexpr auto optimizers = optimizer_words;
inline constexpr std::array launch_costs{"launch"sv, "kernel_gap"sv, "launch_latency"sv,
                                         "sync"sv,   "event"sv,      "eager_operation"sv};

}  // namespace gradway::calibration_words
