// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/base/units.hpp"
#include "sim/files/text_file.hpp"

namespace gradway {

/// What a DataLoader gave when nobody computed: one run of the script in docs/data-path.md.
struct LoaderRun {
  int workers = 0;
  int batch = 1;                         ///< samples of a batch
  int batches = 1;                       ///< that were timed, behind the first ones
  Seconds seconds{};                     ///< they took together
  double samples = 1;                    ///< of the dataset
  std::optional<Bytes> sample_size{};    ///< as stored, on average
  std::optional<int> threads{};          ///< of the node's cores, two a core
  std::optional<Seconds> first_batch{};  ///< from the start of an epoch, workers and all

  double samples_per_s() const { return static_cast<double>(batch) * batches / seconds.value(); }
};

/// Reads runs, a map of JSON a line; other lines are passed over, as they may come from elsewhere.
/// @throws ConfigError with all that is wrong, each at its place: no run at all, keys that are missing or
/// unknown, values that cannot be, runs of different datasets, two of the same number of workers
std::vector<LoaderRun> read_loader_log(const TextFile& log);

}  // namespace gradway
