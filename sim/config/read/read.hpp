// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/config/config.hpp"
#include "sim/config/yaml/reader.hpp"
#include "sim/config/yaml/scalars.hpp"
#include "sim/platform/description.hpp"
#include "sim/scenario/campaign.hpp"
#include "sim/scenario/job.hpp"
#include "sim/workload/model.hpp"
#include "sim/workload/model_shape.hpp"

namespace gradway::config {

/// A name of another file and its place.
struct Named {
  std::string name;
  Where where;
};

struct GpuSpec {
  Gpu gpu;
  Where peak;                              ///< place of its compute rates, or of 'ideal'
  std::optional<Named> kernel_times;       ///< calibration with kernel times of this GPU
  std::optional<Named> kernel_times_like;  ///< a GPU whose times are scaled to this one, of kernels that lack
};

/// A calibration without its kernel times.
struct CalibrationSpec {
  Calibration calibration;
  std::optional<Named> kernel_times_gpu;  ///< GPU of its kernel times, if it has any
};

struct PlatformSpec {
  PlatformDescription description;
  Named gpu;
  std::optional<Named> calibration;
  Where size;         ///< place of the number of GPUs per node
  Where power_limit;  ///< place of `gpu_power_limit`
};

struct ModelSpec {
  Model model;
  ModelShape shape{};
  Where kind;
  bool has_times = false;              ///< every layer has explicit times
  std::vector<Named> anchor_gpus;      ///< GPUs of the anchors, or the one of the profile
  std::optional<Strategy> strategy{};  ///< that the captured program sets
};

struct ScenarioSpec {
  Named model;
  std::vector<Entry> model_changes;  ///< keys of the model's file to which the scenario gives other values
  Named platform;
  Job job;
  std::optional<int> global_batch{};  ///< samples of a step, which determine job.accumulate
  Ddp ddp{};                          ///< DDP's keys in the file, with any kind of strategy
  std::optional<CampaignSettings> campaign;
  SpeedFactors faster;                 ///< what-if speed-ups
  std::vector<Where> traffic;          ///< place of each entry of job.traffic
  std::optional<Named> dataset;        ///< name of the dataset in `input`
  std::optional<Named> storage;        ///< name of the storage tier in `input`
  std::optional<Named> staged_from;    ///< name of the cold tier in `input`
  std::optional<Named> cache;          ///< storage tier of the cache
  std::optional<Named> checkpoints;    ///< storage tier of the checkpoints
  std::optional<Anchor> anchor;        ///< replaces the model's own anchors of the same GPU and precision
  std::vector<Named> anchor_gpus;      ///< GPU of the anchor, if there is one
  std::map<std::string, Where> given;  ///< dotted keys of the file, and the places of their values
  /// The place of a key's value, or the file for an absent key.
  Where place(const std::string& key) const;
  Where where;
};

// Each reads a file's top-level map; names are not looked up. Problems are added to those of the reader.
GpuSpec read_gpu(Reader& file, const std::string& name);
PlatformSpec read_platform(Reader& file, const std::string& name);
ModelSpec read_model(Reader& file, const std::string& name);
Calibration read_calibration(Reader& file, const std::string& name);
CalibrationSpec read_calibration_of_platform(Reader& file, const std::string& name);
ScenarioSpec read_scenario(Reader& file);
/// Reads a measured step on one GPU. @param gpus receives the name of its GPU, which is not looked up
Anchor read_anchor(Reader& anchor, std::vector<Named>& gpus);

Named named(const Node& node);
Precision precision(const Node& node);
Precision precision_of_profile(const Node& node);  ///< any precision except fp8
Optimizer optimizer(const Node& node);

}  // namespace gradway::config
