// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "calibration/probe/communicator.hpp"

namespace gradway::probe {

/// What NCCL can do over a communicator.
enum class Operation { all_reduce, all_gather, reduce_scatter, broadcast, all_to_all, send_recv };

/// As in the file of samples.
std::string_view name_of(Operation operation);

/// One collective on single-precision numbers of one size, with its buffers' data and the check of its
/// result. The size is of the large buffer: of all ranks' parts together for all-gather, reduce-scatter and
/// all-to-all.
class Collective {
 public:
  /// @param room memory for the largest size that will be asked for, on each side
  Collective(Operation operation, Communicator& communicator, DeviceBuffer& send, DeviceBuffer& receive,
             std::size_t bytes);

  /// Of the large buffer: what was asked for, but for a remainder that the ranks cannot share.
  std::size_t bytes() const { return count_ * sizeof(float); }
  /// Puts this rank's data into the buffer that is sent.
  void prepare(const Stream& stream) const;
  /// All-reduce works in place, as DDP's do; the others from one buffer to the other.
  void issue(const Stream& stream) const;
  /// All-reduce to the other buffer, so that calls may repeat without end.
  void issue_out_of_place(const Stream& stream) const;
  /// Runs it once and looks at every number. @throws Failure if one is wrong
  void verify(const Stream& stream) const;
  /// Calls in a row before sums in place leave the range of single precision.
  int most_calls() const;

 private:
  void run(const Stream& stream, void* receive) const;

  Operation operation_;
  Communicator* communicator_;
  float* send_;
  float* receive_;
  std::size_t count_;  ///< numbers in the large buffer
  std::size_t part_;   ///< numbers of one rank's part
};

}  // namespace gradway::probe
