// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/lower/communicators.hpp"

namespace gradway {

/// The communicator of all ranks of a job, for tests that need no workload.
class WorldCommunicator {
 public:
  /// @param scenario must outlive this @throws ConfigError as Communicator does
  explicit WorldCommunicator(const Scenario& scenario)
      : routes_{scenario.platform},
        communicator_{routes_, nccl_settings(scenario.job.nccl), scenario.calibration,
                      first_gpus(scenario.job.gpus)} {}

  const Communicator& operator*() const { return communicator_; }
  const Communicator* operator->() const { return &communicator_; }

 private:
  Routes routes_;
  Communicator communicator_;
};

}  // namespace gradway
