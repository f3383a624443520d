// SPDX-License-Identifier: Apache-2.0
#include "readers/fit/adapt.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "readers/fit/collective_tables.hpp"
#include "readers/fit/links.hpp"
#include "readers/fit/robust_line.hpp"
#include "readers/fit/scales.hpp"
#include "sim/base/problem.hpp"
#include "sim/cost/calibration_words.hpp"
#include "sim/cost/nccl_model.hpp"

namespace gradway {
namespace {

/// Tables with common scale factors: transport, ranks and nodes.
using TableGroup = std::tuple<Transport, int, int>;
/// Rows with a common uncertainty: transport, and whether they were measured between nodes.
using Kind = std::pair<Transport, bool>;

TableGroup group_of_table(const auto& row_or_table) {
  return {row_or_table.transport, row_or_table.ranks, row_or_table.nodes};
}

Kind kind_of(const TableGroup& group) {
  return {std::get<0>(group), std::get<2>(group) > 1};
}

std::string name_of_group(const TableGroup& group) {
  const auto& [transport, ranks, nodes] = group;
  return fmt::format("{} on {} ranks{}", name_of(transport), ranks,
                     nodes > 1 ? fmt::format(" of {} nodes", nodes) : "");
}

std::string name_of_link(const LinkRate& link) {
  const auto role = calibration_words::links[static_cast<std::size_t>(link.role)];
  return link.gpus > 1 ? fmt::format("copies {} of {} GPUs", role, link.gpus)
                       : fmt::format("copies {}", role);
}

SplitTime split_time(const LinkRate& link, Bytes size) {
  return {link.latency, size / link.bandwidth};
}

class Adapter {
 public:
  Adapter(const Calibration& calibration, const Samples& samples) : from_{calibration} {
    result_.calibration = calibration;
    sort_collectives(samples.collectives);
    sort_copies(samples);
  }

  Adapted run() {
    if (collectives_.empty() && copies_.empty()) {
      refuse(
          fmt::format("the samples contain no row for a table or a link of calibration '{}'", from_.name),
          "'gradway-probe --adapt' measures collectives and copies; 'gradway show calibration' lists those "
          "of the calibration");
    }
    auto& adaptation = result_.calibration.adapted.emplace();
    adaptation.from = from_.name;
    adaptation.digest = from_.samples ? from_.samples->digest : "";
    adapt_tables(adaptation.parts);
    adapt_links(adaptation.parts);
    return std::move(result_);
  }

 private:
  using Rows = std::vector<ScaledRow>;

  void sort_collectives(const std::vector<CollectiveRow>& rows) {
    for (const auto& row : rows) {
      const auto table = std::ranges::find(from_.tables, key_of(row), key_of<CollectiveTable>);
      if (table == from_.tables.end() || row.size < table->points.front().size ||
          row.size > table->points.back().size) {
        ++result_.left_out;
        continue;
      }
      collectives_[group_of_table(row)].push_back({gradway::split_time(*table, row.size), row.time});
    }
  }

  void sort_copies(const Samples& samples) {
    for (const auto& row : samples.copies) add_copy(row.role, 1, row.size, row.time);
    for (const auto& link : fit_links(samples)) {
      if (link.role == LinkRole::host_memory)
        add_copy(link.role, link.gpus, link.largest, link.largest / link.bandwidth);
    }
  }

  void add_copy(LinkRole role, int gpus, Bytes size, Seconds time) {
    const auto link = std::ranges::find_if(
        from_.links, [&](const LinkRate& rate) { return rate.role == role && rate.gpus == gpus; });
    if (link == from_.links.end()) {
      ++result_.left_out;
      return;
    }
    copies_[link - from_.links.begin()].push_back({split_time(*link, size), time});
  }

  /// @return the record of a part, with checked scales
  AdaptedPart part_of(std::string name, const Rows& rows, const Scales& scales) const {
    constexpr double most = 4;  // The largest difference between our machines is a factor of 1.9, for TCP.
    for (const auto scale : {scales.fixed, scales.moving}) {
      if (scale <= most && scale >= 1 / most) continue;
      refuse(fmt::format("{}: the rows take {:.3g} times as long as in calibration '{}'", name, scale,
                         from_.name),
             "this is another kind of machine, or it was not idle: make a separate calibration with "
             "'gradway calibrate fit'");
    }
    AdaptedPart part{.what = std::move(name),
                     .rows = static_cast<int>(rows.size()),
                     .fixed = scales.fixed,
                     .moving = scales.moving,
                     .before = {},
                     .after = {},
                     .uncertainty = {}};
    std::vector<double> before;
    for (const auto& row : rows) before.push_back(row.calibrated.sum() / row.measured - 1);
    part.before = fit_error(std::move(before));
    return part;
  }

