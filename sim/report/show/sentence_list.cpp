// SPDX-License-Identifier: Apache-2.0
#include <ostream>

#include <nlohmann/json.hpp>

#include "sim/report/format/json_document.hpp"
#include "sim/report/show/lists.hpp"

namespace gradway::report {

void write_sentences_json(std::ostream& out, std::string_view kind,
                          const std::vector<ListedSentence>& listed) {
  using Json = nlohmann::ordered_json;
  auto list = Json::array();
  for (const auto& [name, sentence] : listed) list.push_back({{"name", name}, {"description", sentence}});
  out << serialized(Json{{"schema", 1}, {std::string{kind}, std::move(list)}}, 2) << '\n';
}

}  // namespace gradway::report
