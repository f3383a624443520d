// SPDX-License-Identifier: Apache-2.0
#include "sim/fit/beside_copies.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "sim/fit/robust_line.hpp"
#include "sim/fit/side_by_side_trial.hpp"

namespace gradway {
namespace {

using Key = std::tuple<Transport, int, LinkRole>;

auto partner_key(const CopyContentionRow& row) {
  return std::tuple{row.transport, row.ranks, row.copy, row.copy_size, row.size};
}

BesideCopies fit_group(const Key& key, const std::vector<MeasuredTrial>& trials) {
  constexpr SlowdownSearch search{.most_kernel = 8, .most_collective = 8};
  const auto best = find_slowdowns(trials, search);
  std::vector<double> errors;
  for (const auto& trial : trials) {
    const auto ends = end_errors(trial, best, search);
    errors.insert(errors.end(), {ends.kernels, ends.collectives});
  }
  const auto error = *fit_error(std::move(errors));
  const auto [transport, ranks, copy] = key;
  return {transport,
          copy,
          ranks,
          best.kernel,
          best.collective,
          fmt::format("{} experiment{}, met within {:.1f} % (worst {:.1f} %)", trials.size(),
                      trials.size() == 1 ? "" : "s", 100 * error.median, 100 * error.worst)};
}

}  // namespace

std::vector<BesideCopies> fit_beside_copies(const std::vector<CopyContentionRow>& rows) {
  std::map<Key, std::vector<MeasuredTrial>> groups;
  for (const auto& together : rows) {
    if (!together.together) continue;
    const auto alone = std::ranges::find_if(rows, [&](const CopyContentionRow& row) {
      return !row.together && partner_key(row) == partner_key(together);
    });
    if (alone == rows.end()) continue;
    groups[{together.transport, together.ranks, together.copy}].push_back(
        {{alone->copy_time, together.copies, alone->collective_time, together.collectives},
         {together.copy_time * together.copies, together.collective_time * together.collectives}});
  }
  std::vector<BesideCopies> fitted;
  for (const auto& [key, trials] : groups) fitted.push_back(fit_group(key, trials));
  return fitted;
}

}  // namespace gradway
