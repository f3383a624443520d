// SPDX-License-Identifier: Apache-2.0
#include "readers/samples/sample_rows.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

namespace gradway {
namespace {

/// The text on one line.
std::string one_line(std::string text) {
  std::ranges::replace_if(
      text, [](char c) { return static_cast<unsigned char>(c) < 0x20; }, ' ');
  return text;
}

void add_remark(std::string remark, Samples& samples) {
  remark = one_line(std::move(remark));
  if (std::ranges::find(samples.remarks, remark) == samples.remarks.end())
    samples.remarks.push_back(std::move(remark));
}

void add_note(const JsonRow& row, Samples& samples) {
  add_remark(fmt::format("{} ({})", row.text("what"), row.text("section")), samples);
}

void add_failed(const JsonRow& row, Samples& samples) {
  add_remark(fmt::format("{} failed, its rows are missing: {}", row.text("section"), row.text("what")),
             samples);
}

/// @source calibration/SAMPLES.md: the measured time must be within 2 % or 2 us
void add_instrument(const JsonRow& row, Samples& samples) {
  const auto expected = row.time("expected_seconds");
  const auto measured = row.time("seconds");
  const Seconds off{std::abs((measured - expected).value())};
  if (off <= 2_us || off <= 0.02 * expected) return;
  add_remark(
      fmt::format(
          "a test kernel of {:.4g} us was measured as {:.4g} us: the times of this probe are unreliable",
          expected.value() * 1e6, measured.value() * 1e6),
      samples);
}

/// Reader for a row's 'kind'.
struct RowKind {
  std::string_view name;
  void (*add)(const JsonRow&, Samples&);
};

template <LinkRole role>
constexpr auto copy = [](const JsonRow& row, Samples& samples) { add_copy(row, role, samples); };
template <LaunchCost what>
constexpr auto cost = [](const JsonRow& row, Samples& samples) { add_launch(row, what, samples); };

constexpr std::array row_kinds{RowKind{"h2d_pinned", copy<LinkRole::to_gpu>},
                               RowKind{"d2h_pinned", copy<LinkRole::from_gpu>},
                               RowKind{"h2d_pageable", copy<LinkRole::pageable_to_gpu>},
                               RowKind{"d2h_pageable", copy<LinkRole::pageable_from_gpu>},
                               RowKind{"d2d_peer", copy<LinkRole::peer>},
                               RowKind{"d2d_same", copy<LinkRole::same_gpu>},
                               RowKind{"pattern", add_pattern},
                               RowKind{"gemm", add_product},
                               RowKind{"memory", add_memory},
                               RowKind{"optimizer", add_optimizer},
                               RowKind{"attention", add_attention},
                               RowKind{"kernel_time", add_kernel_time},
                               RowKind{"load", add_load},
                               RowKind{"host_memory", add_host_memory},
                               RowKind{"disk", add_disk},
                               RowKind{"launch", cost<LaunchCost::launch>},
                               RowKind{"kernel_gap", cost<LaunchCost::kernel_gap>},
                               RowKind{"launch_latency", cost<LaunchCost::launch_latency>},
                               RowKind{"sync", cost<LaunchCost::sync>},
                               RowKind{"event", cost<LaunchCost::event>},
                               RowKind{"eager_operation", cost<LaunchCost::operation>},
                               RowKind{"instrument", add_instrument},
                               RowKind{"note", add_note},
                               RowKind{"failed", add_failed},
                               RowKind{"node", add_node_row}};

}  // namespace

void add_sample_row(const JsonRow& row, Samples& samples) {
  if (row.has("kind")) {
    std::array<std::string_view, row_kinds.size()> names;
    std::ranges::transform(row_kinds, names.begin(), &RowKind::name);
    row_kinds[row.one_of("kind", "a kind of sample", names)].add(row, samples);
  } else if (row.has("op")) {
    add_collective_row(row, samples);
  } else {
    row.fail("the row has neither 'op' nor 'kind', so what was measured is unknown",
             "collectives have an 'op'; copies and kernels a 'kind'");
  }
  if (row.has("noisy") && row.boolean("noisy")) ++samples.noisy;
}

}  // namespace gradway
