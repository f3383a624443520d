// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace gradway {

// Limits of model sizes.
inline constexpr int most_layers = 10000;
inline constexpr int widest = 1 << 20;
inline constexpr int largest_head = 4096;
inline constexpr int most_tokens = 1 << 24;
inline constexpr int largest_image = 16384;

}  // namespace gradway
