// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>

/// The words of calibration files, in the order of the enumerators they stand for. Who writes such a file and
/// who reads it both take them from here.
namespace gradway::calibration_words {

using namespace std::string_view_literals;

inline constexpr std::array transports{"none"sv, "p2p"sv, "shm"sv, "net"sv};
inline constexpr std::array operations{"all_reduce"sv, "all_gather"sv, "reduce_scatter"sv, "broadcast"sv,
                                       "send_recv"sv};
inline constexpr std::array algorithms{"ring"sv, "tree"sv};
inline constexpr std::array protocols{"ll"sv, "ll128"sv, "simple"sv};
inline constexpr std::string_view any = "any";  ///< algorithm or protocol: as NCCL chose
inline constexpr std::array links{"to_gpu"sv, "from_gpu"sv, "pageable_to_gpu"sv, "peer"sv, "host_memory"sv};
inline constexpr std::array precisions{"fp32"sv, "tf32"sv, "bf16"sv, "fp16"sv};
inline constexpr std::array matrix_sizes{"small"sv, "large"sv};

}  // namespace gradway::calibration_words
