// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <string>

#include "sim/study/search/first_scenario.hpp"

namespace gradway::report {

/// Writes a scenario with what each line does, in the words of `gradway list keys`, and other keys of use as
/// comments.
/// @param file where it will stand; empty: not known
void write_commented_scenario(std::ostream& out, const FirstScenario& scenario, const std::string& file);

}  // namespace gradway::report
