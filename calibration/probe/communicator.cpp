// SPDX-License-Identifier: Apache-2.0
#include "calibration/probe/communicator.hpp"

#include <cstdlib>

#include "calibration/probe/nccl_library.hpp"

namespace gradway::probe {
namespace {

/// NCCL reads these variables when a communicator is created.
void force(const char* variable, const std::string& value) {
  if (value.empty()) {
    unsetenv(variable);
  } else {
    setenv(variable, value.c_str(), 1);
  }
}

}  // namespace

Communicator::Communicator(Group& group, int members, const Forced& forced)
    : group_{&group}, members_{members}, forced_{forced} {
  ncclUniqueId id{};
  if (group.rank() == 0) check(nccl().get_unique_id(&id), "asking NCCL for an id");
  group.broadcast(&id, sizeof id);
  if (!is_member()) return;
  word_ = DeviceBuffer{sizeof(float)};
  check(cudaMemset(word_.get(), 0, sizeof(float)), "clearing memory");
  force("NCCL_ALGO", forced.algorithm);
  force("NCCL_PROTO", forced.protocol);
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  if (forced.channels) {
    config.minCTAs = *forced.channels;
    config.maxCTAs = *forced.channels;
  }
  check(nccl().init_rank(&communicator_, members, id, group.rank(), &config), "starting NCCL");
}

Communicator::~Communicator() {
  if (communicator_ != nullptr) nccl().destroy(communicator_);
}

void Communicator::align(const Stream& stream) {
  check(nccl().all_reduce(word_.get(), word_.get(), 1, ncclFloat, ncclSum, communicator_, stream.get()),
        "aligning the ranks");
}

}  // namespace gradway::probe
