// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sim/cost/kernel_times.hpp"
#include "sim/platform/gpu.hpp"
#include "sim/workload/operation.hpp"

namespace gradway {

/// Time of an operation from a GPU's datasheet alone: the larger of its arithmetic over the peak and its
/// bytes over the memory's bandwidth, each times the efficiency of its class, and a latency. Attention
/// reaches less where it has fewer blocks (128 queries of a head each) than the GPU has multiprocessors.
Seconds datasheet_time(const Operation& operation, const Gpu& gpu);

/// How many times longer a product of 16 bits takes on an A100 or A30 because its tiles do not fill the last
/// wave; 1 for all else. A kernel that was timed on its own GPU has it in its time; moved to such a GPU it is
/// multiplied by it.
/// @source SimuMax (github.com/MooreThreads/SimuMax at 4dcaae51), configs/system/a100_pcie.json: 183 products
/// on an
///         A100. Moved from the H100 with it, and by one scale, they are met by 4.0 % on average, without
///         by 5.4
double last_wave(const Operation& operation, const Gpu& gpu);

/// What kernels that were timed say of others. Every timed kernel has a factor: its time over that of the
/// datasheet rule on the GPU it was timed on. A kernel's factor is the weighted geometric mean of those of
/// its kind that are nearest to it in the logarithms of their sizes; so a kernel that was timed itself takes
/// its own time, and on another GPU the datasheet rule is moved by what the same kernel reached where it was
/// timed.
class OperationCosts {
 public:
  /// @param timed_on the GPU of `times`
  OperationCosts(const KernelTimes& times, const Gpu& timed_on);

  const std::string& source() const { return source_; }

  /// Its factor. 1 if nothing of its kind was timed.
  double factor(const Operation& operation) const;

 private:
  struct Point {
    std::array<double, 10> at{};  ///< coordinates
    double factor = 0;            ///< logarithm
  };
  const std::vector<Point>* points_for(const Operation& operation) const;

  std::string source_;
  std::map<std::string, std::vector<Point>, std::less<>> points_;
};

}  // namespace gradway
