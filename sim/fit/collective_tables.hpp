// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <tuple>
#include <vector>

#include "sim/samples/samples.hpp"

namespace gradway {

/// What has a table of its own.
using CollectiveKey =
    std::tuple<Transport, CollectiveKind, std::optional<Algorithm>, std::optional<Protocol>, int, int>;

/// Of a row or of a table: transport, operation, algorithm, protocol, ranks and nodes.
template <class RowOrTable>
CollectiveKey key_of(const RowOrTable& it) {
  return {it.transport, it.kind, it.algorithm, it.protocol, it.ranks, it.nodes};
}

/// One table for each transport, operation, forced or free algorithm and protocol, and number of ranks and
/// nodes: outliers sifted out, the rest made monotone, and what that is worth: how far the samples are from
/// the table, how far each inner sample is from what a table without it says, and how far the repetitions
/// of a sample spread.
std::vector<CollectiveTable> fit_collectives(const std::vector<CollectiveRow>& rows);

}  // namespace gradway
