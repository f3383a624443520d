// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/cost/calibration.hpp"
#include "sim/platform/gpu.hpp"
#include "sim/platform/platform.hpp"
#include "sim/report/format/style.hpp"

namespace gradway::report {

/// A GPU of a folder of data files.
struct ListedGpu {
  std::string name;
  std::optional<Gpu> gpu;           ///< empty if its file has an error
  std::string gpu_of_kernel_times;  ///< the GPU whose timed kernels are used, possibly scaled; empty: none
};

/// A calibration of a folder of data files.
struct ListedCalibration {
  std::string name;
  std::optional<Calibration> calibration;  ///< empty if its file has an error
};

/// One row per GPU: memory, memory bandwidth, dense peaks, and the source of kernel times.
void write_gpus(std::ostream& out, const std::vector<ListedGpu>& listed, const Style& style);
/// The same as one JSON document; unknown values are null.
void write_gpus_json(std::ostream& out, const std::vector<ListedGpu>& listed);

/// One row per calibration: its date, and what was measured.
void write_calibrations(std::ostream& out, const std::vector<ListedCalibration>& listed, const Style& style);
/// The same as one JSON document; the date is null if it is unknown.
void write_calibrations_json(std::ostream& out, const std::vector<ListedCalibration>& listed);

/// A platform of a folder of data files.
struct ListedPlatform {
  std::string name;
  std::optional<Platform> platform;  ///< with one node; empty if its file has an error
};

/// One row per platform: GPUs per node, bandwidth between GPUs of a node and between nodes, price. Sorted by
/// name, with numbers by value; synthetic platforms come last. The table may be wider than the style's width.
void write_platforms(std::ostream& out, std::vector<ListedPlatform> listed, const Style& style);

/// The same as one JSON document, in the same order; unknown values are null.
void write_platforms_json(std::ostream& out, std::vector<ListedPlatform> listed);

/// A file of a folder of data files, and what it is.
struct ListedSentence {
  std::string name;
  std::string sentence;
};

/// One JSON document. @param kind "scenarios"
void write_sentences_json(std::ostream& out, std::string_view kind,
                          const std::vector<ListedSentence>& listed);

/// The newest price of a platform in a region on some terms.
struct ListedPrice {
  std::string platform;
  std::string list;  ///< the file of prices that has it; empty: the platform's own
  int gpus = 1;      ///< of a node
  Price price;
  std::optional<int>
      age{};  ///< in days, of the price or its exchange rate, if that is older; empty: not asked for
};

/// One row per price: terms, of a node and of a GPU, region, date, age in days, and the file of prices for
/// `--prices`. Sorted by platform, list, region and terms.
void write_prices(std::ostream& out, const std::vector<ListedPrice>& listed, const Style& style);
/// The same as one JSON document, with sources.
void write_prices_json(std::ostream& out, const std::vector<ListedPrice>& listed);

}  // namespace gradway::report
