// SPDX-License-Identifier: Apache-2.0
#include "sim/report/text/headline.hpp"

#include <ostream>

#include "sim/plan/memory.hpp"
#include "sim/report/text/text.hpp"

namespace gradway::report {

void write_whether_it_fits(std::ostream& out, const Run& run, const Style& style) {
  if (fits(run.scenario, run.measured.memory)) return;
  const auto why = why_it_does_not_fit(run.scenario, run.measured.memory);
  for (const auto& line : wrap(why, style.width)) out << style.paint(Paint::red, line) << '\n';
  for (const auto& line : wrap("what follows is what it would take with enough memory", style.width))
    out << style.paint(Paint::dim, line) << '\n';
  out << '\n';
}

}  // namespace gradway::report
