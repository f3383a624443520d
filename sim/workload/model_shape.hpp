// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <variant>

#include "sim/workload/architectures.hpp"
#include "sim/workload/decoder.hpp"

namespace gradway {

/// The sizes of an architecture that PyTorch code can be written for; empty for other kinds of models.
using ModelShape =
    std::variant<std::monostate, DecoderShape, VisionTransformerShape, ResidualShape, ConvNextShape>;

}  // namespace gradway
