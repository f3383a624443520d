// SPDX-License-Identifier: Apache-2.0
#include "calibration/probe/nccl_library.hpp"

#include <fmt/format.h>

namespace gradway::probe {
namespace {

constexpr int oldest_version = 21800;  // Since 2.17 the channels of each communicator can be set.

}  // namespace

NcclLibrary::NcclLibrary() : library{{"NCCL", {"libnccl.so.2"}, "libnccl2 (Red Hat: libnccl)"}} {
  library.find("ncclGetVersion", get_version);
  int number = 0;
  get_version(&number);
  if (number < oldest_version)
    throw Refusal{fmt::format("{} is NCCL {}, but 2.18 or later is required", library.file(), version())};
  library.find("ncclGetErrorString", get_error);
  library.find("ncclGetLastError", get_last_error);
  library.find("ncclGetUniqueId", get_unique_id);
  library.find("ncclCommInitAll", init_all);
  library.find("ncclCommInitRankConfig", init_rank);
  library.find("ncclCommDestroy", destroy);
  library.find("ncclCommAbort", abort);
  library.find("ncclGroupStart", group_start);
  library.find("ncclGroupEnd", group_end);
  library.find("ncclAllReduce", all_reduce);
  library.find("ncclAllGather", all_gather);
  library.find("ncclReduceScatter", reduce_scatter);
  library.find("ncclBroadcast", broadcast);
  library.find("ncclSend", send);
  library.find("ncclRecv", receive);
}

std::string NcclLibrary::version() const {
  int number = 0;
  get_version(&number);
  return library_version_text(static_cast<std::size_t>(number));
}

const NcclLibrary& nccl() {
  static const NcclLibrary library;
  return library;
}

void check(ncclResult_t status, const char* what) {
  if (status == ncclSuccess) return;
  const std::string detail = nccl().get_last_error(nullptr);
  throw Failure{std::string{what} + ": " + nccl().get_error(status) + (detail.empty() ? "" : ", " + detail)};
}

}  // namespace gradway::probe
