// SPDX-License-Identifier: Apache-2.0
#include "sim/config/find/file_keys.hpp"

#include <algorithm>
#include <array>
#include <string>

#include <fmt/format.h>

#include "sim/scenario/catalogue/catalogue_fields.hpp"
#include "sim/scenario/field_tables.hpp"

namespace gradway::config {
namespace {

using FileKeys = std::vector<ScenarioKey>;

/// Adds the rows of a table, then those of its groups.
/// @param kind of model that has the keys; empty: all. A key that several kinds have alike is added once
void add_rows(FileKeys& keys, const std::string& group, const FieldTable& rows, std::string_view kind = {}) {
  const auto add = [&](ScenarioKey key) {
    const auto same = std::ranges::find_if(keys, [&](const ScenarioKey& known) {
      return known.name == key.name && known.meaning == key.meaning && known.value() == key.value();
    });
    if (same != keys.end()) return same->strategies.push_back(kind);
    if (!kind.empty()) key.strategies = {kind};
    key.is_required = key.is_required && (kind.empty() || !group.empty());  // else of this kind only
    keys.push_back(std::move(key));
  };
  for (const auto& row : rows) {
    add(key_of_row(group, row));
    const auto* errors = std::get_if<value::MedianAndWorst>(&row.kind);
    if (errors != nullptr) add({group + std::string{errors->worst}, row.kind, std::string{row.help}});
  }
  for (const auto& row : rows)
    if (row.access != nullptr && row.access->rows != nullptr)
      add_rows(keys, fmt::format("{}{}.", group, row.key), row.access->rows(), kind);
}

FileKeys keys_in(const FieldTable& rows) {
  FileKeys keys;
  add_rows(keys, "", rows);
  return keys;
}

template <class Settings>
FileKeys keys_of() {
  return keys_in(fields_of<Settings>());
}

FileKeys keys_of_prices() {
  return keys_in(price_list_fields());
}

FileKeys keys_of_model() {
  auto keys = keys_in(model_fields());
  for (const auto& [kind, rows] : model_kinds()) add_rows(keys, "", rows, kind);
  return keys;
}

constexpr std::array known_file_kinds{
    FileKind{"gpu", "A GPU of gradway", keys_of<Gpu>},
    FileKind{"platform", "A platform of gradway", keys_of<PlatformDescription>},
    FileKind{"model", "A model of gradway", keys_of_model},
    FileKind{"storage", "A storage tier of gradway", keys_of<StorageTier>},
    FileKind{"dataset", "A dataset of gradway", keys_of<Dataset>},
    FileKind{"prices", "Prices of platforms of gradway", keys_of_prices},
    FileKind{"calibration", "A calibration of gradway", keys_of<Calibration>}};

}  // namespace

std::span<const FileKind> file_kinds() {
  return known_file_kinds;
}

}  // namespace gradway::config