  void adapt_tables(std::vector<AdaptedPart>& parts) {
    std::map<Kind, Rows> of_kind;
    std::map<Kind, std::vector<double>> errors;
    std::map<TableGroup, AdaptedPart> parts_by_group;
    for (const auto& [group, rows] : collectives_) {
      auto& part =
          parts_by_group.emplace(group, part_of(name_of_group(group), rows, fit_scales(rows))).first->second;
      const auto left_out = leave_one_out_errors(rows);
      part.after = fit_error(left_out);
      auto& kind_rows = of_kind[kind_of(group)];
      kind_rows.insert(kind_rows.end(), rows.begin(), rows.end());
      auto& all_errors = errors[kind_of(group)];
      all_errors.insert(all_errors.end(), left_out.begin(), left_out.end());
    }
    for (auto& [group, part] : parts_by_group) part.uncertainty = bound_of_90_percent(errors[kind_of(group)]);
    for (auto& table : result_.calibration.tables) {
      const auto group = group_of_table(table);
      const auto like = of_kind.find(kind_of(group));
      if (like == of_kind.end()) continue;
      if (!parts_by_group.contains(group)) {
        auto part = part_of(name_of_group(group), {}, fit_scales(like->second));
        parts_by_group.emplace(group, std::move(part));
      }
      scale(table, parts_by_group.at(group));
    }
    for (auto& [group, part] : parts_by_group) parts.push_back(std::move(part));
  }

  static void scale(CollectiveTable& table, const AdaptedPart& part) {
    const auto before = table;
    const Scales scales{part.fixed, part.moving};
    Seconds longest{};  // Different scales of two sizes must not make times fall.
    for (auto& point : table.points) {
      longest = std::max(longest, scales.of(gradway::split_time(before, point.size)));
      point.time = longest;
    }
    table.latency = table.points.front().time;
    table.bandwidth = table.points.back().size / table.points.back().time;
    table.uncertainty = part.uncertainty;
    // These describe the samples of the other machine.
    table.residual.reset();
    table.residual_with_outliers.reset();
    table.spread.reset();
    table.outliers.clear();
  }

  void adapt_links(std::vector<AdaptedPart>& parts) {
    for (const auto& [place, rows] : copies_) {
      auto& link = result_.calibration.links[static_cast<std::size_t>(place)];
      auto part = part_of(name_of_link(link), rows, fit_scales(rows));
      const auto left_out = leave_one_out_errors(rows);
      part.after = fit_error(left_out);
      part.uncertainty = bound_of_90_percent(left_out);
      link.latency = link.latency * part.fixed;
      link.bandwidth = link.bandwidth / part.moving;
      link.least.reset();
      link.most.reset();
      link.fitted = {};
      parts.push_back(std::move(part));
    }
  }

  const Calibration& from_;
  Adapted result_;
  std::map<TableGroup, Rows> collectives_;
  std::map<std::ptrdiff_t, Rows> copies_;  ///< By the index of their link.
};

}  // namespace

Adapted adapt(const Calibration& calibration, const Samples& samples, const CalibrationTitle& title) {
  if (!calibration.collectives.empty() || (calibration.tables.empty() && calibration.links.empty())) {
    refuse(fmt::format("calibration '{}' has {}", calibration.name,
                       calibration.collectives.empty()
                           ? "neither tables nor links to scale"
                           : "single collectives instead of tables by size, which cannot be scaled"),
           "make a calibration from the samples with 'gradway calibrate fit'");
  }
  auto adapted = Adapter{calibration, samples}.run();
  auto& result = adapted.calibration;
  result.source = title.source;
  result.date = title.date;
  result.samples = samples.origin;
  result.holdout_errors.clear();
  return adapted;
}

}  // namespace gradway
