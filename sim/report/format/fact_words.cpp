// SPDX-License-Identifier: Apache-2.0
#include "sim/report/format/fact_words.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace gradway::report {
namespace {

/// "compute: roofline"
std::string headed(const std::string& subject, const std::string& statement) {
  return subject.empty() ? statement : fmt::format("{}: {}", subject, statement);
}

}  // namespace

std::string describe(const ProvenanceFact& fact) {
  return headed(fact.subject, fact.statement) + fact.remark;
}

std::vector<std::string> describe(const std::vector<ProvenanceFact>& facts) {
  std::vector<std::string> lines;
  lines.reserve(facts.size());
  for (const auto& fact : facts) lines.push_back(describe(fact));
  return lines;
}

std::vector<std::string> provenance_in_short(const std::vector<ProvenanceFact>& facts) {
  std::vector<ProvenanceFact> statements;
  for (const auto& fact : facts) {
    if (fact.statement.empty()) continue;
    const auto same = std::ranges::find(statements, fact.statement, &ProvenanceFact::statement);
    if (same == statements.end()) {
      statements.push_back(fact);
    } else if (!fact.subject.empty() && same->subject != fact.subject) {
      same->subject += ", " + fact.subject;
    }
  }
  std::vector<std::string> lines;
  lines.reserve(statements.size());
  for (const auto& fact : statements) lines.push_back(headed(fact.subject, fact.statement));
  return lines;
}

std::vector<std::string> describe(const std::vector<Warning>& warnings) {
  std::vector<std::string> lines;
  lines.reserve(warnings.size());
  for (const auto& warning : warnings) lines.push_back(warning.sentence);
  return lines;
}

std::vector<std::string_view> codes_of(const std::vector<Warning>& warnings) {
  std::vector<std::string_view> codes;
  codes.reserve(warnings.size());
  for (const auto& warning : warnings) codes.push_back(warning.code);
  return codes;
}

std::vector<std::string> with_codes(const std::vector<Warning>& warnings) {
  std::vector<std::string> lines;
  lines.reserve(warnings.size());
  for (const auto& warning : warnings)
    lines.push_back(fmt::format("{} [{}]", warning.sentence, warning.code));
  return lines;
}

bool is_extrapolation(const Warning& warning) {
  constexpr std::array<std::string_view, 3> codes{"extrapolated-collectives", "contention-not-measured",
                                                  "extrapolated-contention"};
  return std::ranges::find(codes, warning.code) != codes.end();
}

}  // namespace gradway::report
