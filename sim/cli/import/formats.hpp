// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sim/cli/shell/command_context.hpp"

namespace gradway::cli {

/// What `gradway import` was asked for; texts are empty if not given. The options that a format does not take
/// are.
struct ImportArguments {
  std::string format;
  std::vector<std::string> files;
  std::string out;  ///< empty: what it would hold is printed
  std::string step_time;
  std::string gpu;
  std::string precision;
  std::string batch;
  std::string sequence;
  std::string calibration;
  std::string gpus;
  std::string operation;
  std::string transport;
  std::string ranks;
  std::string nodes;
  std::string model;
  std::string platform;
  bool in_place = false;
  bool force = false;  ///< the file may be there
};

/// Prints what an import made, or writes it to the file that was asked for and names that.
/// @return whether there is such a file
bool put_text(const std::string& text, const ImportArguments& arguments, const CommandContext& context);

// One function a format, each in the file of its name. They throw ConfigError if the import cannot be done;
// then nothing is left behind.

/// A profiler's trace becomes a model.
void import_kineto_trace(const ImportArguments& arguments, const CommandContext& context);
/// What Nsight Systems exported becomes a model.
void import_nsys_export(const ImportArguments& arguments, const CommandContext& context);
/// A rank's execution trace of Chakra becomes a model.
void import_chakra_trace(const ImportArguments& arguments, const CommandContext& context);
/// The samples of gradway-probe become a platform, with a file for a GPU that no data folder has.
void import_probe(const ImportArguments& arguments, const CommandContext& context);
/// The matrix of `nvidia-smi topo -m` becomes a platform.
void import_topo(const ImportArguments& arguments, const CommandContext& context);
/// NCCL's topology becomes a platform; its graphs are printed.
void import_nccl_topo(const ImportArguments& arguments, const CommandContext& context);
/// Logs of nccl-tests become samples.
void import_nccl_tests(const ImportArguments& arguments, const CommandContext& context);
/// DeepSpeed's ds_config.json becomes a scenario.
void import_deepspeed(const ImportArguments& arguments, const CommandContext& context);
/// torchtitan's TOML becomes a scenario.
void import_torchtitan(const ImportArguments& arguments, const CommandContext& context);
/// Megatron-LM's arguments become a scenario, and the model that it names.
void import_megatron(const ImportArguments& arguments, const CommandContext& context);
/// transformers' config.json becomes a model.
void import_hugging_face(const ImportArguments& arguments, const CommandContext& context);
/// A folder or a tar file becomes a dataset, by the sizes of its samples.
void import_dataset(const ImportArguments& arguments, const CommandContext& context);
/// What a DataLoader gave with several numbers of workers becomes a dataset with what its samples cost a
/// core.
void import_loader(const ImportArguments& arguments, const CommandContext& context);

}  // namespace gradway::cli
