// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "readers/nccl_tests/nccl_tests.hpp"
#include "sim/base/problem.hpp"
#include "sim/base/quantiles.hpp"
#include "sim/base/text.hpp"

namespace gradway {
namespace {

/// Calls that become one row: operation, ranks, nodes, bytes.
using InspectedKind = std::tuple<std::string, int, int, double>;
/// A call on all its ranks: communicator and number.
using InspectedCall = std::pair<std::string, std::int64_t>;

class InspectorReader {
 public:
  InspectorReader(const TextFile& file, const NcclTestOptions& options) : file_{file}, options_{options} {}

  ImportedTests import() {
    for (const auto& line : lines_of(file_.content)) {
      const auto json = nlohmann::json::parse(line.text, nullptr, false);
      if (!json.is_object() || !json.contains("coll_perf")) continue;
      try {
        read(json);
      } catch (const nlohmann::json::exception&) {
        refuse_at(place_in(line, file_.name, line.offset, line.text.size()),
                  "this record of NCCL Inspector is incomplete",
                  "it needs header.id, rank, n_ranks and nnodes, and coll_perf.coll, coll_sn, "
                  "coll_msg_size_bytes, coll_exec_time_us and coll_algobw_gbs");
      }
    }
    ImportedTests imported;
    for (const auto& [alike, calls] : times_) add(alike, calls, imported);
    if (ranks_.size() == 1)
      imported.warnings.push_back(fmt::format(
          "{}: records of one rank contain its waits for the others: give the files of all ranks as one",
          file_.name));
    return imported;
  }

 private:
  void read(const nlohmann::json& json) {
    const auto& header = json.at("header");
    const auto& call = json.at("coll_perf");
    const auto operation = nccl_operation(lower_case(call.at("coll").get<std::string>()));
    const auto time = 1e-6 * call.at("coll_exec_time_us").get<double>();
    // The bandwidth counts all bytes of a call, as nccl-tests does: of an all-gather, those of all ranks.
    const auto message = call.at("coll_msg_size_bytes").get<double>();
    const auto counted = 1e9 * call.at("coll_algobw_gbs").get<double>() * time;
    const auto bytes = message * std::max(1.0, std::round(counted / std::max(1.0, message)));
    const auto ranks = header.at("n_ranks").get<int>();
    if (operation.empty() || !(time > 0) || !(bytes >= 1) || ranks < 2) return;
    if (options_.operation && *options_.operation != operation) return;
    ranks_.insert(header.at("rank").get<int>());
    const InspectedKind alike{operation, ranks, std::max(1, header.at("nnodes").get<int>()), bytes};
    const InspectedCall number{header.at("id").get<std::string>(), call.at("coll_sn").get<std::int64_t>()};
    auto& least = times_[alike].try_emplace(number, time).first->second;
    least = std::min(least, time);  // The rank that came last has not waited.
    auto& rate = bus_rates_[{operation, ranks, std::get<2>(alike)}];
    rate = std::max(rate, call.value("coll_busbw_gbs", 0.0));
  }

  void add(const InspectedKind& alike, const std::map<InspectedCall, double>& calls,
           ImportedTests& imported) {
    const auto& [operation, ranks, nodes, bytes] = alike;
    std::vector<double> times;
    for (const auto& [number, time] : calls) times.push_back(time);
    const bool is_new = imported.runs.empty() || imported.runs.back().operation != operation ||
                        imported.runs.back().ranks != ranks || imported.runs.back().nodes != nodes;
    if (is_new) {
      NcclTestSamples run;
      run.operation = operation;
      run.ranks = ranks;
      run.nodes = nodes;
      run.tag = transport({operation, ranks, nodes});
      imported.runs.push_back(std::move(run));
    }
    imported.runs.back().rows.push_back({Bytes{bytes}, Seconds{median(times)}});
  }

  std::string transport(const std::tuple<std::string, int, int>& run) const {
    if (options_.transport) return *options_.transport;
    if (std::get<2>(run) > 1) return "net";
    constexpr double fastest_pcie = 63;  // GB/s of the fastest slot of a GPU, Gen5 x16
    if (bus_rates_.at(run) > fastest_pcie) return "p2p";
    refuse_at(file_.whole(), "NCCL Inspector does not record the transport",
              "give it with --transport: p2p (NVLink, or PCIe switches), shm (host memory) or net");
  }

  const TextFile& file_;
  const NcclTestOptions& options_;
  std::map<InspectedKind, std::map<InspectedCall, double>> times_;
  std::map<std::tuple<std::string, int, int>, double> bus_rates_;  ///< the largest, in GB/s
  std::set<int> ranks_;
};

}  // namespace

bool is_inspector_file(const TextFile& file) {
  return contains(file.content, "\"coll_perf\"") && contains(file.content, "\"coll_exec_time_us\"");
}

ImportedTests import_inspector(const TextFile& file, const NcclTestOptions& options) {
  auto imported = InspectorReader{file, options}.import();
  if (imported.runs.empty())
    refuse_at(file.whole(), "the file has no record of a collective with its time and bandwidth",
              "run the job with NCCL_PROFILER_PLUGIN and NCCL_INSPECTOR_ENABLE=1");
  return imported;
}

}  // namespace gradway
