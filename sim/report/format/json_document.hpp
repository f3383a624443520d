// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "sim/base/problem.hpp"

namespace gradway::report {

/// JSON as text, on one line or indented. Bytes that are not UTF-8 (possible in names of files, and in
/// arguments of the command line) are replaced, so that they do not prevent a report.
template <class Json>
std::string serialized(const Json& json, int indent = -1) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

/// A JSON document as a value. Copies share it. It is null by default.
class JsonDocument {
 public:
  JsonDocument();
  JsonDocument(nlohmann::ordered_json json);

  const nlohmann::ordered_json& json() const { return *json_; }

 private:
  std::shared_ptr<const nlohmann::ordered_json> json_;
};

/// The document, indented by two spaces per level.
std::string text_of(const JsonDocument& document);
/// Writes the same, and a line break.
void write(std::ostream& out, const JsonDocument& document);

/// Writes errors in the user's input as one document: a list of objects with `file`, `line`, `column` and
/// `length` (0: none), `text` (the line), `message`, `notes` and `hint`.
void write_json(std::ostream& out, const std::vector<Problem>& problems);

}  // namespace gradway::report
