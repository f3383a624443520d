// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "readers/samples/read_samples.hpp"
#include "sim/cost/nccl_model.hpp"

namespace gradway::test {

inline std::string content_of(const std::string& file) {
  std::ifstream stream{file, std::ios::binary};
  return {std::istreambuf_iterator<char>{stream}, {}};
}

/// Rows of the samples that the shipped calibration was fitted to.
inline std::vector<CollectiveRow> own_rows() {
  const auto file =
      std::string{GRADWAY_SOURCE_DIR} + "/calibration/results/h200-4x-tables/samples/collectives.json";
  return read_samples({{file, content_of(file)}}).collectives;
}

/// Rows of another machine of the same kind, measured later and not fitted to.
inline std::vector<CollectiveRow> held_out_rows() {
  auto list =
      "[" + content_of(std::string{GRADWAY_SOURCE_DIR} + "/tests/validation/data/held-out-collectives.jsonl");
  list.erase(list.find_last_not_of('\n') + 1);
  std::string rows;
  for (const auto c : list) rows += c == '\n' ? std::string{",\n"} : std::string{c};
  return read_samples({{"held out", rows + "]"}}).collectives;
}

/// NCCL's variables that make it run a row's collective as it was measured.
inline std::map<std::string, std::string> variables(const CollectiveRow& row) {
  std::map<std::string, std::string> nccl;
  if (row.transport != Transport::p2p) nccl["NCCL_P2P_DISABLE"] = "1";
  if (row.transport == Transport::net) nccl["NCCL_SHM_DISABLE"] = "1";
  if (row.algorithm) nccl["NCCL_ALGO"] = name_of(*row.algorithm);
  if (row.protocol) nccl["NCCL_PROTO"] = name_of(*row.protocol);
  return nccl;
}

}  // namespace gradway::test
