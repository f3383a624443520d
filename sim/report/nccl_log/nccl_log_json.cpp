// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <ostream>

#include <nlohmann/json.hpp>

#include "sim/cost/nccl_model.hpp"
#include "sim/report/format/json_document.hpp"
#include "sim/report/nccl_log/nccl_log.hpp"

namespace gradway::report {
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
