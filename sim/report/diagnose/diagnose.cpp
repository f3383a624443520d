// SPDX-License-Identifier: Apache-2.0
#include "sim/report/diagnose/diagnose.hpp"

#include <ostream>

#include <fmt/format.h>

namespace gradway::report {

void write_diagnosis(std::ostream& out, const JobRun& run, const DiagnosisBasis& basis,
                     const Diagnosis& d, const Style&) {
  out << fmt::format("platform {} traced {:.2f} replayed {:.2f} expected {:.2f} buckets {}\n", basis.platform_name, d.traced.value()*1e3,
                     d.replayed.value()*1e3, d.expected.value()*1e3, d.buckets);
  for (const auto& r : d.ranks) out << fmt::format("  rank {} busy {:.2f} exposed {:.2f} idle {:.2f} launches {} each {:.1f} us fwd {:.1f} bwd {:.1f} opt {:.1f} gap {} queued {:.2f}\n", r.rank, r.busy.value()*1e3, r.exposed.value()*1e3, r.idle.value()*1e3, r.launches, r.launch.value()*1e6, r.phases[0].value()*1e3, r.phases[1].value()*1e3, r.phases[2].value()*1e3, run.ranks[0].gap, run.ranks[0].launches_queued);
  for (auto s : run.slow_down) out << fmt::format(" {:.3f}", s);
  out << "\n";
  for (const auto& c : d.classes) out << fmt::format("  class {} measured {:.2f} expected {:.2f}\n", (int)c.work, c.measured.value()*1e3, c.expected.value()*1e3);
  for (const auto& c : d.collectives) out << fmt::format("  {} {:.2f} MB x{} transfer {:.3f} waiting {:.3f} expected {:.3f} ch {}\n", name_of(c.kind), c.bytes.value()/1e6, c.per_step, c.transfer.value()*1e3, c.waiting.value()*1e3, c.expected.value_or(Seconds{}).value()*1e3, c.channels);
  for (auto* list : {&d.causes, &d.possible, &d.harmless}) {
    out << (list == &d.causes ? "CAUSES\n" : list == &d.possible ? "POSSIBLE\n" : "HARMLESS\n");
    for (const auto& c : *list)
      out << fmt::format("  kind {} lost {:.2f} ms ranks {} events {:.1f} measured {:.3f} expected {:.3f} ex '{}' next '{}' bytes {} ch {}/{} way {} arith {:.2f} mem {:.2f} sporadic {}\n", (int)c.kind, c.lost.value()*1e3, c.ranks.size() ? c.ranks[0] : -1, c.events, c.measured.value()*1e3, c.expected.value()*1e3, c.example.substr(0,60), c.next, c.bytes.value_or(0), c.found_channels, c.expected_channels, c.way ? (int)*c.way : -1, c.arithmetic_ratio, c.memory_ratio, c.is_sporadic);
  }
}

}  // namespace gradway::report
