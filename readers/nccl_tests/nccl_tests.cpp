// SPDX-License-Identifier: Apache-2.0
#include "readers/nccl_tests/nccl_tests.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "sim/cost/calibration_words.hpp"
#include "sim/cost/plausible.hpp"

namespace gradway {
namespace {

namespace words = calibration_words;

template <std::size_t size>
bool is_among(const std::array<std::string_view, size>& table, std::string_view word) {
  return std::ranges::find(table, word) != table.end();
}

class Resolver {
 public:
  Resolver(const TextFile& file, const NcclTestRun& run, const NcclTestOptions& options,
           std::vector<std::string>& warnings)
      : file_{file}, run_{run}, options_{options}, warnings_{warnings} {}

  NcclTestSamples resolve() {
    NcclTestSamples samples;
    const auto listed = listed_ranks();
    if (listed && *listed < 2)
      fail("the log has one rank only, so nothing was sent",
           "run the test on at least two GPUs; on several nodes, build it with MPI=1");
    samples.operation = operation(listed);
    samples.ranks = ranks(listed, samples.operation);
    check_ratio(samples);
    samples.nodes = nodes(samples.ranks);
    samples.tag = transport(samples) + forced();
    samples.gpu = run_.gpu;
    samples.rccl = run_.rccl;
    samples.iterations = run_.iterations;
    for (const auto& row : run_.rows) {
      check_count(row, samples.ranks);
      samples.rows.push_back({row.size, time_of(row, samples)});
    }
    return samples;
  }

 private:
  [[noreturn]] void fail(std::string message, std::string hint) const {
    refuse_at(run_.rows.front().where, std::move(message), std::move(hint));
  }

  std::optional<int> listed_ranks() const {
    if (options_.ranks) return options_.ranks;
    if (!run_.ranks.empty()) return run_.ranks.rbegin()->first + 1;
    return run_.rank_count;
  }

  std::string operation(std::optional<int> ranks) const {
    if (options_.operation) return *options_.operation;
    if (auto named = nccl_operation(run_.program); !named.empty()) return named;
    const auto likely = operations_like(run_, ranks);
    if (likely.size() == 1) return likely.front();
    auto in_name = operation_in_name(file_.name);
    if (std::ranges::find(likely, in_name) != likely.end()) {
      warnings_.push_back(
          fmt::format("{}: the operation {} is only known from the file's name", file_.name, in_name));
      return in_name;
    }
    if (likely.empty()) {
      fail("the columns and bandwidths of the table fit no operation",
           fmt::format("give {} --operation: {}", ranks ? "it with" : "--ranks, --nodes and",
                       fmt::join(nccl_operations(), ", ")));
    }
    fail(fmt::format("the log does not name the operation: {} fit its columns and bandwidths",
                     fmt::join(likely, ", ")),
         "give it with --operation NAME");
  }

  int ranks(std::optional<int> listed, const std::string& operation) const {
    const auto count = listed ? listed : ranks_by_ratio(run_, operation);
    if (!count) fail("the log does not contain the number of ranks", "give it with --ranks N");
    return *count;
  }

  void check_ratio(const NcclTestSamples& samples) const {
    if (has_ratio_of(run_, samples.operation, samples.ranks)) return;
    fail(fmt::format("busbw divided by algbw is {:.4g}, which does not fit {} on {} ranks",
                     bus_ratio(run_)->value, samples.operation, samples.ranks),
         "check the operation and the number of ranks: see --operation and --ranks");
  }

  /// If all hosts have one name, a device that is listed twice belongs to another node, unless each rank only
  /// sees its own GPU and all have the same number.
  std::optional<int> listed_nodes() const {
    if (run_.ranks.empty()) return run_.node_count;
    const auto& [last, place] = *run_.ranks.rbegin();
    if (run_.ranks.size() == 1 && last > 0) return nodes_of_last_rank(last, place.second);
    std::set<std::string> hosts;
    std::map<std::pair<std::string, std::string>, int> devices;
    int most = 0;
    for (const auto& [rank, at] : run_.ranks) {
      hosts.insert(at.first);
      most = std::max(most, ++devices[at]);
    }
    const bool tells_devices = devices.size() > hosts.size();
    return tells_devices ? std::max(static_cast<int>(hosts.size()), most) : static_cast<int>(hosts.size());
  }

