// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "sim/base/ids.hpp"
#include "sim/base/units.hpp"

namespace gradway {

/// Relative difference below which two dates count as one. Symmetric flows end at the same date up to
/// rounding, and the order of a queue must not depend on rounding. A thousandth of the engines' precision
/// (1e-9).
constexpr double same_date = 1e-12;

/// A flow as a backend sees it.
struct FlowStart {
  std::uint32_t path;  ///< index into the PathTable
  double amount;       ///< > 0
  double weight;       ///< > 0
  double cap;          ///< > 0, may be infinite unless the path has no resources
};

/// The part of an engine that advances time: timers, and flows that share resources. It calls
/// `Scheduler::due` for each timer and flow that ends at a date, then `Scheduler::settle` once for that date.
class FlowBackend {
 public:
  virtual ~FlowBackend() = default;
  /// @pre no other timer of this op is active
  virtual void start_timer(OpId op, Seconds date) = 0;
  virtual void start_flow(OpId op, const FlowStart& flow) = 0;
  /// Sets the cap of an active flow, in the unit of its path. May equal the old cap.
  virtual void set_cap(OpId op, double cap) = 0;
};

}  // namespace gradway
