// SPDX-License-Identifier: Apache-2.0
#include "sim/report/format/provenance_words.hpp"

#include <algorithm>

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

}  // namespace gradway::report
