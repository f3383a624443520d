// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/config/yaml/reader.hpp"
#include "sim/config/yaml/scalars.hpp"

namespace gradway::config {

// Bounds of sizes of models.
inline constexpr int most_layers = 10000;
inline constexpr int widest = 1 << 20;
inline constexpr int most_tokens = 1 << 24;

inline constexpr double token_bytes = 8;  // PyTorch's token ids are int64

/// Reports that `part` does not divide `whole`, both keys of the file.
void check_divides(Reader& file, const char* part_key, int part, const char* whole_key, int whole);

/// What transformers of tokens have in common.
template <class Shape>
void read_blocks(Reader& file, Shape& shape) {
  shape.layers = file.required("layers", integer(1, most_layers));
  shape.heads = file.required("heads", integer(1, widest));
  shape.hidden = file.required("hidden", integer(1, widest));
  shape.vocabulary = file.required("vocabulary", integer(1, most_tokens));
  shape.sequence = file.required("sequence", integer(1, most_tokens));
}

}  // namespace gradway::config
