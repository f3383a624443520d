// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/points/check_values.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

namespace gradway::cli {
namespace {

class Check {
 public:
  using ProblemsAt = std::function<std::vector<Problem>(const std::vector<std::string>&)>;

  Check(const std::vector<Axis>& axes, const ProblemsAt& problems_at)
      : axes_{axes}, problems_at_{problems_at} {
    suspects_[nobody];
    for (const auto& axis : axes)
      for (const auto& value : axis.values) suspects_[told_by(axis, value).file];
  }

  /// Every value once, then the points of those that were wrong there.
  std::vector<Problem> run() {
    std::size_t longest = 1;
    for (const auto& axis : axes_) longest = std::max(longest, axis.values.size());
    for (std::size_t i = 0; i < longest; ++i) look_at(diagonal(i));
    for (std::size_t i = 0; i < point_count(axes_) && !suspects_.empty(); ++i) {
      const auto values = point_values(axes_, i);
      if (has_suspects(values)) look_at(values);
    }
    return what_is_left();
  }

 private:
  /// Stands for all that is no value of an axis.
  static constexpr auto nobody = "";

  std::vector<std::string> diagonal(std::size_t i) const {
    std::vector<std::string> values;
    for (const auto& axis : axes_) values.push_back(axis.values[i % axis.values.size()]);
    return values;
  }

  /// What stands in a point: its values, and all else.
  std::vector<std::string> parts_of(const std::vector<std::string>& values) const {
    std::vector<std::string> parts{nobody};
    for (std::size_t i = 0; i < values.size(); ++i) parts.push_back(told_by(axes_[i], values[i]).file);
    return parts;
  }

  bool has_suspects(const std::vector<std::string>& values) const {
    return std::ranges::any_of(parts_of(values),
                               [&](const std::string& part) { return suspects_.contains(part); });
  }

  void look_at(const std::vector<std::string>& values) {
    const auto parts = parts_of(values);
    std::map<std::string, std::vector<Problem>> wrong;
    for (auto& problem : problems_at_(values)) {
      const bool is_of_a_value = std::ranges::find(parts, problem.where.file) != parts.end();
      wrong[is_of_a_value ? problem.where.file : nobody].push_back(std::move(problem));
    }
    for (const auto& part : parts) {
      const auto suspect = suspects_.find(part);
      if (suspect == suspects_.end()) continue;
      if (!wrong.contains(part)) {
        suspects_.erase(suspect);
      } else if (suspect->second.empty()) {
        suspect->second = wrong[part];
      }
    }
  }

  std::vector<Problem> what_is_left() const {
    std::vector<Problem> problems;
    for (const auto& [part, its] : suspects_) problems.insert(problems.end(), its.begin(), its.end());
    return problems;
  }

  const std::vector<Axis>& axes_;
  const ProblemsAt& problems_at_;
  std::map<std::string, std::vector<Problem>> suspects_;  ///< not right at any point so far; what was wrong
};

}  // namespace

Where told_by(const Axis& axis, const std::string& value) {
  Where where;
  where.file = fmt::format("--vary {}={}", axis.key, value);
  return where;
}

void check_values(const std::vector<Axis>& axes, const Check::ProblemsAt& problems_at) {
  if (auto problems = Check{axes, problems_at}.run(); !problems.empty())
    throw ConfigError{std::move(problems)};
}

}  // namespace gradway::cli