  /// Of an excerpt that lists the last rank only, on the last device of its node.
  std::optional<int> nodes_of_last_rank(int last, const std::string& device) const {
    const auto of_node = static_cast<int>(std::strtol(device.c_str(), nullptr, 10)) + 1;
    if (run_.node_count || of_node < 2 || (last + 1) % of_node != 0) return run_.node_count;
    warnings_.push_back(
        fmt::format("{}: not all ranks are listed: {} on each node are assumed, as rank {} has "
                    "device {}; --nodes sets their number",
                    file_.name, of_node, last, of_node - 1));
    return (last + 1) / of_node;
  }

  int nodes(int ranks) const {
    const auto count = options_.nodes ? options_.nodes : listed_nodes();
    if (count && *count > ranks)
      fail(fmt::format("{} ranks cannot be on {} nodes", ranks, *count), "see --nodes");
    if (count) return *count;
    const bool is_inside = options_.transport && *options_.transport != "net";
    if (is_inside) return 1;
    fail("the log does not contain the number of nodes", "give it with --nodes N");
  }

  std::string transport(const NcclTestSamples& samples) const {
    if (options_.transport) {
      if (samples.nodes > 1 && *options_.transport == "shm")
        fail(
            fmt::format("ranks on {} nodes communicate over net, not {}", samples.nodes, *options_.transport),
            "give --transport net, or p2p if NVLinks join the nodes");
      return *options_.transport;
    }
    if (is_beyond_network(samples)) {
      warnings_.push_back(
          fmt::format("{}: the table is faster than any network: NVLinks between the nodes are "
                      "assumed, transport p2p",
                      file_.name));
      return "p2p";
    }
    if (samples.nodes > 1 || run_.transports.contains("NET")) return "net";
    if (run_.transports.contains("SHM")) return "shm";
    if (run_.transports.contains("P2P")) return "p2p";
    if (is_beyond_pcie()) {
      warnings_.push_back(fmt::format("{}: the table is faster than any PCIe: {} are assumed, transport p2p",
                                      file_.name, run_.rccl ? "XGMI links" : "NVLinks"));
      return "p2p";
    }
    fail("the log does not contain the transport",
         "give it with --transport: p2p (NVLink, or PCIe switches), shm (host memory) or net; logs with "
         "NCCL_DEBUG=INFO contain it");
  }

  /// Without NVLinks, a ring sends the bytes that busbw counts through the slot of each GPU.
  /// @source 63 GB/s: PCIe Gen5 x16, the fastest slot of a GPU in servers
  bool is_beyond_pcie() const {
    constexpr double fastest_slot = 63;
    return is_beyond(fastest_slot);
  }

  bool is_beyond(double bus_rate) const {
    return std::ranges::any_of(run_.rows,
                               [&](const NcclTestRow& row) { return row.out_of_place.bus_rate > bus_rate; });
  }

  /// Over a network, a node sends the bytes that busbw counts, or as a tree of nodes half of them, through
  /// one NIC a GPU. @source 100 GB/s: 800 Gbit/s, the fastest NIC of servers
  bool is_beyond_network(const NcclTestSamples& samples) const {
    constexpr double fastest_nic = 100;
    const auto of_node = static_cast<double>(samples.ranks) / samples.nodes;
    return samples.nodes > 1 && !run_.transports.contains("NET") &&
           is_beyond(of_node * fastest_nic * (samples.operation == "all_reduce" ? 2 : 1));
  }

