// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "observe/hang/hang_report.hpp"
#include "sim/base/contract.hpp"
#include "sim/base/rows.hpp"
#include "sim/base/text.hpp"
#include "sim/report/format/text.hpp"

namespace gradway {

namespace tables {
extern const std::string_view remedies;
}

std::string remedy_text(std::string_view name) {
  for (const auto& row : rows_in(tables::remedies))
    if (row.word(0) == name) return std::string{row.word(1)};
  expects(false, "the remedy has a row");
  return {};
}

std::string_view name_of(HangVerdict verdict) {
  constexpr std::array<std::string_view, 4> names{"running", "undecided", "hung", "failed"};
  return names[static_cast<std::size_t>(verdict)];
}

std::string_view name_of(HangKind kind) {
  constexpr std::array<std::string_view, 14> names{
      "died",       "never_joined", "not_called", "left_out",   "other_call", "other_order", "other_sizes",
      "other_type", "wrong_group",  "crossed",    "gpu_behind", "error",      "ahead",       "elsewhere"};
  return names[static_cast<std::size_t>(kind)];
}

std::string ranks_text(const std::vector<int>& ranks, int world) {
  if (world > 2 && static_cast<int>(ranks.size()) == world) return fmt::format("all {} ranks", world);
  constexpr std::size_t most_parts = 8;
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < ranks.size();) {
    auto end = i + 1;
    while (end < ranks.size() && ranks[end] == ranks[end - 1] + 1) ++end;
    if (parts.size() == most_parts) {
      parts.push_back(report::counted_text(ranks.size() - i, "other"));
      break;
    }
    if (end - i > 2) {
      parts.push_back(fmt::format("{} to {}", ranks[i], ranks[end - 1]));
      i = end;
    } else {
      parts.push_back(fmt::format("{}", ranks[i++]));
    }
  }
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (std::size_t i = 0; i < parts.size(); ++i)
    text += (i == 0 ? "" : i + 1 == parts.size() ? " and " : ", ") + parts[i];
  return text;
}

std::string place_text(const CodePlace& place) {
  return fmt::format("{}:{}{}", place.file, place.line,
                     place.function.empty() ? "" : fmt::format(" ({})", place.function));
}

std::string call_text(const CallFacts& call, int world) {
  auto text = call.operation;
  if (call.sequence > 0) text += fmt::format(" #{}", call.sequence);
  if (!call.members.empty()) {
    text += " of " + ranks_text(call.members, world);
  } else if (!call.group.empty()) {
    text += " of " + call.group;
  }
  if (!call.sizes.empty())
    text += fmt::format(", {}{}{}", call.sizes == "[]" ? "one" : call.sizes, call.type.empty() ? "" : " ",
                        call.type);
  if (call.bytes > Bytes{0}) text += fmt::format(" ({})", report::bytes_text(call.bytes));
  return text;
}

namespace {

double bytes_of_type(std::string_view type) {
  const auto name = lower_case(type);
  if (contains(name, "double") || contains(name, "long") || contains(name, "complexfloat")) return 8;
  if (contains(name, "bfloat16") || contains(name, "half") || contains(name, "short")) return 2;
  if (contains(name, "float8") || contains(name, "char") || contains(name, "byte") || contains(name, "bool"))
    return 1;
  return contains(name, "float") || contains(name, "int") ? 4 : 0;
}

}  // namespace

CallFacts facts_of(const HangEvidence& evidence, const RecordedCall& call) {
  const auto& kind = evidence.kinds[call.kind];
  const auto& group = evidence.groups[kind.group];
  CallFacts facts;
  facts.operation =
      kind.peer < 0 ? kind.operation
                    : fmt::format("{} {} rank {}", kind.operation, kind.is_send() ? "to" : "from", kind.peer);
  facts.members = group.ranks;
  std::ranges::sort(facts.members);
  facts.group = group.name;
  facts.sequence = call.sequence;
  facts.sizes = kind.input_sizes;
  facts.type = kind.type;
  // Of an all-gather the result counts, as in nccl-tests.
  const auto elements = contains(kind.operation, "all_gather") ? kind.output : kind.input;
  facts.bytes = Bytes{static_cast<double>(elements) * bytes_of_type(kind.type)};
  facts.place = kind.place;
  return facts;
}

}  // namespace gradway
