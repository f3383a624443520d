// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/import/nccl_tests/nccl_test_log.hpp"

namespace gradway {

/// The operation of a program or a word of the user's, as samples name it: "alltoall" is all_to_all. Empty:
/// there is no such operation.
std::string nccl_operation(std::string_view word);

/// The names that samples have for the operations of nccl-tests.
std::vector<std::string> nccl_operations();

/// The operation that a file's name names, if it names one.
std::string operation_in_name(std::string_view file);

/// Bus bandwidth over algorithm bandwidth, by the row that tells it best, and how far off that may be.
struct BusRatio {
  double value = 0;
  double margin = 0;
};
std::optional<BusRatio> bus_ratio(const NcclTestRun& run);

/// The operations whose columns and ratio a run has. @param ranks if known
/// @source nccl-tests, doc/PERFORMANCE.md and src/*.cu at 2.13
std::vector<std::string> operations_like(const NcclTestRun& run, std::optional<int> ranks);

/// Does a run have the ratio of an operation?
bool has_ratio_of(const NcclTestRun& run, std::string_view operation, int ranks);

/// The ranks that an operation's ratio tells; nothing if it tells none.
std::optional<int> ranks_by_ratio(const NcclTestRun& run, std::string_view operation);

}  // namespace gradway
