// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace gradway {

enum class CollectiveKind : std::uint8_t { all_reduce, all_gather, reduce_scatter, broadcast, send_recv };

}  // namespace gradway
