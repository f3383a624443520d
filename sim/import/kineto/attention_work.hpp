// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "sim/import/kineto/operation_work.hpp"

namespace gradway {

/// Of PyTorch's fused attention operations; nothing for any other operation. See `work_of`.
std::optional<OperationWork> attention_work(const Signature& signature);

}  // namespace gradway
