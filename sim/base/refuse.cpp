// SPDX-License-Identifier: Apache-2.0
#include "sim/base/refuse.hpp"

#include <utility>

namespace gradway {

void refuse_at(Where where, std::string problem, std::string hint) {
  throw ConfigError{Problem{std::move(where), std::move(problem), {}, std::move(hint)}};
}

void refuse(std::string problem, std::string hint) {
  refuse_at({}, std::move(problem), std::move(hint));
}

}  // namespace gradway
