// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <span>
#include <string_view>

#include "sim/base/units.hpp"

namespace gradway {

/// How stored bytes are packed.
struct Codec {
  std::string_view name;
  double ratio = 1;               ///< plain bytes over packed ones, of data that can be packed
  BytesPerSecond decompressed{};  ///< plain bytes a second that one core makes of packed ones
};

inline constexpr std::array<std::string_view, 4> codec_words{"lz4", "snappy", "zstd", "zlib"};

/// In the order of the words. Of text and binaries (Silesia), on a desktop core of 4.9 GHz. JPEG, video and
/// random floats do not get smaller.
/// @source README of facebook/zstd at 2dddf090 (zstd 1.5.6 at level 1, zlib 1.2.11, lz4 1.9.4, snappy 1.1.9,
/// i7-9700K). Higher levels of zstd unpack as fast
std::span<const Codec> codecs();

}  // namespace gradway
