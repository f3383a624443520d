// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "calibration/probe/device.hpp"

namespace gradway::probe {

/// Holds a stream back until the host opens it, so that what is issued meanwhile runs without waiting for the
/// CPU. It occupies one thread block. It opens by itself after 5 s, so that no mistake hangs a GPU.
class Gate {
 public:
  Gate();
  /// Issues the wait; what is issued to the stream from now on waits for `open`. At most about 1,000 calls
  /// fit behind it before the driver's queue is full and the next call would block.
  void close(const Stream& stream);
  void open();

 private:
  PinnedBuffer flag_;
  std::uint32_t round_ = 0;
};

/// Puts a kernel on the stream that runs for so long by the GPU's own clock: the instrument's known length.
void spin(const Stream& stream, Seconds time);

}  // namespace gradway::probe
