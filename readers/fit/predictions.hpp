// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "readers/fit/node_facts.hpp"
#include "readers/samples/samples.hpp"

namespace gradway {

/// Group of samples whose errors are reported together.
enum class SampleGroup {
  tiny_collectives,    ///< Below 64 KiB.
  small_collectives,   ///< Below 1 MiB.
  medium_collectives,  ///< Below 64 MiB.
  large_collectives,
  copies,
  products,
  memory_kernels,
  optimizers,
  attention,
  launches,
  contention,
  timed_kernels
};

namespace sample_group_words {
using namespace std::string_view_literals;
inline constexpr std::array all{"collectives below 64 KiB"sv,
                                "collectives 64 KiB to 1 MiB"sv,
                                "collectives 1 MiB to 64 MiB"sv,
                                "collectives from 64 MiB"sv,
                                "copies"sv,
                                "products"sv,
                                "memory-bound kernels"sv,
                                "optimizers"sv,
                                "attention"sv,
                                "launch costs"sv,
                                "side by side"sv,
                                "timed kernels"sv};
}  // namespace sample_group_words

constexpr std::string_view name_of(SampleGroup group) {
  return sample_group_words::all[static_cast<std::size_t>(group)];
}

/// A sample and its prediction by a calibration.
struct PredictedRow {
  SampleGroup group = SampleGroup::copies;
  std::string what;
  Seconds measured{};
  std::optional<Seconds> predicted;  ///< Empty if the calibration does not cover such rows.

  /// Predicted divided by measured time, minus one. @pre a prediction
  double error() const { return *predicted / measured - 1; }
};

/// Predictions of all rows of the samples: a collective by the table of its transport, operation, algorithm,
/// protocol, ranks and nodes; a copy by its link; kernels by their rates; each contention experiment as two
/// rows, the end of its kernels and that of its collectives; a timed kernel by its own row, if there is one.
/// Sorted by group, then in the order of the samples.
std::vector<PredictedRow> predict_samples(const Calibration& calibration, const Samples& samples,
                                          const NodeFacts& node);

/// Errors of the predictions of one group.
struct GroupError {
  SampleGroup group = SampleGroup::copies;
  int rows = 0;
  double bias = 0;  ///< Mean of the signed errors.
  double mean = 0;  ///< Mean absolute error.
  FitError error;   ///< Median and worst absolute error.
};

/// Errors of each group with a predicted row, in the order of the groups.
std::vector<GroupError> errors_by_group(const std::vector<PredictedRow>& rows);

}  // namespace gradway
