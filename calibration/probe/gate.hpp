// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "calibration/probe/device.hpp"

namespace gradway::probe {

/// Blocks a stream until the host opens it, so that work issued meanwhile runs without waiting for the CPU.
/// It occupies one thread block. It opens by itself after 5 s, so that no mistake hangs a GPU.
class Gate {
 public:
  Gate();
  /// Blocks all work issued to the stream from now on until `open`. It can block about 1,000 calls; then
  /// the driver's queue is full and the next call waits.
  void close(const Stream& stream);
  void open();

 private:
  PinnedBuffer flag_;
  std::uint32_t round_ = 0;
};

/// Issues a kernel of known duration by the GPU's own clock, to test the instrument.
void spin(const Stream& stream, Seconds time);

}  // namespace gradway::probe
