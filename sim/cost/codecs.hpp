// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
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

inline constexpr std::array<std::string_view, 4> codec_words{"lz4", "snappy", "zstd", "zlib"};

/// All codecs in the order of `codec_words`. Figures are for text and binaries (Silesia) on a desktop core of
/// 4.9 GHz. JPEG, video and random floats are not compressible.
/// @source README of facebook/zstd at 2dddf090 (zstd 1.5.6 at level 1, zlib 1.2.11, lz4 1.9.4, snappy 1.1.9,
///         i7-9700K). Higher levels of zstd decompress at the same rate
std::span<const Codec> codecs();

}  // namespace gradway
