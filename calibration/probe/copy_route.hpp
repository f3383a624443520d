// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "calibration/harness/row.hpp"
#include "calibration/probe/device.hpp"

namespace gradway::probe {

/// One end of a copy: a GPU, or pinned host memory.
struct Place {
  static constexpr int host = -1;
  int gpu = host;

  bool is_host() const { return gpu == host; }
};

/// Source and destination of a copy.
struct Route {
  Place from;
  Place to;

  /// The GPU whose copy engine is used.
  int engine() const { return from.is_host() ? to.gpu : from.gpu; }
};

/// As in rows: ["host", 0].
Row to_row(const Route& route);

/// Enables access between the memories of all GPUs, where supported. @return whether all GPUs support it
bool enable_peer_access(int gpus);

/// The buffers of a copy at both ends, filled with random bytes.
class CopyBuffers {
 public:
  CopyBuffers(const Route& route, std::size_t bytes);
  /// Issues a copy of the first `bytes` on a stream of the route's engine.
  void copy(const Stream& stream, std::size_t bytes) const;

 private:
  PinnedBuffer host_;
  DeviceBuffer from_;
  DeviceBuffer to_;
  Route route_;
};

}  // namespace gradway::probe
