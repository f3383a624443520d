// SPDX-License-Identifier: Apache-2.0
#include "observe/nccl_log/report.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <ostream>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "sim/base/rows.hpp"
#include "sim/cost/nccl_model.hpp"
#include "sim/report/format/json_document.hpp"
#include "sim/report/format/table.hpp"
#include "sim/report/format/text.hpp"

namespace gradway::tables {
extern const std::string_view aspects;
}

namespace gradway::report {
namespace {

/// Ranks in short form: "0 to 7", "0, 2, 4".
std::string ranks_text(const NcclLogCommunicator& communicator) {
  if (static_cast<int>(communicator.seen.size()) == communicator.ranks) return "all ranks";
  constexpr std::size_t most = 8;
  std::vector<int> ranks;
  for (const auto& [rank, process] : communicator.seen) {
    if (ranks.size() < most) ranks.push_back(rank);
  }
  return fmt::format("rank{} {}{}", communicator.seen.size() == 1 ? "" : "s", fmt::join(ranks, ", "),
                     communicator.seen.size() > most ? ", ..." : "");
}

/// Connections by their kind: "P2P/CUMEM" with its pairs and channels.
struct Way {
  std::set<std::pair<int, int>> pairs;
  std::set<int> channels;
};

std::map<std::string, Way> ways_by_kind(const NcclLogCommunicator& communicator) {
  std::map<std::string, Way> ways;
  for (const auto& [connection, channels] : communicator.ways) {
    const auto kind =
        connection.transport == Transport::net
            ? fmt::format("NET/{}{}", connection.network, connection.gpudirect ? " with GPUDirect RDMA" : "")
            : connection.via;
    auto& way = ways[kind];
    way.pairs.emplace(connection.from, connection.to);
    way.channels.insert(channels.begin(), channels.end());
  }
  return ways;
}

/// Of the rows of a kind, the one of a value of their enumeration.
template <class Enum>
const TextRow& row_of(std::string_view kind, Enum value) {
  static const auto rows = rows_in(tables::aspects);
  return *(std::ranges::find(rows, kind, &TextRow::kind) + static_cast<std::ptrdiff_t>(value));
}

std::string_view aspect_name(NcclAspect aspect) {
  return row_of("aspect", aspect).word(1);
}

/// What explains a difference and what to do about it.
std::string explanation(const NcclComparison& comparison) {
  if (comparison.follows_from)
    return fmt::format("this follows from the difference in {}", aspect_name(*comparison.follows_from));
  if (!comparison.causes.empty()) {
    return fmt::format("{} {} set: leave {} out", fmt::join(comparison.causes, " and "),
                       comparison.causes.size() == 1 ? "is" : "are",
                       comparison.causes.size() == 1 ? "it" : "them");
  }
  const auto has = [&](NcclRemark remark) {
    return std::ranges::find(comparison.evidence, remark) != comparison.evidence.end();
  };
  if (has(NcclRemark::p2p_not_enabled)) {
    return "CUDA did not enable peer access: check PCIe ACS, the IOMMU and 'nvidia-smi topo -p2p r'";
  }
  if (has(NcclRemark::no_infiniband_device))
    return "NCCL found no InfiniBand device: check the drivers, and the devices of the container";
  if (comparison.aspect == NcclAspect::network && has(NcclRemark::no_network_plugin))
    return "NCCL did not find the network's plug-in libnccl-net.so";
  if (comparison.aspect != NcclAspect::gpudirect)
    return std::string{row_of("aspect", comparison.aspect).value("try")};
  const auto& row = row_of("gpudirect", comparison.gpudirect_by);
  const auto disabled = has(NcclRemark::gpudirect_disabled) ? row.value("disabled") : "";
  return std::string{disabled.empty() ? row.value("try") : disabled};
}

void write_job(std::ostream& out, const NcclLog& log, const Style& style) {
  const auto row = [&](std::string_view key, const std::string& value) {
    const auto lines = wrap(value, std::max<std::size_t>(style.width, 40) - 15);
    for (std::size_t i = 0; i < lines.size(); ++i)
      out << fmt::format("  {:<12} {}\n", i == 0 ? key : "", lines[i]);
  };
  if (!log.version.empty()) row("NCCL", log.version);
  if (!log.networks.empty()) row("network", fmt::format("{}", fmt::join(log.networks, ", ")));
  if (!log.nics.empty()) row("NICs", fmt::format("{}", fmt::join(log.nics, ", ")));
  std::vector<std::string> variables;
  for (const auto& [name, value] : log.variables) variables.push_back(fmt::format("{}={}", name, value));
  if (!variables.empty()) row("variables", fmt::format("{}", fmt::join(variables, " ")));
  constexpr std::size_t most_warnings = 5;
  std::size_t written = 0;
  for (const auto& [text, times] : log.warnings) {
    if (written++ == most_warnings) break;
    row(written == 1 ? "warnings" : "", times == 1 ? text : fmt::format("{} ({} times)", text, times));
  }
  if (log.warnings.size() > most_warnings)
    row("", fmt::format("and {} others", log.warnings.size() - most_warnings));
}

void write_communicator(std::ostream& out, const NcclLogCommunicator& communicator, const Style& style) {
  std::string title = counted_text(communicator.ranks, "rank");
  if (communicator.nodes) title += " on " + counted_text(*communicator.nodes, "node");
  out << fmt::format(" of {} ({} in the log)\n", style.paint(Paint::bold, title), ranks_text(communicator));
  if (!communicator.is_complete) out << "  its initialisation did not finish\n";
  if (communicator.collective_channels) {
    out << fmt::format("  channels     {} for collectives", *communicator.collective_channels);
    if (communicator.pair_channels)
      out << fmt::format(", {} for sends and receives", *communicator.pair_channels);
    if (communicator.nvls_channels.value_or(0) > 0)
      out << fmt::format(", {} for NVLS", *communicator.nvls_channels);
    out << '\n';
  }
  constexpr std::size_t most_ranks = 16;
  for (const auto& [order, channels] : communicator.rings) {
    if (order.size() > most_ranks) continue;
    out << fmt::format("  ring         {} in {}\n", fmt::join(order, " "), counted_text(channels, "channel"));
  }
  for (const auto& [kind, way] : ways_by_kind(communicator)) {
    out << fmt::format("  connections  {}: {} over {}\n", kind, counted_text(way.pairs.size(), "pair"),
                       counted_text(way.channels.size(), "channel"));
  }
}

void write_checked(std::ostream& out, const std::string& platform, const CheckedCommunicator& checked,
                   const Style& style) {
  using enum Table::Align;
  Table table{{{"against " + platform, left}, {"expected", left}, {"found", left}, {"", left}}};
  for (const auto& comparison : checked.comparisons) {
    std::string remark = comparison.agrees ? "" : "differs";
    if (comparison.example)
      remark += fmt::format(" for {} of {}", comparison.differing, counted_text(comparison.pairs, "pair"));
    table.add({std::string{aspect_name(comparison.aspect)}, comparison.expected, comparison.found, remark});
  }
  out << '\n';
  table.write(out, style, "  ");
  for (const auto& comparison : checked.comparisons) {
    if (comparison.agrees) continue;
    std::string text = fmt::format("{}: {} where {} was expected", aspect_name(comparison.aspect),
                                   comparison.found, comparison.expected);
    if (comparison.example)
      text +=
          fmt::format(", such as from rank {} to {}", comparison.example->first, comparison.example->second);
    out << '\n';
    for (const auto& line : wrap(text + "; " + explanation(comparison), style.width - 2))
      out << "  " << line << '\n';
  }
  if (checked.effect) {
    const auto& effect = *checked.effect;
    out << '\n';
    const auto text =
        fmt::format("an all-reduce of {} is predicted to take {} as found, and {} as expected",
                    bytes_text(effect.size), time_text(effect.found), time_text(effect.expected));
    for (const auto& line : wrap(text, style.width - 2)) out << "  " << line << '\n';
  }
}

}  // namespace

void write_nccl_log(std::ostream& out, const NcclLog& log, const std::string& platform,
                    const std::vector<CheckedCommunicator>& checked, const Style& style) {
  write_job(out, log, style);
  // A job has many communicators of the same shape: of pipelines, of groups of shards.
  std::vector<std::pair<std::string, int>> texts;
  std::map<std::string, std::size_t> places;  // of texts
  for (std::size_t i = 0; i < log.communicators.size(); ++i) {
    std::ostringstream text;
    write_communicator(text, log.communicators[i], style);
    if (i < checked.size() && !checked[i].comparisons.empty())
      write_checked(text, platform, checked[i], style);
    const auto [place, is_new] = places.emplace(text.str(), texts.size());
    if (is_new) texts.emplace_back(place->first, 0);
    ++texts[place->second].second;
  }
  for (const auto& [text, times] : texts)
    out << '\n' << (times == 1 ? "communicator" : fmt::format("{} communicators, each", times)) << text;
  if (log.choices.empty()) return;
  using enum Table::Align;
  Table table{
      {{"operation", left}, {"size", right}, {"algorithm", left}, {"protocol", left}, {"calls", right}}};
  for (const auto& [choice, times] : log.choices)
    table.add({choice.operation, bytes_text(Bytes{choice.bytes}), choice.algorithm, choice.protocol,
               fmt::format("{}", times)});
  out << "\nchosen by NCCL\n";
  table.write(out, style, "  ");
}

namespace {

using Json = nlohmann::ordered_json;

Json optional_json(const std::optional<int>& value) {
  return value ? Json(*value) : Json(nullptr);
}

std::string_view key_of(NcclAspect aspect) {
  constexpr std::array<std::string_view, 9> keys{
      "inside_nodes", "between_nodes", "network", "nics", "gpudirect", "nvls", "channels", "nvlinks", "pcie"};
  return keys[static_cast<std::size_t>(aspect)];
}

Json communicator_json(const NcclLogCommunicator& communicator) {
  Json json{{"ranks", communicator.ranks},
            {"nodes", optional_json(communicator.nodes)},
            {"complete", communicator.is_complete},
            {"channels",
             {{"collectives", optional_json(communicator.collective_channels)},
              {"nvls", optional_json(communicator.nvls_channels)},
              {"pairs", optional_json(communicator.pair_channels)}}},
            {"trees", communicator.has_trees},
            {"sharp", communicator.uses_sharp}};
  auto& seen = json["ranks_in_log"] = Json::array();
  for (const auto& [rank, process] : communicator.seen)
    seen.push_back({{"rank", rank}, {"host", process.host}, {"gpu", optional_json(process.gpu)}});
  auto& rings = json["rings"] = Json::array();
  for (const auto& [order, channels] : communicator.rings)
    rings.push_back({{"order", order}, {"channels", channels}});
  auto& connections = json["connections"] = Json::array();
  for (const auto& [connection, channels] : communicator.ways) {
    connections.push_back({{"from", connection.from},
                           {"to", connection.to},
                           {"transport", name_of(connection.transport)},
                           {"via", connection.via},
                           {"nic", optional_json(connection.nic)},
                           {"gpudirect", connection.gpudirect},
                           {"channels", channels.size()}});
  }
  return json;
}

Json checked_json(const CheckedCommunicator& checked) {
  auto comparisons = Json::array();
  for (const auto& comparison : checked.comparisons) {
    Json json{{"aspect", key_of(comparison.aspect)},
              {"expected", comparison.expected},
              {"found", comparison.found},
              {"agrees", comparison.agrees},
              {"causes", comparison.causes}};
    if (comparison.follows_from) json["follows_from"] = key_of(*comparison.follows_from);
    if (comparison.example) {
      json["pairs"] = comparison.pairs;
      json["differing"] = comparison.differing;
      json["example"] = {comparison.example->first, comparison.example->second};
    }
    comparisons.push_back(std::move(json));
  }
  Json json{{"comparisons", std::move(comparisons)}, {"effect", nullptr}};
  if (checked.effect) {
    json["effect"] = {{"all_reduce_bytes", checked.effect->size.value()},
                      {"expected_s", checked.effect->expected.value()},
                      {"found_s", checked.effect->found.value()}};
  }
  return json;
}

}  // namespace

void write_json(std::ostream& out, const NcclLog& log, const std::string& platform,
                const std::vector<CheckedCommunicator>& checked) {
  Json json{{"schema", 1},
            {"nccl", log.version},
            {"networks", log.networks},
            {"nics", log.nics},
            {"variables", log.variables},
            {"warnings", log.warnings},
            {"platform", platform.empty() ? Json(nullptr) : Json(platform)}};
  auto& communicators = json["communicators"] = Json::array();
  for (std::size_t i = 0; i < log.communicators.size(); ++i) {
    auto communicator = communicator_json(log.communicators[i]);
    if (i < checked.size()) communicator["check"] = checked_json(checked[i]);
    communicators.push_back(std::move(communicator));
  }
  auto& choices = json["choices"] = Json::array();
  for (const auto& [choice, times] : log.choices)
    choices.push_back({{"operation", choice.operation},
                       {"bytes", choice.bytes},
                       {"algorithm", choice.algorithm},
                       {"protocol", choice.protocol},
                       {"calls", times}});
  write(out, JsonDocument{std::move(json)});
}

}  // namespace gradway::report
