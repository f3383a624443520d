// SPDX-License-Identifier: Apache-2.0
#include "observe/diagnose/cause_words.hpp"

#include <array>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/contract.hpp"
#include "sim/base/rows.hpp"
#include "sim/report/format/text.hpp"

namespace gradway::tables {
extern const std::string_view causes;
}

namespace gradway::report {
namespace {

std::string collective_text(const RunCause& cause, const std::string& platform) {
  auto text = fmt::format("The fastest {} of {} takes {}; {} are expected on {}.", cause.example,
                          bytes_text(Bytes{cause.bytes.value_or(0)}), time_text(cause.measured),
                          time_text(cause.expected), platform);
  if (cause.expected_channels > 0)
    text += fmt::format(" It has {}, {} are expected.",
                        counted_text(static_cast<std::int64_t>(cause.found_channels), "channel"),
                        cause.expected_channels);
  return text;
}

std::string place_text(const RunCause& cause) {
  if (cause.example.empty()) return cause.next.empty() ? "" : fmt::format(" before {}", cause.next);
  if (cause.next.empty()) return fmt::format(" after {}", cause.example);
  return fmt::format(" between {} and {}", cause.example, cause.next);
}

/// "88.4 ms per step", "on average" if not in each.
std::string per_step(const RunCause& cause) {
  return fmt::format("{} per step{}", time_text(cause.measured),
                     cause.is_sporadic ? " on average, but not in each step" : "");
}

std::string kernel_evidence(const RunCause& cause) {
  if (cause.example.empty()) return "";
  constexpr std::size_t width = 60;
  return fmt::format(" Example: {} takes {} instead of {} (stream {}).", shorten(cause.example, width),
                     time_text(cause.measured), time_text(cause.expected), cause.stream);
}

const TextRow& row_of(CauseKind kind) {
  static const auto rows = rows_in(tables::causes);
  expects(rows.size() == cause_kinds, "each kind of causes has a row");
  return rows[static_cast<std::size_t>(kind)];
}

}  // namespace

std::string_view key_of(CauseKind kind) {
  return row_of(kind).word(0);
}

std::string_view name_of(Confidence confidence) {
  constexpr std::array<std::string_view, 3> names{"low", "medium", "high"};
  return names[static_cast<std::size_t>(confidence)];
}

std::string_view name_of(WorkClass work) {
  constexpr std::array<std::string_view, work_classes> names{
      "matrix products", "attention",   "normalization", "elementwise, other",
      "optimizer",       "collectives", "copies to GPU", "copies to host"};
  return names[static_cast<std::size_t>(work)];
}

std::string ranks_text(const RunCause& cause, int ranks) {
  if (ranks < 2) return "";
  if (cause.ranks.empty()) return "on all ranks";
  return fmt::format("on rank{} {}", cause.ranks.size() == 1 ? "" : "s", fmt::join(cause.ranks, ", "));
}

std::string cause_text(const RunCause& cause, const std::string& platform) {
  const auto doubtful = row_of(cause.kind).value("doubtful");
  const bool is_doubtful = cause.confidence == Confidence::low && !doubtful.empty();
  const auto text = is_doubtful ? doubtful : row_of(cause.kind).value("text");
  return fmt::format(
      fmt::runtime(text), fmt::arg("way", cause.way ? facts_of(*cause.way).words : "slower"),
      fmt::arg("usual_way",
               cause.expected_transport == Transport::p2p ? "directly between GPUs (P2P)" : "as expected"),
      fmt::arg("collective", collective_text(cause, platform)), fmt::arg("per_step", per_step(cause)),
      fmt::arg("place", place_text(cause)), fmt::arg("bytes", bytes_text(Bytes{cause.bytes.value_or(0)})),
      fmt::arg("events", digits_text(cause.events, 3)),
      fmt::arg("collectives", counted_text(std::lround(cause.events), "collective")),
      fmt::arg("read", cause.example.empty() ? " (synchronisation)"
                                             : fmt::format(" to read a value ({})", cause.example)),
      fmt::arg("measured", time_text(cause.measured)), fmt::arg("expected", time_text(cause.expected)),
      fmt::arg("arithmetic", fmt::format("{:.2f}", cause.arithmetic_ratio)),
      fmt::arg("memory", fmt::format("{:.2f}", cause.memory_ratio)),
      fmt::arg("share", percent_text(cause.arithmetic_ratio)),
      fmt::arg("precision", cause.precision == Precision::fp32 ? "fp32, without tensor cores" : "TF32"),
      fmt::arg("kernel", kernel_evidence(cause)));
}

std::string_view remedy_text(const RunCause& cause) {
  return row_of(cause.kind).value("try");
}

}  // namespace gradway::report
