// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

#include "sim/base/units.hpp"

namespace gradway {

/// Lossless compression of stored samples.
struct Codec {
  std::string_view name;
  double ratio = 1;               ///< uncompressed over compressed size of compressible data
  BytesPerSecond decompressed{};  ///< uncompressed bytes per second that one core produces
  BytesPerSecond compressed{};    ///< uncompressed bytes per second that one core takes
};

/// The rows of codecs.txt, with the source of the figures.
std::span<const Codec> codecs();
/// Their names, in the same order.
std::span<const std::string_view> codec_names();

}  // namespace gradway
