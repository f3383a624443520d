// SPDX-License-Identifier: Apache-2.0
#include "sim/scenario/failure_models.hpp"

#include <algorithm>

#include "sim/base/contract.hpp"
#include "sim/base/rows.hpp"
#include "sim/base/text.hpp"

namespace gradway {

namespace tables {
extern const std::string_view failure_models;
}

namespace {

constexpr double gpus_of_a_node = 8;
constexpr double hours_of_a_day = 24;
constexpr double seconds_of_an_hour = 3600;

struct Models {
  std::vector<FailureModel> failures;
  std::vector<SpotModel> spots;
  std::vector<std::string_view> failure_names;
  std::vector<std::string_view> spot_names;
};

double failures_of_node_day(const TextRow& row) {
  const auto gpu_hours = row.real("gpu_hours", 0);
  return gpu_hours > 0 ? gpus_of_a_node * hours_of_a_day / gpu_hours
                       : row.real("count", 0) / row.real("node_days", 1);
}

SpotModel spot_in(const TextRow& row) {
  const auto up = row.real("hours", 1) * seconds_of_an_hour / row.real("losses", 1);
  const auto down = row.value("down").empty() ? up * row.real("missing", 0) / row.real("available", 1)
                                              : row.real("down", 0) * seconds_of_an_hour;
  return {.name = row.word(0),
          .up_mean = Seconds{up},
          .up_mean_over_median = row.real("up_mean", 1) / row.real("up_median", 1),
          .down_mean = Seconds{down},
          .down_mean_over_median = row.real("down_spread", 1),
          .group = row.number("group", 1),
          .source = row.value("source")};
}

Models read_models() {
  Models models;
  for (const auto& row : rows_in(tables::failure_models)) {
    if (row.kind == "failures") {
      models.failures.push_back({row.word(0), failures_of_node_day(row), {}, row.value("source")});
      models.failure_names.push_back(row.word(0));
    } else if (row.kind == "cause") {
      const auto count = leading_number(row.word(1));
      expects(count.has_value() && !models.failures.empty(), "a cause has a model and a count");
      models.failures.back().causes.push_back(
          {row.word(0), static_cast<double>(*count), row.words.size() == 2});
    } else {
      models.spots.push_back(spot_in(row));
      models.spot_names.push_back(row.word(0));
    }
  }
  return models;
}

const Models& models() {
  static const auto read = read_models();
  return read;
}

template <class Model>
const Model* find_model(const std::vector<Model>& among, std::string_view name) {
  const auto model = std::ranges::find(among, name, &Model::name);
  return model == among.end() ? nullptr : &*model;
}

}  // namespace

std::span<const std::string_view> failure_model_names() {
  return models().failure_names;
}
std::span<const std::string_view> spot_model_names() {
  return models().spot_names;
}
const FailureModel* find_failure_model(std::string_view name) {
  return find_model(models().failures, name);
}
const SpotModel* find_spot_model(std::string_view name) {
  return find_model(models().spots, name);
}

}  // namespace gradway
