// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "readers/nsys/database.hpp"

namespace gradway {

/// A call of a collective as NCCL describes it.
struct NcclCall {
  std::int64_t bytes = 0;
  std::int64_t communicator = 0;  ///< The same on all of its ranks.
};

struct NcclJob {
  std::int64_t rank = 0;
  std::int64_t ranks = 0;
};

/// The NVTX ranges of NCCL 2.20 and later, whose payloads are in exports written with --include-blobs=true.
/// @source NCCL 2.28.9, src/include/nvtx_payload_schemas.h
class NcclRanges {
 public:
  /// @pre the table NVTX_EVENTS has the columns domainId and binaryData
  void read(const Database& database);

  /// The innermost call that contains the time. @param moment thread and time
  std::optional<NcclCall> call_at(const std::pair<std::int64_t, std::int64_t>& moment) const;
  /// Ranks of a communicator that the process created; 0 if its creation was not recorded.
  std::int64_t ranks_of(std::int64_t process, std::int64_t communicator) const;
  /// Place of the process in its largest communicator, which is taken for the job.
  std::optional<NcclJob> job(std::int64_t process) const;

 private:
  struct Range {
    std::int64_t start = 0;
    std::int64_t end = 0;
    NcclCall call;
  };
  std::map<std::int64_t, std::vector<Range>> calls_;                       ///< By thread, sorted by start.
  std::map<std::int64_t, std::map<std::int64_t, NcclJob>> communicators_;  ///< By process and communicator.
};

}  // namespace gradway
