// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/config/yaml/reader.hpp"
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

}  // namespace gradway::config
