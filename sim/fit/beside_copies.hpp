// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sim/samples/samples.hpp"

namespace gradway {

/// What copies to or from a GPU and all-reduces cost each other, by transport, ranks and direction: the
/// slow-downs with which all experiments end as they were measured. For people: a prediction shares links
/// instead, in which a copy engine has a weight (sim/platform/host_copy.hpp).
std::vector<BesideCopies> fit_beside_copies(const std::vector<CopyContentionRow>& rows);

}  // namespace gradway
