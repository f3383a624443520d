// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "sim/config/read/model_parts.hpp"

namespace gradway::config {
namespace {

constexpr int most_rows = 2'000'000'000;
constexpr int most_tables = 100'000;
constexpr double dense_bytes = 4;  // fp32

/// One entry: tables of equal size.
void read_tables(Reader& entry, EmbeddingTables& tables) {
  const EmbeddingTable table{entry.required("rows", integer(1, most_rows)),
                             static_cast<double>(entry.optional("lookups", integer(1, most_tokens), 1))};
  const auto repeat = entry.optional("repeat", integer(1, most_tables), 1);
  entry.finish();
  if (entry.is_valid()) tables.tables.insert(tables.tables.end(), static_cast<std::size_t>(repeat), table);
}

}  // namespace

void read_recommender(Reader& file, Model& model) {
  RecommenderShape shape;
  read_fields(file, shape);
  shape.bottom = file.list("bottom", integer(1, widest));
  shape.top = file.list("top", integer(1, widest));
  if (!file.has("tables")) file.map("tables");
  for (auto& entry : file.maps("tables")) read_tables(entry, model.tables);
  for (const auto* key : {"bottom", "top"}) {
    const auto& widths = std::string_view{key} == "top" ? shape.top : shape.bottom;
    if (file.is_valid() && widths.empty())
      file.error(file.key_place(key), fmt::format("'{}' lists no layer", key),
                 fmt::format("list the widths of its linear layers, such as '{}: [512, 256, {}]'", key,
                             std::string_view{key} == "top" ? 1 : 128));
  }
  if (file.is_valid() && shape.top.back() != 1) {
    file.error(file.value_place("top"),
               fmt::format("the last layer of 'top' has {} outputs, but a recommendation model predicts one "
                           "number: the probability of a click",
                           shape.top.back()),
               "end the list with 1");
  }
  if (file.is_valid() && model.tables.empty())
    file.error(file.key_place("tables"), "a recommendation model requires at least one embedding table",
               "list entries such as '{ rows: 1000000, lookups: 10 }'");
  if (!file.is_valid()) return;
  shape.tables = static_cast<int>(model.tables.tables.size());
  model.tables.width = shape.bottom.back();
  set_forward_pass(model, recommender(shape));
  // Dense features and the indices of all lookups, with a start per table.
  model.input_per_sample =
      Bytes{dense_bytes * shape.dense_features + token_bytes * (model.tables.lookups() + shape.tables)};
}

}  // namespace gradway::config
