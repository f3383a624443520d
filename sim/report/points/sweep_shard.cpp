// SPDX-License-Identifier: Apache-2.0
#include "sim/report/points/sweep.hpp"

#include <algorithm>
#include <ostream>

#include <nlohmann/json.hpp>

#include "sim/base/problem.hpp"
#include "sim/report/format/json_document.hpp"

namespace gradway::report {
namespace {

using Json = nlohmann::ordered_json;

ShardPoint point_in(const Json& json) {
  if (json.contains("key")) return {.key = json.at("key").get<std::string>()};
  return {.error = json.at("error").get<std::string>(), .status = json.at("status").get<int>()};
}

/// @throws Json::exception if something is missing or of another kind
SweepShard shard_in(const Json& json) {
  SweepShard shard{.shard = {json.at("shard").get<std::size_t>(), json.at("of").get<std::size_t>()},
                   .build = json.at("build").get<std::string>(),
                   .asked = json.at("asked").get<std::string>(),
                   .scenario = json.at("scenario").get<std::string>(),
                   .axes = {},
                   .points = {}};
  for (const auto& axis : json.at("vary"))
    shard.axes.push_back(
        {axis.at("key").get<std::string>(), axis.at("values").get<std::vector<std::string>>()});
  for (const auto& point : json.at("points")) shard.points.push_back(point_in(point));
  return shard;
}

bool is_one(const SweepShard& shard) {
  check_size(shard.axes);
  const auto is_told = [](const ShardPoint& point) {
    return point.error.empty() ? point.status == 0 : point.status > 0 && point.status < 4;
  };
  const auto& [number, count] = shard.shard;
  return number >= 1 && number <= count && std::ranges::all_of(shard.points, is_told) &&
         shard.points.size() == points_of(shard.shard, point_count(shard.axes)).size();
}

}  // namespace

void write_json(std::ostream& out, const SweepShard& shard, std::string_view version) {
  Json vary = Json::array();
  for (const auto& axis : shard.axes) vary.push_back({{"key", axis.key}, {"values", axis.values}});
  Json points = Json::array();
  for (const auto& point : shard.points) {
    points.push_back(point.error.empty() ? Json{{"key", point.key}}
                                         : Json{{"error", point.error}, {"status", point.status}});
  }
  const Json document{{"schema", 1},
                      {"gradway", version},
                      {"build", shard.build},
                      {"asked", shard.asked},
                      {"scenario", shard.scenario},
                      {"vary", std::move(vary)},
                      {"shard", shard.shard.number},
                      {"of", shard.shard.of},
                      {"points", std::move(points)}};
  out << serialized(document, 2) << '\n';
}

std::optional<SweepShard> read_shard(std::string_view text) {
  try {
    auto shard = shard_in(Json::parse(text));
    return is_one(shard) ? std::optional{std::move(shard)} : std::nullopt;
  } catch (const Json::exception&) {
    return std::nullopt;
  } catch (const ConfigError&) {  // more points than the limit of a sweep
    return std::nullopt;
  }
}

}  // namespace gradway::report
