// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "calibration/probe/communicator.hpp"

namespace gradway::probe {

/// Operations over a communicator.
enum class Operation { all_reduce, all_gather, reduce_scatter, broadcast, all_to_all, send_recv };

/// Name in files of samples.
std::string_view name_of(Operation operation);

/// One collective of one size on single-precision numbers, with its data and the check of its result. The
/// size is that of the large buffer: the parts of all ranks together for all-gather, reduce-scatter and
/// all-to-all.
class Collective {
 public:
  /// @param send, receive buffers for the largest size that will be used
  Collective(Operation operation, Communicator& communicator, DeviceBuffer& send, DeviceBuffer& receive,
             std::size_t bytes);

  /// Size of the large buffer: as requested, without a remainder that cannot be divided among the ranks.
  std::size_t bytes() const { return count_ * sizeof(float); }
  /// Writes this rank's data to the send buffer.
  void prepare(const Stream& stream) const;
  /// Issues the collective: all-reduce in place, as in DDP; the others from one buffer to the other.
  void issue(const Stream& stream) const;
  /// Issues an all-reduce to the other buffer, so that calls can be repeated without limit.
  void issue_out_of_place(const Stream& stream) const;
  /// Runs it once and checks every number. @throws Failure if one is wrong
  void verify(const Stream& stream) const;
  /// Maximum number of consecutive calls before sums in place exceed the range of single precision.
  int most_calls() const;

 private:
  void run(const Stream& stream, void* receive) const;

  Operation operation_;
  Communicator* communicator_;
  float* send_;
  float* receive_;
  std::size_t count_;  ///< Numbers in the large buffer.
  std::size_t part_;   ///< Numbers of one rank's part.
};

}  // namespace gradway::probe
