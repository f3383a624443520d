// SPDX-License-Identifier: Apache-2.0
#include "sim/fit/adapt.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "sim/base/problem.hpp"
#include "sim/cost/calibration_words.hpp"
#include "sim/cost/nccl_model.hpp"
#include "sim/fit/collective_tables.hpp"
#include "sim/fit/links.hpp"
#include "sim/fit/robust_line.hpp"
#include "sim/fit/scales.hpp"

namespace gradway {
namespace {

/// Tables that are scaled alike: transport, ranks and nodes.
using Wires = std::tuple<Transport, int, int>;
/// Rows that are doubted alike: transport, and whether they were taken between nodes.
using Kind = std::pair<Transport, bool>;

Wires wires_of(const auto& row_or_table) {
  return {row_or_table.transport, row_or_table.ranks, row_or_table.nodes};
}

Kind kind_of(const Wires& wires) {
  return {std::get<0>(wires), std::get<2>(wires) > 1};
}

std::string name_of_wires(const Wires& wires) {
  const auto& [transport, ranks, nodes] = wires;
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

[[noreturn]] void cannot_adapt(std::string what, std::string hint) {
  throw ConfigError{Problem{{}, std::move(what), {}, std::move(hint)}};
}

class Adapting {
 public:
  Adapting(const Calibration& calibration, const Samples& samples) : from_{calibration} {
    result_.calibration = calibration;
    sort_collectives(samples.collectives);
    sort_copies(samples);
  }

  Adapted run() {
    if (collectives_.empty() && copies_.empty()) {
      cannot_adapt(
          fmt::format("the samples hold no row that calibration '{}' has a table or a link for", from_.name),
          "'gradway-probe --adapt' measures collectives and copies; 'gradway show calibration' tells which "
          "the calibration has");
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
      collectives_[wires_of(row)].push_back({gradway::split_time(*table, row.size), row.time});
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
        from_.links, [&](const LinkRate& one) { return one.role == role && one.gpus == gpus; });
    if (link == from_.links.end()) {
      ++result_.left_out;
      return;
    }
    copies_[link - from_.links.begin()].push_back({split_time(*link, size), time});
  }

  /// @return what is told of the part, with the scales checked
  AdaptedPart part_of(std::string what, const Rows& rows, const Scales& scales) const {
    constexpr double most = 4;  // TCP, which differs most, differs by a factor of 1.9 on our machines
    for (const auto scale : {scales.fixed, scales.moving}) {
      if (scale <= most && scale >= 1 / most) continue;
      cannot_adapt(
          fmt::format("{}: the rows take {:.3g} times as long as calibration '{}' says", what, scale,
                      from_.name),
          "that is another kind of machine, or something else ran on it: 'gradway calibrate fit' makes a "
          "calibration of its own");
    }
    AdaptedPart part{.what = std::move(what),
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
    std::map<Wires, AdaptedPart> told;
    for (const auto& [wires, rows] : collectives_) {
      auto& part = told.emplace(wires, part_of(name_of_wires(wires), rows, fit_scales(rows))).first->second;
      const auto left_out = errors_left_out(rows);
      part.after = fit_error(left_out);
      auto& all = of_kind[kind_of(wires)];
      all.insert(all.end(), rows.begin(), rows.end());
      auto& all_errors = errors[kind_of(wires)];
      all_errors.insert(all_errors.end(), left_out.begin(), left_out.end());
    }
    for (auto& [wires, part] : told) part.uncertainty = nine_of_ten_within(errors[kind_of(wires)]);
    for (auto& table : result_.calibration.tables) {
      const auto wires = wires_of(table);
      const auto like = of_kind.find(kind_of(wires));
      if (like == of_kind.end()) continue;
      if (!told.contains(wires)) {
        auto part = part_of(name_of_wires(wires), {}, fit_scales(like->second));
        told.emplace(wires, std::move(part));
      }
      scale(table, told.at(wires));
    }
    for (auto& [wires, part] : told) parts.push_back(std::move(part));
  }

  static void scale(CollectiveTable& table, const AdaptedPart& part) {
    const auto before = table;
    const Scales scales{part.fixed, part.moving};
    Seconds longest{};  // the parts of two sizes may be scaled apart: times still do not fall
    for (auto& point : table.points) {
      longest = std::max(longest, scales.of(gradway::split_time(before, point.size)));
      point.time = longest;
    }
    table.latency = table.points.front().time;
    table.bandwidth = table.points.back().size / table.points.back().time;
    table.uncertainty = part.uncertainty;
    // What was said of the other machine's samples.
    table.residual.reset();
    table.residual_with_outliers.reset();
    table.spread.reset();
    table.outliers.clear();
  }

  void adapt_links(std::vector<AdaptedPart>& parts) {
    for (const auto& [place, rows] : copies_) {
      auto& link = result_.calibration.links[static_cast<std::size_t>(place)];
      auto part = part_of(name_of_link(link), rows, fit_scales(rows));
      const auto left_out = errors_left_out(rows);
      part.after = fit_error(left_out);
      part.uncertainty = nine_of_ten_within(left_out);
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
  std::map<Wires, Rows> collectives_;
  std::map<std::ptrdiff_t, Rows> copies_;  ///< by the place of their link
};

}  // namespace

Adapted adapt(const Calibration& calibration, const Samples& samples, const CalibrationTitle& title) {
  if (!calibration.collectives.empty() || (calibration.tables.empty() && calibration.links.empty())) {
    cannot_adapt(fmt::format("calibration '{}' has {}", calibration.name,
                             calibration.collectives.empty()
                                 ? "neither tables nor links: there is nothing to scale"
                                 : "single collectives, not tables by size: there is nothing to scale"),
                 "make one of the samples: 'gradway calibrate fit'");
  }
  auto adapted = Adapting{calibration, samples}.run();
  auto& result = adapted.calibration;
  result.source = title.source;
  result.date = title.date;
  result.samples = samples.origin;
  result.holdout_errors.clear();
  return adapted;
}

}  // namespace gradway
