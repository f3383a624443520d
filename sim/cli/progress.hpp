// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <mutex>
#include <string>

#include "sim/cli/surroundings.hpp"

namespace gradway::cli {

/// A line on the terminal that counts ("point 12 of 400" with a bar); silent elsewhere. Can be stepped from
/// several threads; is gone when it goes out of scope.
class Progress {
 public:
  Progress(const Surroundings& around, std::string what, std::size_t count);
  ~Progress();
  Progress(const Progress&) = delete;

  void step();

 private:
  const Surroundings& around_;
  std::string what_;
  std::size_t count_;
  std::size_t done_ = 0;
  std::mutex mutex_;
};

}  // namespace gradway::cli
