// SPDX-License-Identifier: Apache-2.0
#include "sim/report/csv.hpp"

namespace gradway::report {

std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string cell = "\"";
  for (const auto c : text) cell += c == '"' ? std::string{"\"\""} : std::string{c};
  return cell + "\"";
}

}  // namespace gradway::report
