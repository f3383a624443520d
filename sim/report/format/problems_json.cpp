// SPDX-License-Identifier: Apache-2.0
#include "sim/report/format/problems_json.hpp"

#include <nlohmann/json.hpp>

namespace gradway::report {
namespace {

using Json = nlohmann::ordered_json;

Json said_of(const Where& where, const std::string& message) {
  return {{"message", message},     {"file", where.file},     {"line", where.line},
          {"column", where.column}, {"length", where.length}, {"text", where.text}};
}

}  // namespace

void write_json(std::ostream& out, const std::vector<Problem>& problems) {
  auto all = Json::array();
  for (const auto& problem : problems) {
    auto& one = all.emplace_back(said_of(problem.where, problem.what));
    one["hint"] = problem.hint;
    one["notes"] = Json::array();
    for (const auto& note : problem.notes) one["notes"].push_back(said_of(note.where, note.what));
  }
  out << all.dump();
}

}  // namespace gradway::report
