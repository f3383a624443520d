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

/// A JSON document as a value. Copies share it. It is null by default.
class JsonDocument {
 public:
  JsonDocument();
  JsonDocument(nlohmann::ordered_json json);

  const nlohmann::ordered_json& json() const { return *json_; }

 private:
  std::shared_ptr<const nlohmann::ordered_json> json_;
};

/// The document with two spaces a level. Bytes that are not UTF-8 (such as an argument of the command line)
/// are replaced, because they must not stop a report.
std::string text_of(const JsonDocument& document);
/// Writes the same, and a line break.
void write(std::ostream& out, const JsonDocument& document);

/// Writes what is wrong with the user's input as one document: a list of objects with `file`, `line`,
/// `column` and `length` (0: none), `text` (the line), `message`, `notes` and `hint`.
void write_json(std::ostream& out, const std::vector<Problem>& problems);

}  // namespace gradway::report
