// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include <nccl.h>

#include "calibration/harness/group.hpp"
#include "calibration/probe/device.hpp"

namespace gradway::probe {

/// Forced settings of a communicator; NCCL chooses the rest.
struct Forced {
  std::string algorithm;        ///< NCCL_ALGO: Ring, Tree; empty if free.
  std::string protocol;         ///< NCCL_PROTO: LL, LL128, Simple; empty if free.
  std::optional<int> channels;  ///< Thread blocks of a collective.
};

/// An NCCL communicator of the first ranks of a job. Other ranks construct one as well, but are not members.
class Communicator {
 public:
  /// Called by all ranks of the group. @throws Failure if NCCL fails
  Communicator(Group& group, int members, const Forced& forced);
  ~Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  Group& group() const { return *group_; }
  int rank() const { return group_->rank(); }
  int members() const { return members_; }
  bool is_member() const { return group_->rank() < members_; }
  const Forced& forced() const { return forced_; }
  ncclComm_t get() const { return communicator_; }

  /// Issues a small all-reduce: what follows on the stream starts on all members at the same time, to within
  /// microseconds.
  void align(const Stream& stream);

 private:
  Group* group_;
  int members_;
  Forced forced_;
  ncclComm_t communicator_ = nullptr;
  DeviceBuffer word_;
};

}  // namespace gradway::probe
