// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

#include "sim/base/provenance_fact.hpp"
#include "sim/base/warning.hpp"

namespace gradway::test {

/// The first fact of a provenance about a subject; null if there is none.
inline const ProvenanceFact* find_fact(const std::vector<ProvenanceFact>& facts, std::string_view subject) {
  const auto fact = std::ranges::find(facts, subject, &ProvenanceFact::subject);
  return fact == facts.end() ? nullptr : &*fact;
}

/// The first warning of a code; null if there is none.
inline const Warning* find_warning(const std::vector<Warning>& warnings, std::string_view code) {
  const auto warning = std::ranges::find(warnings, code, &Warning::code);
  return warning == warnings.end() ? nullptr : &*warning;
}

}  // namespace gradway::test
