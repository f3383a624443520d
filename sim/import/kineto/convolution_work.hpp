// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "sim/import/kineto/operation_work.hpp"

namespace gradway {

/// Of PyTorch's convolutions and their backward pass; nothing for any other operation. See `work_of`. Without
/// the values of the arguments (stride, padding) the size of a result is not known, nor is the work.
std::optional<OperationWork> convolution_work(const Signature& signature);

}  // namespace gradway
