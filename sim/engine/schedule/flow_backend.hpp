// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "sim/base/ids.hpp"
#include "sim/base/units.hpp"

namespace gradway {

/// Two events are at the same date if they differ by less than this share of it: then only rounding keeps
/// apart what is equal on paper (two symmetric flows), and the order of a queue must not depend on rounding.
/// A thousandth of the precision the engines promise (1e-9).
constexpr double same_date = 1e-12;

/// A flow as a backend sees it.
struct FlowStart {
  std::uint32_t path;  ///< index into the PathTable
  double amount;       ///< > 0
  double weight;       ///< > 0
  double cap;          ///< > 0, may be infinite unless the path has no resources
};

/// The part of an engine that knows how time passes: timers, and flows that share resources. It calls back
/// `Scheduler::due` for each timer and flow that is over, then `Scheduler::settle` once for the date.
class FlowBackend {
 public:
  virtual ~FlowBackend() = default;
  /// @pre no other timer or flow of this op is under way
  virtual void start_timer(OpId op, Seconds date) = 0;
  virtual void start_flow(OpId op, const FlowStart& flow) = 0;
  /// The cap of a flow under way is now `cap`, in the unit of its path; may equal the one it had.
  virtual void set_cap(OpId op, double cap) = 0;
};

}  // namespace gradway
