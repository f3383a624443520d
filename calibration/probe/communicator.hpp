// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include <nccl.h>

#include "calibration/harness/group.hpp"
#include "calibration/probe/device.hpp"

namespace gradway::probe {

/// What is forced on a communicator; NCCL chooses the rest.
struct Forced {
  std::string algorithm;        ///< NCCL_ALGO: Ring, Tree; empty: free
  std::string protocol;         ///< NCCL_PROTO: LL, LL128, Simple; empty: free
  std::optional<int> channels;  ///< thread blocks of a collective
};

/// The first ranks of a job, joined by NCCL. Ranks beyond them make one as well, but are no members.
class Communicator {
 public:
  /// Collective over the group. @throws Failure if NCCL refuses
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

  /// Puts a small all-reduce on the stream: what comes behind it starts on all members at the same time, to
  /// within microseconds.
  void align(const Stream& stream);

 private:
  Group* group_;
  int members_;
  Forced forced_;
  ncclComm_t communicator_ = nullptr;
  DeviceBuffer word_;
};

}  // namespace gradway::probe
