// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <tuple>
#include <vector>

#include "readers/samples/samples.hpp"

namespace gradway {

/// Key of a table.
using CollectiveKey =
    std::tuple<Transport, CollectiveKind, std::optional<Algorithm>, std::optional<Protocol>, int, int>;

/// Key of a row or a table: transport, operation, algorithm, protocol, ranks and nodes.
template <class RowOrTable>
CollectiveKey key_of(const RowOrTable& entry) {
  return {entry.transport, entry.kind, entry.algorithm, entry.protocol, entry.ranks, entry.nodes};
}

/// Fits one table for each transport, operation, forced or free algorithm and protocol, and number of ranks
/// and nodes. Outliers are removed and the rest is made monotone. Each table has its errors: of the samples
/// against the table, of each inner sample against a table without it, and the spread of repetitions.
std::vector<CollectiveTable> fit_collectives(const std::vector<CollectiveRow>& rows);

}  // namespace gradway
