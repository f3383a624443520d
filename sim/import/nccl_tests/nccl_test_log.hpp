// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sim/import/nccl_tests/nccl_test_row.hpp"

namespace gradway {

/// A run of one program of nccl-tests, as far as its log tells it.
struct NcclTestRun {
  std::string program;                                       ///< "all_reduce"; empty: nothing names it
  std::map<int, std::pair<std::string, std::string>> ranks;  ///< host and device of each rank that is listed
  std::string gpu;                                           ///< of rank 0, as the driver names it
  std::optional<int> rank_count;                             ///< by NCCL's own lines
  std::optional<int> node_count;
  std::set<std::string> transports;  ///< by NCCL's own lines: P2P, SHM, NET
  std::string algorithm;             ///< that NCCL_ALGO forced; empty: none
  std::string protocol;
  std::optional<int> iterations;
  std::vector<NcclTestRow> rows;  ///< of more than 0 bytes
  std::vector<std::string> remarks;
};

/// Cuts a log into runs and reads their tables. What other programs print between the rows, and what
/// launchers print before each line, is left out.
/// @throws ConfigError at rows that are damaged or whose results were wrong, or if there is no row
std::vector<NcclTestRun> read_nccl_test_log(const TextFile& file);

}  // namespace gradway
