// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <source_location>
#include <stdexcept>
#include <string>

namespace gradway {

/// A bug in gradway: a condition that no input of a user can break was broken. Exit status 1.
class ContractViolation : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

[[noreturn]] void violate(const char* what, const std::source_location& place);

/// States what a function needs; throws ContractViolation with the place of the call if it does not hold.
inline void expects(bool condition, const char* what,
                    const std::source_location place = std::source_location::current()) {
  if (!condition) violate(what, place);
}

}  // namespace gradway
