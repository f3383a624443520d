// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <ostream>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "observe/acceptance/acceptance.hpp"
#include "sim/report/format/json_document.hpp"
#include "sim/report/format/table.hpp"
#include "sim/report/format/text.hpp"

namespace gradway::report {
namespace {

std::string_view word_of(AcceptanceVerdict verdict) {
  constexpr std::array<std::string_view, 3> words{"pass", "FAIL", "not measured"};
  return words[static_cast<std::size_t>(verdict)];
}

std::string verdict_text(const Acceptance& acceptance) {
  const auto count = [&](AcceptanceVerdict verdict) {
    return std::ranges::count(acceptance.checks, verdict, &AcceptanceCheck::verdict);
  };
  const auto failed = count(AcceptanceVerdict::fail);
  const auto judged = failed + count(AcceptanceVerdict::pass);
  return failed == 0 ? fmt::format("PASS: all of {} checks", judged)
                     : fmt::format("FAIL: {} of {} checks", failed, judged);
}

std::array<std::string, 6> cells_of(const AcceptanceCheck& check) {
  const bool is_measured = check.share > 0 || !check.measured.empty();
  return {check.name,
          check.part,
          check.measured.empty() ? "-" : check.measured,
          check.expected.empty() ? "-" : check.expected,
          is_measured ? fmt::format("{:.1f} of {:.0f} %", 100 * check.share, 100 * check.least) : "-",
          std::string{word_of(check.verdict)}};
}

constexpr std::array<std::string_view, 6> titles{"check", "slowest", "measured", "expected", "reached", ""};

std::string reason_of(const AcceptanceCheck& check) {
  if (check.share <= 0 && check.measured.empty())
    return fmt::format("{}: {}, but required", check.name, check.part);
  return fmt::format("{}: {} reached {:.1f} % of what is expected, at least {:.0f} % are demanded ({})",
                     check.name, check.part, 100 * check.share, 100 * check.least, check.source);
}

}  // namespace

void write_acceptance(std::ostream& out, const Acceptance& acceptance, const Style& style) {
  const auto row = [&](std::string_view name, const std::string& value) {
    constexpr std::size_t indent = 15;
    const auto lines = wrap(value, std::max<std::size_t>(style.width, 40) - indent);
    for (std::size_t i = 0; i < lines.size(); ++i)
      out << fmt::format("  {:<12} {}\n", i == 0 ? name : "", lines[i]);
  };
  row("node", acceptance.node.empty() ? "unknown" : acceptance.node);
  if (!acceptance.date.empty()) row("measured", acceptance.date);
  row("kind", acceptance.platform);
  row("verdict", verdict_text(acceptance));
  out << '\n';
  Table table{{{std::string{titles[0]}, Table::Align::left},
               {std::string{titles[1]}, Table::Align::left},
               {std::string{titles[2]}, Table::Align::right},
               {std::string{titles[3]}, Table::Align::right, 1},
               {std::string{titles[4]}, Table::Align::right},
               {std::string{titles[5]}, Table::Align::left}}};
  for (const auto& check : acceptance.checks) {
    const auto cells = cells_of(check);
    table.add({cells.begin(), cells.end()});
  }
  table.write(out, style, "  ");
  for (const auto& check : acceptance.checks) {
    if (check.verdict != AcceptanceVerdict::fail) continue;
    out << '\n';
    row("FAIL", reason_of(check));
    if (!check.advice.empty()) row("", "try: " + check.advice);
  }
}

void write_acceptance_markdown(std::ostream& out, const Acceptance& acceptance) {
  out << fmt::format("# Acceptance of a node: {}\n\n", acceptance.passes() ? "PASS" : "FAIL");
  out << fmt::format("Node: {}. Measured by gradway-probe{}. Compared with {}.\n\n{}.\n\n", acceptance.node,
                     acceptance.date.empty() ? "" : " on " + acceptance.date, acceptance.platform,
                     verdict_text(acceptance));
  out << "| check | slowest | measured | expected | reached | verdict |\n| --- | --- | --- | --- | --- | --- "
         "|\n";
  for (const auto& check : acceptance.checks) {
    out << '|';
    for (const auto& cell : cells_of(check)) out << fmt::format(" {} |", cell);
    out << '\n';
  }
  for (const auto& check : acceptance.checks)
    if (check.verdict == AcceptanceVerdict::fail)
      out << fmt::format("\n* {}.{}\n", reason_of(check),
                         check.advice.empty() ? "" : fmt::format(" Look at: {}.", check.advice));
  if (!acceptance.remarks.empty()) out << "\nRemarks of the probe:\n\n";
  for (const auto& remark : acceptance.remarks) out << fmt::format("* {}\n", remark);
  out << "\nLimits:\n\n";
  for (const auto& check : acceptance.checks)
    out << fmt::format("* {}: at least {:.0f} % of {}. {}.\n", check.name, 100 * check.least,
                       check.name == "demanded" ? check.expected : "what is expected", check.source);
}

void write_acceptance_json(std::ostream& out, const Acceptance& acceptance) {
  using Json = nlohmann::ordered_json;
  Json json{{"schema", 1},
            {"node", acceptance.node},
            {"platform", acceptance.platform},
            {"passes", acceptance.passes()}};
  auto& checks = json["checks"] = Json::array();
  for (const auto& check : acceptance.checks) {
    const bool is_judged = check.verdict != AcceptanceVerdict::unmeasured;
    checks.push_back({{"name", check.name},
                      {"what", check.part},
                      {"measured", check.measured},
                      {"expected", check.expected},
                      {"share", is_judged ? Json(check.share) : Json()},
                      {"least", check.least},
                      {"passes", is_judged ? Json(check.verdict == AcceptanceVerdict::pass) : Json()},
                      {"source", check.source}});
  }
  json["remarks"] = acceptance.remarks;
  write(out, JsonDocument{std::move(json)});
}

}  // namespace gradway::report
