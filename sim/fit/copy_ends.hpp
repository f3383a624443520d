// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace gradway {

class JsonRow;

/// From where to where a copy goes; an end without a GPU is host memory.
struct CopyEnds {
  std::optional<int> from;
  std::optional<int> to;

  bool operator==(const CopyEnds&) const = default;
};

/// The 'gpus' of a copy, `[0]` or `[0, 1]`; empty without the key. @throws ConfigError if it is no such list
std::vector<int> read_copy_gpus(const JsonRow& row);

/// The 'copies' of a pattern, `[["host", 0], [0, 1]]`; empty without the key.
/// @param count how many there must be. @throws ConfigError if it is no such list
std::vector<CopyEnds> read_copy_ends(const JsonRow& row, std::size_t count);

}  // namespace gradway
