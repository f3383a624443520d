// SPDX-License-Identifier: Apache-2.0
#include "sim/cost/codecs.hpp"

#include <vector>

#include "sim/base/rows.hpp"

namespace gradway {

namespace tables {
extern const std::string_view codecs;
}

std::span<const Codec> codecs() {
  static const auto read = [] {
    std::vector<Codec> known;
    for (const auto& row : rows_in(tables::codecs))
      known.push_back({row.word(0), row.real("ratio", 1), BytesPerSecond{row.real("decompressed", 0) * 1e6},
                       BytesPerSecond{row.real("compressed", 0) * 1e6}});
    return known;
  }();
  return read;
}

std::span<const std::string_view> codec_names() {
  static const auto names = [] {
    std::vector<std::string_view> words;
    for (const auto& codec : codecs()) words.push_back(codec.name);
    return words;
  }();
  return names;
}

}  // namespace gradway
