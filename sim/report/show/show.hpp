// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <span>
#include <vector>

#include "readers/topology/nccl_xml.hpp"
#include "sim/config/find/file_keys.hpp"
#include "sim/cost/calibration.hpp"
#include "sim/graph/workload.hpp"
#include "sim/platform/platform.hpp"
#include "sim/report/format/style.hpp"
#include "sim/scenario/pipeline/schedule.hpp"
#include "sim/scenario/scenario.hpp"
#include "sim/workload/model.hpp"
#include "sim/workload/profile.hpp"

namespace gradway::report {

/// Writes a model: each layer with its tensors, parameters and operations, the totals, and the measured steps
/// to which its compute times are anchored.
void write_model(std::ostream& out, const Model& model, const Style& style);

/// Writes a profile: where it was measured, its times, gradients and buffers, launches by phase and class,
/// and whether the CPU or the GPU is the limit.
void write_profile(std::ostream& out, const Profile& profile, const Style& style);

/// Writes a platform: its GPUs, their topology (as `nvidia-smi topo -m` shows it), NCCL's transports between
/// them, links, routes, price and sources. Platforms with more than 16 GPUs show the first 8. Matrices may be
/// wider than the style's width.
void write_platform(std::ostream& out, const Platform& platform, const Calibration& calibration,
                    const Style& style);

/// Writes a calibration: each table of a collective with its range, latency, bandwidth, residuals (median and
/// worst) and leave-one-out errors of its inner sizes; outliers; link rates, kernels and contention.
void write_calibration(std::ostream& out, const Calibration& calibration, const Style& style);

/// Writes what the framework issues in a step: DDP's buckets, the tasks of each phase with their work, and
/// the collectives.
void write_plan(std::ostream& out, const Scenario& scenario, const Workload& workload, const Style& style);

/// Writes the rates and prices of a storage tier.
void write_storage(std::ostream& out, const StorageTier& tier, const Style& style);
/// Writes the contents of a dataset.
void write_dataset(std::ostream& out, const Dataset& dataset, const Style& style);

/// Writes the graphs of NCCL's search: channels, their speed and furthest path, and the order of GPUs in
/// them.
void write_graphs(std::ostream& out, const std::vector<NcclGraph>& graphs, const Style& style);

/// Writes the keys of scenarios: values, defaults and help.
void write_keys(std::ostream& out, std::span<const config::ScenarioKey> keys, const Style& style);

/// The same as one JSON document, in the same order; the default is null if there is none.
void write_keys_json(std::ostream& out, std::span<const config::ScenarioKey> keys);

/// A JSON Schema (draft 7) of scenario files, made from the same keys.
void write_scenario_schema(std::ostream& out);
/// The same of another kind of file.
void write_file_schema(std::ostream& out, const config::FileKind& kind);

/// Draws a pipeline schedule, one line per rank. Forward passes take one column, backward passes two, half
/// backward passes one, transfers none. The chart is cut at the width of the terminal.
void write_schedule_chart(std::ostream& out, const Pipeline& pipeline, int micro_batches, const Style& style);

}  // namespace gradway::report
