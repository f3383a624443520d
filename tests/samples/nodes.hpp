// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gradway::test {

/// A synthetic node in the format of gradway-probe, and a list of rows that begins with it.
struct MadeUpNode {
  int gpus = 1;
  std::string gpu = "NVIDIA L40S";
  std::string vendor = "GenuineIntel";
  std::string matrix = "";  ///< lines between \n; empty: null
  int nvlinks = 0;
  int nodes = 1;
  std::string topology = "null";  ///< NCCL's, as JSON
  std::string gpu_keys = "";      ///< more keys of each GPU, each after a comma

  std::string row() const {
    std::vector<std::string> list(
        static_cast<std::size_t>(gpus),
        fmt::format(R"({{"name": "{}", "nvlinks": {}, "numa_node": -1{}}})", gpu, nvlinks, gpu_keys));
    std::string text = "null";
    if (!matrix.empty()) {
      text = "\"";
      for (const auto c : matrix)
        text += c == '\n' ? std::string{"\\n"} : c == '\t' ? std::string{"\\t"} : std::string{c};
      text += '"';
    }
    return fmt::format(
        R"({{"kind": "node", "probe": "0.1", "date": "2026-11-22", "gpus": [{}], "driver": "570.1", "nccl": "2.28.9",)"
        R"( "cpu": {{"name": "A CPU", "vendor": "{}"}}, "nodes": {}, "topology_matrix": {}, "nccl_topology": {}}})",
        fmt::join(list, ", "), vendor, nodes, text, topology);
  }
};

inline std::string samples_of(const MadeUpNode& node, const std::vector<std::string>& rows) {
  return fmt::format("[\n{},\n{}\n]\n", node.row(), fmt::join(rows, ",\n"));
}

/// A copy of 256 MB at a rate in GB/s.
inline std::string copy_row(const std::string& kind, const std::string& gpus, double rate) {
  return fmt::format(R"({{"kind": "{}", "gpus": [{}], "bytes": 256000000, "seconds": {:.9g}}})", kind, gpus,
                     0.256 / rate);
}

/// Pinned copies to and from each GPU.
inline std::vector<std::string> pinned_rows(int gpus, double to, double from) {
  std::vector<std::string> rows;
  for (int gpu = 0; gpu < gpus; ++gpu) {
    rows.push_back(copy_row("h2d_pinned", std::to_string(gpu), to));
    rows.push_back(copy_row("d2h_pinned", std::to_string(gpu), from));
  }
  return rows;
}

/// Copies of 256 MB to and from each of some GPUs at once, all at a rate in GB/s.
inline std::string both_ways_row(std::initializer_list<int> gpus, double rate) {
  std::vector<std::string> ends;
  for (const auto gpu : gpus) ends.push_back(fmt::format(R"(["host", {}], [{}, "host"])", gpu, gpu));
  std::vector<std::string> times(2 * gpus.size(), fmt::format("{:.9g}", 0.256 / rate));
  return fmt::format(
      R"({{"kind": "pattern", "name": "h2d+d2h_x{}", "copies": [{}], "bytes": 256000000, "seconds": [{}]}})",
      gpus.size(), fmt::join(ends, ", "), fmt::join(times, ", "));
}

inline std::vector<std::string> operator+(std::vector<std::string> one,
                                          const std::vector<std::string>& other) {
  one.insert(one.end(), other.begin(), other.end());
  return one;
}

// Four boxes: a pair with NVLinks, four GPUs on an NVSwitch, four on two sockets behind PCIe switches, one
// GPU.

inline std::string pair_box() {
  return samples_of(
      {.gpus = 2,
       .matrix = "\tGPU0\tGPU1\tCPU Affinity\tNUMA Affinity\nGPU0\t X \tNV4\t0-23\tN/A\nGPU1\tNV4\t X "
                 "\t0-23\tN/A\n",
       .nvlinks = 4},
      pinned_rows(2, 26.2, 25.1) + std::vector{copy_row("h2d_pageable", "0", 12.5),
                                               copy_row("d2d_peer", "0, 1", 92),
                                               copy_row("d2d_peer", "1, 0", 91), both_ways_row({0, 1}, 20)});
}

inline std::string switch_box() {
  return samples_of(
      {.gpus = 4,
       .gpu = "NVIDIA H200",
       .matrix = "\tGPU0\tGPU1\tGPU2\tGPU3\tNIC0\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\n"
                 "GPU0\t X \tNV18\tNV18\tNV18\tPIX\t0-63\t0\t\tN/A\nGPU1\tNV18\t X "
                 "\tNV18\tNV18\tNODE\t0-63\t0\t\tN/A\n"
                 "GPU2\tNV18\tNV18\t X \tNV18\tNODE\t0-63\t0\t\tN/A\nGPU3\tNV18\tNV18\tNV18\t X "
                 "\tNODE\t0-63\t0\t\tN/A\n"
                 "NIC0\tPIX\tNODE\tNODE\tNODE\t X \n\nNIC Legend:\n\n  NIC0: mlx5_0\n",
       .nvlinks = 18},
      {copy_row("h2d_pinned", "0", 55.5), copy_row("d2h_pinned", "0", 55.4),
       copy_row("d2d_peer", "0, 1", 388), copy_row("d2d_peer", "1, 2", 389),
       both_ways_row({0, 1, 2, 3}, 26.25),
       R"({"op": "all_reduce", "bytes": 64000000, "seconds": 0.024, "world": 4, "tag": "net"})",
       R"({"op": "all_reduce", "bytes": 64000000, "seconds": 0.012, "world": 4, "tag": "net-Tree-Simple"})"});
}

inline std::string socket_box() {
  return samples_of(
      {.gpus = 4,
       .vendor = "AuthenticAMD",
       .matrix = "\tGPU0\tGPU1\tGPU2\tGPU3\tCPU Affinity\tNUMA Affinity\n"
                 "GPU0\t X \tPIX\tSYS\tSYS\t0-15\t0\nGPU1\tPIX\t X \tSYS\tSYS\t0-15\t0\n"
                 "GPU2\tSYS\tSYS\t X \tPIX\t16-31\t1\nGPU3\tSYS\tSYS\tPIX\t X \t16-31\t1\n"},
      pinned_rows(4, 12.4, 13.2) +
          std::vector{
              copy_row("d2d_peer", "0, 2", 18), copy_row("d2d_peer", "2, 0", 9),
              std::string{R"({"kind": "pattern", "name": "h2d_x2", "copies": [["host", 0], ["host", 1]],)"
                          R"( "bytes": 256000000, "seconds": [0.032, 0.032]})"},
              both_ways_row({0, 1}, 7), both_ways_row({0, 1, 2, 3}, 6)});
}

inline std::string single_box() {
  return samples_of({.matrix = "\tGPU0\tCPU Affinity\tNUMA Affinity\nGPU0\t X \t0-7\t0\n"},
                    pinned_rows(1, 26, 25));
}

}  // namespace gradway::test
