// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

#include "readers/fit/write_calibration.hpp"
#include "readers/samples/read_samples.hpp"

namespace gradway::test {

/// Samples of 20 us latency and 100 GB/s, from 1 KiB on, each size four times the one before.
inline std::vector<SizedTime> straight_line(std::size_t count) {
  std::vector<SizedTime> points;
  for (auto size = 1_KiB; points.size() < count; size = 4 * size)
    points.push_back({size, 20_us + size / 100_GBps});
  return points;
}

/// A file of the shipped samples of the 4 H200.
inline SampleFile shipped_file(const std::string& name) {
  std::ifstream stream{GRADWAY_SOURCE_DIR "/calibration/results/h200-4x-tables/samples/" + name,
                       std::ios::binary};
  return {name, {std::istreambuf_iterator<char>{stream}, {}}};
}

inline Samples shipped_samples() {
  return read_samples(
      {shipped_file("collectives.json"), shipped_file("copies.json"), shipped_file("kernels.json")});
}

inline std::string text_of(const Calibration& calibration) {
  std::ostringstream out;
  write_calibration_file(out, calibration);
  return out.str();
}

}  // namespace gradway::test
