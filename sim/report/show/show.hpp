// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <span>
#include <vector>

#include "sim/config/find/scenario_keys.hpp"
#include "sim/cost/calibration.hpp"
#include "sim/graph/workload.hpp"
#include "sim/import/topology/nccl_graphs.hpp"
#include "sim/platform/platform.hpp"
#include "sim/report/format/style.hpp"
#include "sim/scenario/pipeline/schedule.hpp"
#include "sim/scenario/scenario.hpp"
#include "sim/workload/model.hpp"
#include "sim/workload/profile.hpp"

namespace gradway::report {

/// Writes what gradway understood of a model: each layer with its tensors, parameters and operations, the
/// totals, and the measured steps that its compute costs are anchored to.
void write_model(std::ostream& out, const Model& model, const Style& style);

/// Writes what a profile holds: where it was taken, its times, gradients and buffers, launches by phase and
/// class, and whether the CPU or the GPU sets its pace.
void write_profile(std::ostream& out, const Profile& profile, const Style& style);

/// Writes what gradway understood of a platform: its GPUs, how near they are to each other (in the look of
/// `nvidia-smi topo -m`), the transports NCCL takes between them, links, routes, price and sources. Of
/// platforms with more than 16 GPUs the first 8 are shown. Matrices may be wider than the style's width.
void write_platform(std::ostream& out, const Platform& platform, const Calibration& calibration,
                    const Style& style);

/// Writes what was measured on a node: each table with its range, its latency and bandwidth, how far it is
/// from its samples (median and worst) and how far an inner size is from a table without it; the samples that
/// no table follows; links, kernels, and what kernels and collectives cost each other.
void write_calibration(std::ostream& out, const Calibration& calibration, const Style& style);

/// Writes what the framework will issue in a step of a scenario: DDP's buckets, the tasks of each phase with
/// their work, and the collectives.
void write_plan(std::ostream& out, const Scenario& scenario, const Workload& workload, const Style& style);

/// Writes what a storage tier gives and costs, and what a dataset is made of.
void write_storage(std::ostream& out, const StorageTier& tier, const Style& style);
void write_dataset(std::ostream& out, const Dataset& dataset, const Style& style);

/// Writes what NCCL's search found: channels, their speed and how far they go, and the order of GPUs in them.
void write_graphs(std::ostream& out, const std::vector<NcclGraph>& graphs, const Style& style);

/// The keys of scenarios: what can stand there, what counts without it, what it means.
void write_keys(std::ostream& out, std::span<const config::ScenarioKey> keys, const Style& style);

/// The same as one JSON document, in the same order; the default is null where nothing counts instead.
void write_keys_json(std::ostream& out, std::span<const config::ScenarioKey> keys);

/// A JSON Schema (draft 7) of scenario files, made from the same keys.
void write_scenario_schema(std::ostream& out);

/// The passes of a pipeline as papers draw them, a line for each rank: forward passes take a column, backward
/// passes two, halves of them one; transfers take no time. Ends at the edge of the terminal.
void write_schedule_chart(std::ostream& out, const Pipeline& pipeline, int micro_batches, const Style& style);

}  // namespace gradway::report
