// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <nccl.h>

#include "calibration/probe/library.hpp"

namespace gradway::probe {

/// The functions of NCCL that are used, from the installed library.
struct NcclLibrary {
  /// @throws Refusal if there is none, or it is too old
  NcclLibrary();
  /// Such as 2.28.9.
  std::string version() const;

  Library library;
  decltype(&ncclGetVersion) get_version = nullptr;
  decltype(&ncclGetErrorString) get_error = nullptr;
  decltype(&ncclGetLastError) get_last_error = nullptr;
  decltype(&ncclGetUniqueId) get_unique_id = nullptr;
  decltype(&ncclCommInitAll) init_all = nullptr;
  decltype(&ncclCommInitRankConfig) init_rank = nullptr;
  decltype(&ncclCommDestroy) destroy = nullptr;
  decltype(&ncclCommAbort) abort = nullptr;
  decltype(&ncclGroupStart) group_start = nullptr;
  decltype(&ncclGroupEnd) group_end = nullptr;
  decltype(&ncclAllReduce) all_reduce = nullptr;
  decltype(&ncclAllGather) all_gather = nullptr;
  decltype(&ncclReduceScatter) reduce_scatter = nullptr;
  decltype(&ncclBroadcast) broadcast = nullptr;
  decltype(&ncclSend) send = nullptr;
  decltype(&ncclRecv) receive = nullptr;
};

/// NCCL, loaded at the first call. @throws Refusal
const NcclLibrary& nccl();

/// @throws Failure with what was tried and NCCL's message
void check(ncclResult_t status, const char* what);

}  // namespace gradway::probe
