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

namespace gradway::config {

/// A name of another file and where it was written.
struct Named {
  std::string name;
  Where where;
};

struct GpuSpec {
  Gpu gpu;
  Where peak;                              ///< where its compute rates stand; or 'ideal'
  std::optional<Named> kernel_times;       ///< a calibration that has times of kernels on it
  std::optional<Named> kernel_times_like;  ///< else a GPU whose times are moved to it
};

/// A calibration, without the times of kernels that it may have.
struct CalibrationSpec {
  Calibration calibration;
  std::optional<Named> kernel_times_gpu;  ///< whose times it has, if any
};

struct PlatformSpec {
  PlatformDescription description;
  Named gpu;
  std::optional<Named> calibration;
  Where size;  ///< where the number of GPUs of a node stands
};

struct ModelSpec {
  Model model;
  Where kind;
  bool has_times = false;          ///< every layer has explicit times
  std::vector<Named> anchor_gpus;  ///< beside the model's anchors; or the one that its profile was taken on
};

struct ScenarioSpec {
  Named model;
  std::vector<Entry> model_changes;  ///< keys of the model's file to which the scenario gives other values
  Named platform;
  Job job;
  std::optional<int> global_batch{};  ///< samples of a step, from which job.accumulate follows
  Ddp ddp{};                          ///< what the file says of DDP, whatever the kind of its strategy
  std::optional<CampaignSettings> campaign;
  SpeedFactors faster;                 ///< what-if
  std::vector<Where> traffic;          ///< beside the job's
  std::optional<Named> dataset;        ///< that the input names
  std::optional<Named> storage;        ///< the same
  std::optional<Named> cache;          ///< the tier that it is read from
  std::optional<Named> checkpoints;    ///< where checkpoints go
  std::optional<Anchor> anchor;        ///< stands for the model's own of the same GPU and precision
  std::vector<Named> anchor_gpus;      ///< its GPU, if there is an anchor
  std::map<std::string, Where> given;  ///< dotted keys that were written, and where their values stand
  /// Where the value of a key stands, or the key's absence is: the file.
  Where place(const std::string& key) const;
  Where where;
};

// Each fills its struct from a file's top-level map, names not yet looked up; problems go to the reader's.
GpuSpec read_gpu(Reader& file, const std::string& name);
PlatformSpec read_platform(Reader& file, const std::string& name);
ModelSpec read_model(Reader& file, const std::string& name);
Calibration read_calibration(Reader& file, const std::string& name);
CalibrationSpec read_calibration_of_platform(Reader& file, const std::string& name);
ScenarioSpec read_scenario(Reader& file);
/// A measured step on one GPU. @param gpus its GPU's name is added, to be looked up
Anchor read_anchor(Reader& anchor, std::vector<Named>& gpus);

inline constexpr auto precisions = choices_of<Precision>(precision_words);
inline constexpr auto optimizers = choices_of<Optimizer>(optimizer_words);

Named named(const Node& node);
Precision precision(const Node& node);
Precision precision_of_profile(const Node& node);  ///< of all but fp8
Optimizer optimizer(const Node& node);

}  // namespace gradway::config
