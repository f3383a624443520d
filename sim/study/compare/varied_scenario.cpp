// SPDX-License-Identifier: Apache-2.0
#include "sim/study/compare/varied_scenario.hpp"

#include <algorithm>
#include <filesystem>
#include <map>

#include <fmt/format.h>

#include "sim/base/digest.hpp"
#include "sim/base/problem.hpp"

namespace gradway {
namespace {

Where option_place(const Axis& axis, const std::string& value) {
  Where where;
  where.file = fmt::format("--vary {}={}", axis.key, value);
  return where;
}

class ValueCheck {
 public:
  explicit ValueCheck(const VariedScenario& varied) : varied_{varied}, axes_{varied.axes} {
    unconfirmed_[everything_else];
    for (const auto& axis : axes_)
      for (const auto& value : axis.values) unconfirmed_[option_place(axis, value).file];
  }

  /// Checks each value at one point, then other points with the values that were wrong there.
  std::vector<Problem> run() {
    std::size_t longest = 1;
    for (const auto& axis : axes_) longest = std::max(longest, axis.values.size());
    for (std::size_t i = 0; i < longest; ++i) check_point(diagonal(i));
    for (std::size_t i = 0; i < point_count(axes_) && !unconfirmed_.empty(); ++i) {
      const auto values = point_values(axes_, i);
      if (has_unconfirmed(values)) check_point(values);
    }
    return remaining_problems();
  }

 private:
  /// The part of a point that is not a value of an axis.
  static constexpr auto everything_else = "";

  std::vector<std::string> diagonal(std::size_t i) const {
    std::vector<std::string> values;
    for (const auto& axis : axes_) values.push_back(axis.values[i % axis.values.size()]);
    return values;
  }

  /// The parts of a point: its values, and everything else.
  std::vector<std::string> parts_of(const std::vector<std::string>& values) const {
    std::vector<std::string> sources{everything_else};
    for (std::size_t i = 0; i < values.size(); ++i) sources.push_back(option_place(axes_[i], values[i]).file);
    return sources;
  }

  bool has_unconfirmed(const std::vector<std::string>& values) const {
    return std::ranges::any_of(parts_of(values),
                               [&](const std::string& source) { return unconfirmed_.contains(source); });
  }

  void check_point(const std::vector<std::string>& values) {
    const auto sources = parts_of(values);
    std::map<std::string, std::vector<Problem>> wrong;
    for (auto& problem :
         check_values(varied_.scenario, varied_.overrides_of(values), varied_.data, varied_.price)) {
      const bool is_of_a_value = std::ranges::find(sources, problem.where.file) != sources.end();
      wrong[is_of_a_value ? problem.where.file : everything_else].push_back(std::move(problem));
    }
    for (const auto& source : sources) {
      const auto suspect = unconfirmed_.find(source);
      if (suspect == unconfirmed_.end()) continue;
      if (!wrong.contains(source)) {
        unconfirmed_.erase(suspect);
      } else if (suspect->second.empty()) {
        suspect->second = wrong[source];
      }
    }
  }

  std::vector<Problem> remaining_problems() const {
    std::vector<Problem> problems;
    for (const auto& [source, wrong] : unconfirmed_)
      problems.insert(problems.end(), wrong.begin(), wrong.end());
    return problems;
  }

  const VariedScenario& varied_;
  const std::vector<Axis>& axes_;
  std::map<std::string, std::vector<Problem>>
      unconfirmed_;  ///< parts that were wrong at all points so far, with their problems
};

}  // namespace

std::vector<Override> VariedScenario::overrides_of(const std::vector<std::string>& values) const {
  auto overrides = fixed;
  for (std::size_t i = 0; i < values.size(); ++i)
    overrides.push_back({axes[i].key, values[i], option_place(axes[i], values[i])});
  return overrides;
}

void VariedScenario::check() const {
  for (const auto& change : fixed)
    if (std::ranges::find(axes, change.key, &Axis::key) != axes.end())
      refuse(fmt::format("'{}' is set and varied", change.key), "leave out '--set' or '--vary' for it");
  if (auto problems = ValueCheck{*this}.run(); !problems.empty()) throw ConfigError{std::move(problems)};
}

Scenario VariedScenario::at(const std::vector<std::string>& values) const {
  return load_scenario(scenario, overrides_of(values), data, price);
}

Sweeper::Sweeper(VariedScenario varied, std::string engine, FoldRanks fold, std::string_view program)
    : varied_{std::move(varied)}, engine_{std::move(engine)}, fold_{fold}, program_{program} {
  varied_.check();
}

std::string Sweeper::name() const {
  return std::filesystem::path{varied_.scenario}.stem().string();
}

std::string Sweeper::settings_digest() const {
  constexpr std::size_t most = 64;
  const auto& [file, date, region, terms] = varied_.price;
  Digest digest;
  for (const auto text : {std::string_view{engine_}, folding()}) digest.add(text);
  for (const auto& text : {file, date, region, terms}) digest.add(text);
  for (const auto& change : varied_.fixed) digest.add(fmt::format("{}={}", change.key, change.value));
  digest.add("");
  digest.add(name());
  for (const auto& axis : varied_.axes) {
    digest.add(axis.key);
    for (const auto& value : axis.values) digest.add(value);
    digest.add("");
  }
  for (std::size_t i = 0; i < most; ++i) {
    std::vector<std::string> values;
    for (const auto& axis : varied_.axes) values.push_back(axis.values[i % axis.values.size()]);
    try {
      digest.add(varied_.at(values).digest);
    } catch (const std::exception&) {  // a point that fails has no files
    }
  }
  return digest.hex();
}

void Sweeper::answer(const std::vector<std::string>& values,
                     const std::function<bool(const std::string& key)>& is_known,
                     const std::function<void(const std::string& key, const Run& run)>& take) {
  auto scenario = varied_.at(values);
  Digest digest;
  for (const auto text : {program_, std::string_view{engine_}, std::string_view{scenario.name},
                          std::string_view{scenario.digest}, folding()})
    digest.add(text);
  const auto key = digest.hex();
  if (is_known(key)) return;
  auto run = ask(std::move(scenario), {.engine = engine_, .fold = fold_, .timelines = &timelines_});
  take(key, run);
  keep(timelines_, std::move(run));
}

}  // namespace gradway
