// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "sim/graph/workload.hpp"
#include "sim/scenario/scenario.hpp"

namespace gradway {

/// What a loader does for a batch.
enum class LoaderStage : std::uint8_t {
  read,
  page_faults,  ///< of a memory-mapped dataset
  decompress,
  parse,   ///< lines of CSV
  decode,  ///< on the CPU; of nvJPEG the CPU's part
  transform,
  collate,
  jpeg_decoder,  ///< of the GPU
  gpu_kernels    ///< that decode and transform
};
inline constexpr std::size_t loader_stages = 9;

/// Cost of a rank's batch before it is on the GPU.
struct BatchCost {
  Read stored{};                 ///< served by storage; a worker makes one request after the other
  std::optional<Read> cached{};  ///< cached on the node since an earlier epoch, or read ahead
  std::optional<Read> cold{};    ///< served by the tier that the dataset is still being staged from
  std::optional<Read> ahead{};   ///< from storage into the cache of the node, before a worker asks
  std::array<Seconds, loader_stages> on_core{};  ///< time of one core, by stage
  Seconds core{};                                ///< their sum: to decompress, decode, transform and collate
  Seconds pinned{};       ///< time of one core to copy it into pinned memory, in the training process
  Seconds gpu{};          ///< time of decoding on the GPU
  Seconds decoder{};      ///< time of the GPU's JPEG decoder
  Bytes copied{};         ///< by the loader itself to the GPU
  double spread = 0;      ///< variation of its bytes, and of decompression and decoding, between batches
  double core_share = 0;  ///< share of `core` that is proportional to the bytes
};

/// @return empty if samples are ready in memory
std::optional<BatchCost> batch_cost(const Scenario& scenario);

/// Share of images that the GPU's JPEG decoder decodes with DALI.
/// @source DALI 1.42, decoders.image: hw_decoder_load is 0.65 by default
double hw_decoder_load_of(const InputSettings& input, const Gpu& gpu);

}  // namespace gradway
