// SPDX-License-Identifier: Apache-2.0
#include "sim/report/format/json_document.hpp"
#include "sim/report/show/show.hpp"

#include <ostream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/report/format/text.hpp"

namespace gradway::report {

void write_keys(std::ostream& out, std::span<const config::ScenarioKey> keys, const Style& style) {
  for (const auto& key : keys) {
    out << style.paint(Paint::bold, key.name) << ": " << key.value();
    if (key.is_required) out << "; required";
    if (!key.default_text.empty()) out << fmt::format("; {} if left out", key.default_text);
    out << '\n';
    for (const auto& line : wrap(key.help(), style.width - 4)) out << "    " << line << '\n';
  }
}

void write_keys_json(std::ostream& out, std::span<const config::ScenarioKey> keys) {
  using Json = nlohmann::ordered_json;
  auto list = Json::array();
  for (const auto& key : keys) {
    list.push_back({{"key", key.name},
                    {"value", key.value()},
                    {"required", key.is_required},
                    {"default", key.default_text.empty() ? Json{} : Json(key.default_text)},
                    {"set", key.is_settable},
                    {"meaning", key.help()}});
  }
  out << serialized(Json{{"schema", 1}, {"keys", std::move(list)}}, 2) << '\n';
}

}  // namespace gradway::report
