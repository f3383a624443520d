// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "sim/base/units.hpp"

namespace gradway {

/// The arithmetic of matrix products. Parameters and gradients are fp32 in all of them (autocast).
/// With fp8 and nvfp4, the linear layers in a model's blocks use that format and all other products bf16.
enum class Precision { fp32, tf32, bf16, fp16, fp8, nvfp4 };
constexpr std::size_t precision_count = 6;

/// Names in files and reports, in the order of the enum.
inline constexpr std::array<std::string_view, precision_count> precision_words{"fp32", "tf32", "bf16",
                                                                               "fp16", "fp8",  "nvfp4"};
constexpr std::string_view name_of(Precision precision) {
  return precision_words[static_cast<std::size_t>(precision)];
}
/// Formats that only linear layers in blocks use, each operand with scales: fp8 and nvfp4.
constexpr bool has_scales(Precision precision) {
  return precision == Precision::fp8 || precision == Precision::nvfp4;
}
/// The precision of operations that do not run in fp8 or nvfp4.
constexpr Precision precision_outside_fp8(Precision precision) {
  return has_scales(precision) ? Precision::bf16 : precision;
}
/// Data-centre Blackwell: B200, B300, GB200, GB300. @param capability 100 for 10.0
constexpr bool is_data_centre_blackwell(int capability) {
  return capability >= 100 && capability < 110;
}

/// The power limit of a GPU and the power that it draws at full clocks. Work that draws more than the limit
/// makes the GPU lower its clocks.
struct GpuPower {
  Watts limit{};
  Watts idle{};           ///< while waiting, including for other ranks
  Watts communication{};  ///< while only a collective runs
  Watts kernel{};         ///< while a kernel runs, without what its arithmetic draws
  Watts tensor_cores{};  ///< in addition, by arithmetic on tensor cores at the peak rate of its number format
  Watts fp32_units{};    ///< in addition, by arithmetic in fp32 at the peak rate
};

/// A GPU by its datasheet and published measurements.
struct Gpu {
  std::string name;  ///< file name without its extension, for example "l40s"
  std::string source;
  bool ideal = false;          ///< kernels without an explicit time take no time; for analysis
  int compute_capability = 0;  ///< 89 for 8.9; 0 on GPUs of AMD
  std::string architecture;    ///< of AMD's GPUs, as rocminfo prints it: "gfx942"; empty on NVIDIA's
  int multiprocessors = 0;     ///< 0: unknown
  Bytes memory{};              ///< as the driver reports it
  BytesPerSecond memory_bandwidth{};
  /// Dense rates. Empty if the GPU does not support the precision.
  std::array<std::optional<FlopsPerSecond>, precision_count> peak;

  /// Whether it is a GPU of AMD: PyTorch on ROCm, hipBLASLt and RCCL run on it.
  bool is_amd() const { return !architecture.empty(); }
  /// The compute capability of NVIDIA's that has the attention kernels of this GPU in PyTorch. On ROCm these
  /// are the kernels of 8.0: flash and memory-efficient attention, no cuDNN.
  /// @source github.com/pytorch/pytorch, aten/src/ATen/native/transformers/cuda/sdp_utils.cpp (USE_ROCM)
  int capability_of_kernels() const { return is_amd() ? 80 : compute_capability; }

  // Fractions of the peak rates that kernels reach. The GPU's file has the sources.
  std::array<double, precision_count> matrix_efficiency{};
  double memory_efficiency = 0;  ///< copies, additions, scalings, optimizers
  double widen_efficiency = 0;   ///< casts from 16 to 32 bits
  /// Share of the peak that attention with enough blocks reaches. Empty: as on NVIDIA's GPUs.
  std::optional<double> attention_efficiency;
  /// Duration of convolutions on this GPU as a multiple of the duration extrapolated from another GPU.
  double convolution_scale = 1;
  Seconds kernel_latency{};       ///< shortest duration of a kernel
  Seconds launch_cost{};          ///< CPU time to launch a kernel from eager PyTorch
  double jpeg_decoder = 0;        ///< pixels per second of its hardware JPEG decoder; 0: none, or unknown
  std::optional<GpuPower> power;  ///< empty: clocks are those at which kernels were timed
};

}  // namespace gradway
