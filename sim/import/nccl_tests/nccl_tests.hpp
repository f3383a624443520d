// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/base/units.hpp"
#include "sim/files/text_file.hpp"

namespace gradway {

/// What the user says of logs of nccl-tests.
struct NcclTestOptions {
  std::optional<std::string> operation{};  ///< as samples name it
  std::optional<std::string> transport{};  ///< p2p, shm or net
  std::optional<int> ranks{};
  std::optional<int> nodes{};
  bool in_place = false;  ///< take the times in place; else those out of place
};

/// A size of an operation, as a row of samples has it.
struct NcclTestSample {
  Bytes size{};
  Seconds time{};
};

/// A run of nccl-tests that samples can say.
struct NcclTestSamples {
  std::string operation;
  std::string tag;  ///< transport, and what NCCL was forced to: "p2p-Ring-LL"
  int ranks = 0;
  int nodes = 1;
  std::string gpu;  ///< as the driver names it; empty: the log does not say
  std::optional<int> iterations;
  std::vector<NcclTestSample> rows;
};

struct ImportedTests {
  std::vector<NcclTestSamples> runs;
  std::vector<std::string> warnings;
};

/// The operation is what the log names, else what its columns and the ratio of its bandwidths leave open,
/// with the file's name as the last word. Ranks and nodes are those that are listed, or that NCCL tells, or
/// by the ratio; the transport is the slowest one that NCCL tells, or the network between several nodes, or
/// NVLinks where nothing else is as fast.
/// @throws ConfigError at what is damaged, or if the log leaves open what only the user can say
ImportedTests import_nccl_test_log(const TextFile& file, const NcclTestOptions& options);

/// A file of samples as text. @source calibration/SAMPLES.md
std::string samples_json(const std::vector<NcclTestSamples>& runs);

}  // namespace gradway
