// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "cli/shell/command_context.hpp"

namespace gradway::cli {

/// Arguments of `gradway import`. Texts are empty if not given; those that a format does not have are empty.
struct ImportArguments {
  std::string format;
  std::vector<std::string> files;
  std::string out;  ///< empty: the content is printed
  std::string step_time;
  std::string gpu;
  std::string precision;
  std::string batch;
  std::string parameters;
  std::string sequence;
  std::string calibration;
  std::string gpus;
  std::string operation;
  std::string transport;
  std::string ranks;
  std::string nodes;
  std::string model;
  std::string platform;
  std::string config;
  std::string date;
  bool in_place = false;
  bool json = false;
  bool force = false;  ///< an existing file may be replaced
};

/// Prints the result of an import, or writes it to the file of --out and prints its name.
/// @return whether a file was written
bool print_or_write(const std::string& text, const ImportArguments& arguments, const CommandContext& context);

// One function per format. They throw ConfigError if the import fails; then no file is written.

/// Converts a trace of the PyTorch profiler to a model.
void import_kineto_trace(const ImportArguments& arguments, const CommandContext& context);
/// Converts an export of Nsight Systems to a model.
void import_nsys_export(const ImportArguments& arguments, const CommandContext& context);
/// Converts a Chakra execution trace of a rank to a model.
void import_chakra_trace(const ImportArguments& arguments, const CommandContext& context);
/// Converts the samples of gradway-probe to a platform, and to a GPU file if no data folder has the GPU.
void import_probe(const ImportArguments& arguments, const CommandContext& context);
/// Converts the matrix of `nvidia-smi topo -m` to a platform.
void import_topo(const ImportArguments& arguments, const CommandContext& context);
/// Converts NCCL's topology to a platform, or prints its graphs.
void import_nccl_topo(const ImportArguments& arguments, const CommandContext& context);
/// Converts logs of nccl-tests to samples.
void import_nccl_tests(const ImportArguments& arguments, const CommandContext& context);
/// Prints what NCCL chose in a job, and compares it with a platform.
void import_nccl_log(const ImportArguments& arguments, const CommandContext& context);
/// Converts DeepSpeed's ds_config.json to a scenario.
void import_deepspeed(const ImportArguments& arguments, const CommandContext& context);
/// Converts torchtitan's TOML to a scenario.
void import_torchtitan(const ImportArguments& arguments, const CommandContext& context);
/// Converts Megatron-LM's arguments to a scenario and its model.
void import_megatron(const ImportArguments& arguments, const CommandContext& context);
/// Converts YAML or scripts of Hugging Face's Trainer and of programs on top of it to a scenario.
void import_trainer(const ImportArguments& arguments, const CommandContext& context);
/// Converts the config.json of transformers to a model.
void import_hugging_face(const ImportArguments& arguments, const CommandContext& context);
/// Converts the sample sizes of a folder, a tar file or a Parquet file to a dataset.
void import_dataset(const ImportArguments& arguments, const CommandContext& context);
/// Converts the throughput of a DataLoader with several numbers of workers to a dataset with CPU times.
void import_loader(const ImportArguments& arguments, const CommandContext& context);
/// Converts a table of prices to a file of prices.
void import_prices(const ImportArguments& arguments, const CommandContext& context);

}  // namespace gradway::cli
