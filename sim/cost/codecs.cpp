// SPDX-License-Identifier: Apache-2.0
#include "sim/cost/codecs.hpp"

namespace gradway {
namespace {

constexpr std::array known{Codec{codec_words[0], 2.101, BytesPerSecond{4000e6}, BytesPerSecond{700e6}},
                           Codec{codec_words[1], 2.073, BytesPerSecond{1660e6}, BytesPerSecond{530e6}},
                           Codec{codec_words[2], 2.887, BytesPerSecond{1580e6}, BytesPerSecond{510e6}},
                           Codec{codec_words[3], 2.743, BytesPerSecond{400e6}, BytesPerSecond{95e6}}};

}  // namespace

std::span<const Codec> codecs() {
  return known;
}

}  // namespace gradway
