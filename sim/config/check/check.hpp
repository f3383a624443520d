// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/config/read/read.hpp"

namespace gradway::config {

// Each function checks one group of settings against the job, the model and the platform, and reports
// settings without effect.

/// Number of ranks, model, micro-batches and strategy against the layout.
void check_layout(const ScenarioSpec& scenario, const ModelSpec& model, Problems& problems);
/// Embedding tables against the strategy and the layout.
void check_tables(const ScenarioSpec& scenario, const ModelSpec& model, Problems& problems);
void check_strategy(const ScenarioSpec& scenario, const ModelSpec& model, Problems& problems);
/// Recipe, strategy and model against precision fp8.
void check_fp8(const ScenarioSpec& scenario, const ModelSpec& model, Problems& problems);
/// CUDA graphs and loops over experts against settings that make the CPU wait for the GPU.
void check_launches(const ScenarioSpec& scenario, const ModelSpec& model, Problems& problems);
/// What the program reads back, and SyncBatchNorm, against model and layout.
void check_host_reads(const ScenarioSpec& scenario, const ModelSpec& model, Problems& problems);
void check_recompute(const ScenarioSpec& scenario, const ModelSpec& model, Problems& problems);
/// Reports keys whose rows say that they lack something. @param platform of the job; null: not
/// known yet
void check_effects(const ScenarioSpec& scenario, const ModelSpec& model, const Platform* platform,
                   Problems& problems);
/// Whether a key is given, and without effect were a mistake. What a file has may be for another job than the
/// one that overrides make of it, and what all points of a sweep or a comparison have may matter at some of
/// them only; a value that is typed or varied was to be tried.
bool must_have_effect(const ScenarioSpec& scenario, const std::string& key);
/// Whether a key of `job` has the value that holds without it.
bool states_default(const Job& job, std::string_view key);
/// Conditions of the network against the platform's fabric.
void check_network(const ScenarioSpec& scenario, const PlatformSpec& platform, Problems& problems);
/// Leaves only as many nodes of each NVLink domain to the job as its segments have.
void set_segment(PlatformDescription& description, const ScenarioSpec& scenario, Problems& problems);
void check_finetune(const ScenarioSpec& scenario, const ModelSpec& model, Problems& problems);

}  // namespace gradway::config
