// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/base/progress.hpp"
#include "sim/engine/timeline.hpp"
#include "sim/engine/timeline_cache.hpp"
#include "sim/graph/op_graph.hpp"
#include "sim/graph/workload.hpp"
#include "sim/lower/lower.hpp"
#include "sim/metrics/metrics.hpp"
#include "sim/metrics/steps.hpp"
#include "sim/scenario/scenario.hpp"
#include "sim/trust/errors.hpp"
#include "sim/trust/step_range.hpp"

namespace gradway {

/// The values of all stages of a finished simulation, for the writers of reports and traces.
struct Run {
  // Defined in run.cpp, because each file that compiled them would need ten seconds more.
  Run();
  Run(const Run&);
  Run(Run&&) noexcept;
  Run& operator=(const Run&);
  Run& operator=(Run&&) noexcept;
  ~Run();

  Scenario scenario;
  std::string engine;
  Workload workload;
  OpGraph ops;
  Folding folding;  ///< representatives of ranks in `ops` and `timeline`
  Timeline timeline;
  StepWindow window;  ///< reported steps
  Measured measured;
  TimeRange range;  ///< of the step's time
  StepBasis step_basis;
  std::vector<PossibleError> errors;  ///< of the step's time
  std::vector<ProvenanceFact> basis;
  std::vector<Warning> warnings;
};

/// Which micro-batches of a step are simulated.
enum class FoldMicroBatches {
  no,  ///< all, for a timeline of the whole step
  yes  ///< only a few, if the others provably repeat them: program and timeline are shorter, measurements are
       ///< of the whole step to 1e-9
};

/// The whole simulator: each line of its body is one stage, and data flows in one direction.
/// @param engine "auto" or a name from engines()
/// @param cache of timelines, to which `keep` gives the run back; null: none
Run simulate(Scenario scenario, std::string_view engine = "auto", FoldRanks fold = FoldRanks::yes,
             const ProgressCallback& on_progress = {}, FoldMicroBatches micro_batches = FoldMicroBatches::yes,
             TimelineCache* cache = nullptr);

/// Moves graph and timeline of a run that is no longer needed into the cache, for runs with an equal step.
void keep(TimelineCache& cache, Run&& run);

}  // namespace gradway
