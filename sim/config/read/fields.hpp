// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/config/yaml/reader.hpp"
#include "sim/scenario/catalogue/catalogue_fields.hpp"
#include "sim/scenario/field_tables.hpp"

namespace gradway::config {

/// Reads the keys of a table of fields from a map. Members of absent keys do not change, except that optional
/// ones become empty; those of invalid values become zero.
/// @param not_required a required key that is optional here
void read_fields(Reader& map, MutableRecord settings, std::string_view not_required = {});

/// Reads a group whose keys are all in the table of its settings.
template <class Settings>
Settings read_group(Reader group) {
  Settings result;
  read_fields(group, result);
  group.finish();
  return result;
}

inline constexpr auto is_complete = [](const Reader&, const auto&) {};

/// Reads a list of maps by their table. @param complete reads further keys of an entry, and checks it
template <class Settings, class Complete = decltype(is_complete)>
std::vector<Settings> read_groups(Reader& parent, std::string_view key,
                                  const Complete& complete = is_complete) {
  std::vector<Settings> groups;
  for (auto& entry : parent.maps(key)) {
    read_fields(entry, groups.emplace_back());
    complete(entry, groups.back());
    entry.finish();
  }
  return groups;
}

}  // namespace gradway::config
