// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace gradway {

/// What a part of a prediction is based on: "subject: statement" and a remark. Each names its source; figures
/// in fixed texts are cited where they are used.
struct ProvenanceFact {
  std::string subject;    ///< "compute"; may be empty
  std::string statement;  ///< empty: the terminal omits the fact
  std::string remark{};   ///< with the separator before it; the terminal omits it

  bool operator==(const ProvenanceFact&) const = default;
};

}  // namespace gradway
