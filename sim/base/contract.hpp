// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <source_location>
#include <stdexcept>
#include <string>

namespace gradway {

/// A bug in gradway: a condition was violated that no user input can violate. Exit status 1.
class ContractViolation : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

[[noreturn]] void violate(const char* message, const std::source_location& place);

/// Checks a precondition or an invariant.
/// @throws ContractViolation with the calling function and line if `condition` is false
inline void expects(bool condition, const char* message,
                    const std::source_location place = std::source_location::current()) {
  if (!condition) violate(message, place);
}

}  // namespace gradway
