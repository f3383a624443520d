// SPDX-License-Identifier: Apache-2.0
#include "sim/base/contract.hpp"

#include <fmt/format.h>

namespace gradway {

void violate(const char* message, const std::source_location& place) {
  throw ContractViolation{fmt::format("{} ({}:{})", message, place.function_name(), place.line())};
}

}  // namespace gradway