  std::string forced() const {
    if (run_.algorithm.empty() && run_.protocol.empty()) return "";
    if (is_among(words::algorithm_tags, run_.algorithm) && is_among(words::protocol_tags, run_.protocol))
      return fmt::format("-{}-{}", run_.algorithm, run_.protocol);
    fail(fmt::format("NCCL was forced to NCCL_ALGO={} and NCCL_PROTO={}, which samples do not support",
                     run_.algorithm, run_.protocol),
         "force one of Ring and Tree and one of LL, LL128 and Simple, or nothing");
  }

  /// The size is that of all elements; for some operations the count is that of one rank.
  void check_count(const NcclTestRow& row, int ranks) const {
    const auto counted = row.count * row.element;
    if (row.size.value() == counted || row.size.value() == counted * ranks) return;
    refuse_at(row.where,
              fmt::format("inconsistent row: {:.0f} elements of {} B are not {:.0f} B", row.count,
                          row.element, row.size.value()),
              "check whether the log was edited by hand");
  }

  Seconds time_of(const NcclTestRow& row, const NcclTestSamples& samples) const {
    const auto& chosen = options_.in_place && row.in_place ? *row.in_place : row.out_of_place;
    constexpr double share = 0.05;  // Far more than rounding.
    const auto rate = row.size / chosen.time / BytesPerSecond{1e9};
    const auto other_share = static_cast<double>(samples.ranks - 1) / samples.ranks;
    const auto is_printed = [&](double expected) {
      return std::abs(expected - chosen.algorithm_rate) <= share * expected + 0.011;
    };
    const bool adds_up =
        is_printed(rate) || (has_sent_bytes(run_, samples.operation) && is_printed(rate * other_share));
    if (!adds_up && samples.operation != "hypercube") {
      refuse_at(row.where,
                fmt::format("inconsistent row: {:.0f} bytes in {:.4g} us are {:.4g} GB/s, not {:g}",
                            row.size.value(), chosen.time.value() * 1e6, rate, chosen.algorithm_rate),
                "check whether the log was edited by hand");
    }
    if (const SizedTime measured{row.size, chosen.time}; !is_plausible(measured))
      refuse_at(row.where, implausible_text(measured), "remove the row");
    return chosen.time;
  }

  const TextFile& file_;
  const NcclTestRun& run_;
  const NcclTestOptions& options_;
  std::vector<std::string>& warnings_;
};

}  // namespace

ImportedTests import_nccl_test_log(const TextFile& file, const NcclTestOptions& options) {
  ImportedTests imported;
  for (const auto& run : read_nccl_test_log(file)) {
    imported.warnings.insert(imported.warnings.end(), run.remarks.begin(), run.remarks.end());
    imported.runs.push_back(Resolver{file, run, options, imported.warnings}.resolve());
  }
  return imported;
}

std::string samples_json(const std::vector<NcclTestSamples>& runs) {
  using Json = nlohmann::ordered_json;
  std::vector<std::string> rows;
  std::set<std::string> gpus;
  for (const auto& run : runs) {
    const auto description =
        fmt::format("{} on {} ranks of {} node{}{}{}", run.rccl ? "rccl-tests" : "nccl-tests", run.ranks,
                    run.nodes, run.nodes == 1 ? "" : "s", run.gpu.empty() ? "" : ", ", run.gpu);
    if (gpus.insert(description).second)
      rows.push_back(Json{{"kind", "note"}, {"section", "import"}, {"what", description}}.dump(
          -1, ' ', true, Json::error_handler_t::replace));
  }
  for (const auto& run : runs) {
    for (const auto& row : run.rows) {
      auto text = fmt::format(R"({{"op": "{}", "bytes": {:.0f}, "seconds": {:.9g}, "world": {}, "tag": "{}")",
                              run.operation, row.size.value(), row.time.value(), run.ranks, run.tag);
      if (run.nodes > 1) text += fmt::format(R"(, "nodes": {})", run.nodes);
      if (run.iterations) text += fmt::format(R"(, "repeats": {})", *run.iterations);
      rows.push_back(text + "}");
    }
  }
  return fmt::format("[\n{}\n]\n", fmt::join(rows, ",\n"));
}

}  // namespace gradway
