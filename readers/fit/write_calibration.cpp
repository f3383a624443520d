// SPDX-License-Identifier: Apache-2.0
#include "readers/fit/write_calibration.hpp"

#include <ostream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "readers/fit/kernels.hpp"
#include "readers/fit/yaml_text.hpp"
#include "sim/base/contract.hpp"
#include "sim/cost/size_text.hpp"
#include "sim/scenario/catalogue/catalogue_fields.hpp"
#include "sim/scenario/value_text.hpp"

namespace gradway {
namespace {

/// Writes a value to four or five digits.
struct RoundedText {
  const FieldValue& held;

  std::string operator()(const value::Amount& kind) const {
    const auto amount = number_in(held);
    if (kind.unit == value::Unit::size) return size_text(Bytes{amount});
    if (kind.unit == value::Unit::bandwidth) return rate_text(BytesPerSecond{amount});
    if (kind.unit == value::Unit::compute_rate) return compute_text(FlopsPerSecond{amount});
    if (kind.unit == value::Unit::relative_error) return percent_text(amount);
    return time_text(Seconds{amount});
  }
  std::string operator()(const value::Ratio& kind) const {
    const int digits = kind.meaning == value::Ratio::Meaning::time_scale ? 5 : 4;
    return fmt::format("{:.{}g}", number_in(held), digits);
  }
  std::string operator()(const value::Text&) const { return quoted_text(std::get<std::string>(held)); }
  std::string operator()(const value::Names&) const {
    std::vector<std::string> quoted;
    for (const auto& name : std::get<std::vector<std::string>>(held)) quoted.push_back(quoted_text(name));
    return fmt::format("[{}]", fmt::join(quoted, ", "));
  }
  template <class Kind>
  std::string operator()(const Kind& kind) const {
    return value_text(kind, held);
  }
};

/// The keys of settings with their values, without those that have their defaults. A value of several lines
/// continues below `indent`.
std::vector<std::string> entries_of(const Record& settings, const std::string& indent);

std::string group_text(const Record& settings, const Field& field, const std::string& indent) {
  std::string text;
  const auto* list = std::get_if<value::Maps>(&field.kind);
  const auto inner = indent + (list != nullptr ? "    " : "  ");
  for (const auto& group : settings.groups(field)) {
    const auto entries = entries_of(group, inner);
    if (entries.empty()) continue;
    const bool is_flat = list != nullptr && list->on_one_line;
    text += fmt::format("\n{}  {}", indent, list != nullptr ? "- " : "");
    text += is_flat ? fmt::format("{{ {} }}", fmt::join(entries, ", "))
                    : fmt::format("{}", fmt::join(entries, "\n" + inner));
  }
  return text;
}

std::string rows_text(const NumberRows& rows, const std::string& indent) {
  std::string text = " |";
  for (const auto& row : rows)
    text += fmt::format("\n{}  {:<8}  {}", indent, size_text(Bytes{row[0]}), time_text(Seconds{row[1]}));
  return text;
}

std::vector<std::string> entries_of(const Record& settings, const std::string& indent) {
  std::vector<std::string> entries;
  const auto add = [&](std::string_view key, const std::string& text) {
    if (!text.empty()) entries.push_back(fmt::format("{}:{}", key, text));
  };
  for (const auto& field : settings.fields()) {
    if (field.is_group()) {
      add(field.key, group_text(settings, field, indent));
      continue;
    }
    if (field.access == nullptr || (!field.is_required && field.has_value() && settings.has_default(field)))
      continue;
    const auto held = settings.effective_value(field);
    const auto* rows = std::get_if<NumberRows>(&held);
    if (const auto* errors = std::get_if<value::MedianAndWorst>(&field.kind)) {
      add(field.key, " " + percent_text(rows->front()[0]));
      add(errors->worst, " " + percent_text(rows->front()[1]));
    } else if (rows != nullptr) {
      add(field.key, rows_text(*rows, indent));
    } else if (!gradway::is_empty(held) || !field.may_be_empty()) {
      add(field.key, " " + std::visit(RoundedText{held}, field.kind));
    }
  }
  return entries;
}

}  // namespace

void write_calibration_file(std::ostream& out, const Calibration& calibration) {
  expects(calibration.collectives.empty(), "a fit makes tables");
  out << fmt::format("schema: 1\n{}\n", fmt::join(entries_of(calibration, ""), "\n"));
  if (calibration.kernel_times) write_kernel_times(out, *calibration.kernel_times);
}

}  // namespace gradway
