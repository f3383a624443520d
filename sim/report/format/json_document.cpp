// SPDX-License-Identifier: Apache-2.0
#include "sim/report/format/json_document.hpp"

#include <ostream>

#include <nlohmann/json.hpp>

namespace gradway::report {

using Json = nlohmann::ordered_json;

JsonDocument::JsonDocument() : JsonDocument{Json{}} {}
JsonDocument::JsonDocument(Json json) : json_{std::make_shared<const Json>(std::move(json))} {}

std::string text_of(const JsonDocument& document) {
  return document.json().dump(2, ' ', false, Json::error_handler_t::replace);
}

void write(std::ostream& out, const JsonDocument& document) {
  out << text_of(document) << '\n';
}

}  // namespace gradway::report
