// SPDX-License-Identifier: Apache-2.0
#include "sim/cost/codecs.hpp"

#include <array>

namespace gradway {
namespace {

constexpr std::array known{
    Codec{"lz4", 2.101, BytesPerSecond{4000e6}}, Codec{"snappy", 2.073, BytesPerSecond{1660e6}},
    Codec{"zstd", 2.887, BytesPerSecond{1580e6}}, Codec{"zlib", 2.743, BytesPerSecond{400e6}}};

}  // namespace

std::span<const Codec> codecs() {
  return known;
}

}  // namespace gradway
