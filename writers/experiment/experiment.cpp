// SPDX-License-Identifier: Apache-2.0
#include "writers/experiment/experiment.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/base/contract.hpp"
#include "sim/base/printable.hpp"
#include "sim/base/text.hpp"
#include "sim/nccl/rank_order.hpp"
#include "sim/report/format/json_document.hpp"
#include "sim/report/format/text.hpp"
#include "sim/report/search/snippet.hpp"
#include "sim/scenario/strategy_words.hpp"
#include "writers/experiment/experiment_parts.hpp"

// In templates.S: files of this folder.
extern "C" const char gradway_train_py[];
extern "C" const char gradway_run_sh[];
extern "C" const char gradway_check_sh[];

namespace gradway::report {
namespace {

constexpr double ms = 1e3;  // of a second

std::string text_literal(std::string_view text) {
  return serialized(nlohmann::json(std::string{text}));  // also a Python string
}

/// Replaces a part of a template.
void replace(std::string& text, std::string_view part, std::string_view replacement) {
  const auto start = text.find(part);
  expects(start != std::string::npos, "the template has the part that is replaced");
  text.replace(start, part.size(), replacement);
}

/// Replaces the value that a template gives to a name of Python.
void assign(std::string& text, std::string_view name, const std::string& value) {
  const auto statement = fmt::format("\n{} = ", name);
  const auto start = text.find(statement);
  expects(start != std::string::npos, "the template has a value of this name");
  auto end = text.find('\n', start + 1);
  while (text[end + 1] == ' ' || text[end + 1] == '}') end = text.find('\n', end + 1);
  text.replace(start, end - start, statement + value);
}

std::string dictionary(const PythonEntries& entries) {
  std::string text = "{\n";
  for (const auto& [key, value] : entries) text += fmt::format("    \"{}\": {},\n", key, value);
  return text + "}";
}

/// Lines of a text four columns to the right.
std::string indented(const std::string& text) {
  std::string result;
  bool at_start = true;
  for (const char c : text) {
    if (at_start && c != '\n') result += "    ";
    result += c;
    at_start = c == '\n';
  }
  return result;
}

/// A backend of PyTorch's SDPBackend.
std::string attention(AttentionKernel kernel) {
  using enum AttentionKernel;
  for (const auto& [ours, backend] : {std::pair{cudnn, "CUDNN_ATTENTION"},
                                      {flash, "FLASH_ATTENTION"},
                                      {efficient, "EFFICIENT_ATTENTION"},
                                      {math, "MATH"}})
    if (kernel == ours) return text_literal(backend);
  return "None";
}

/// Whether only the last micro-batch reduces gradients.
bool has_no_sync(const Job& job) {
  if (job.accumulate == 1) return false;
  if (const auto* fsdp = std::get_if<Fsdp>(&job.strategy)) return fsdp->no_sync;
  if (const auto* fsdp1 = std::get_if<Fsdp1>(&job.strategy)) return fsdp1->no_sync;
  return std::holds_alternative<Ddp>(job.strategy);
}

std::string autocast(const Job& job) {
  if (!is_half(job.precision) || half_parameters(job)) return "None";
  return job.precision == Precision::fp16 ? "\"float16\"" : "\"bfloat16\"";
}

/// The settings that the training loop reads.
PythonEntries job_settings(const Scenario& scenario, const ModelCode& model) {
  const auto& job = scenario.job;
  const auto* ddp = std::get_if<Ddp>(&job.strategy);
  const auto* fsdp = std::get_if<Fsdp>(&job.strategy);
  const bool is_whole = ddp != nullptr || std::holds_alternative<NoExchange>(job.strategy);
  const auto number = [](int value) { return fmt::format("{}", value); };
  return {{"gpus", number(job.gpus)},
          {"batch_per_gpu", number(job.batch_per_gpu)},
          {"accumulate", number(job.accumulate)},
          {"tokens", number(model.image_size > 0 ? 0 : scenario.model.tokens_per_sample)},
          {"image_size", number(model.image_size)},
          {"classes", number(model.classes)},
          {"precision", text_literal(name_of(job.precision))},
          {"autocast", autocast(job)},
          {"state_dtype", text_literal(name_of(job.state_dtype))},
          {"strategy", text_literal(strategy_words[job.strategy.index()])},
          {"no_sync", python_bool(has_no_sync(job))},
          {"optimizer", text_literal(name_of(job.optimizer))},
          {"zero_redundancy", python_bool(ddp != nullptr && ddp->zero_redundancy)},
          {"parameters_as_bucket_view", python_bool(ddp != nullptr && ddp->parameters_as_bucket_view)},
          {"cpu_offload", python_bool(fsdp != nullptr && fsdp->cpu_offload)},
          {"clip_grad_norm", python_bool(job.clip_grad_norm)},
          {"zero_grad", text_literal(name_of(job.zero_grad))},
          {"float_logits", python_bool(job.float_logits || half_parameters(job))},
          {"loss_in_model", python_bool(job.compiled && job.fused_loss && is_whole)},
          {"attention", attention(job.attention)},
          {"channels_last", python_bool(job.channels_last)},
          {"pin_memory", python_bool(job.input.pin_memory)}};
}

/// Python that prepares and wraps the model, by the code that `gradway optimize` prints.
std::string prepare_code(Job job) {
  job.nccl.clear();  // run.sh sets them
  job.input.dataset.reset();
  auto text = snippet_of(job).text;
  const auto* ddp = std::get_if<Ddp>(&job.strategy);
  if (ddp != nullptr && ddp->comm_hook == CommHook::powersgd)
    text += "state.start_powerSGD_iter = 2  # the timed steps are compressed\n";
  return indented(text);
}

/// In the template, ranges are named as in nsys reports; `gradway import nsys` and `kineto` take phases from
/// PyTorch's own ranges ("Optimizer.step#...") and skip these. Steps are timed from the end of one to the end
/// of the next, so that the CPU can run ahead of the GPU as in a real training.
std::string train_py(const Scenario& scenario, const Experiment& experiment) {
  const std::string_view text = gradway_train_py;
  const auto end_of_head = text.find("\nJOB = ");
  const auto heading = fmt::format(
      fmt::runtime(text.substr(0, end_of_head)), fmt::arg("model", printable(scenario.model.name)),
      fmt::arg("scenario", printable(experiment.scenario)),
      fmt::arg("torchvision",
               std::holds_alternative<DecoderShape>(experiment.shape) ? "" : " and torchvision"),
      fmt::arg("version", experiment.version));
  std::string program{text.substr(end_of_head)};
  const auto model = model_code(scenario, experiment.shape);
  replace(program, "from decoder import MODEL, build_model, parameter_count\n", model.text);
  assign(program, "JOB", dictionary(job_settings(scenario, model)));
  assign(program, "MODEL", dictionary(model.sizes));
  constexpr std::string_view start = "\"\"\"Recomputation, formats, compilation and the strategy.\"\"\"\n";
  replace(program, start, std::string{start} + prepare_code(scenario.job));
  std::string overrides;
  for (const auto& [key, value] : experiment.set)
    overrides += fmt::format("    ({}, {}),\n", text_literal(key), text_literal(value));
  if (!overrides.empty()) replace(program, "OVERRIDES = []", "OVERRIDES = [\n" + overrides + "]");
  assign(program, "PREDICTION",
         dictionary({{"scenario", text_literal(experiment.scenario)},
                     {"step_time_ms", fmt::format("{:.6g}", experiment.step_time.value() * ms)},
                     {"interval_ms", fmt::format("[{:.6g}, {:.6g}]", experiment.range.low.value() * ms,
                                                 experiment.range.high.value() * ms)}}));
  return heading + program;
}

std::string run_sh(const Scenario& scenario) {
  const auto& job = scenario.job;
  const int nodes = node_count(scenario.platform, scenario.job.gpus);
  std::string text = gradway_run_sh;
  replace(
      text, "4 GPUs of 1 node",
      fmt::format("{} GPU{} of {} node{}", job.gpus, job.gpus == 1 ? "" : "s", nodes, nodes == 1 ? "" : "s"));
  constexpr std::string_view start = "\n\nlaunch=(torchrun --nnodes=1 --nproc-per-node=4 --standalone)\n";
  std::string launch = "\n\n";
  for (const auto& [name, value] : job.nccl) launch += fmt::format("export {}={}\n", name, shell_word(value));
  if (job.launch_blocking) launch += "export CUDA_LAUNCH_BLOCKING=1\n";
  launch += fmt::format("launch=(torchrun --nnodes={} --nproc-per-node={}", nodes, job.gpus / nodes);
  if (nodes == 1) {
    replace(text, start, launch + " --standalone)\n");
    return text;
  }
  launch +=
      "\n  --node-rank=\"${NODE_RANK:?set it to 0 on MASTER, and to 1, 2, ... on the others}\"\n"
      "  --master-addr=\"${MASTER:?set it to the address of the node with NODE_RANK 0}\""
      " --master-port=\"${PORT:-29500}\")\n";
  replace(text, start, launch);
  replace(
      text, "set -euo pipefail\n",
      "#\n# Start it on every node, with MASTER, the name or address of one of them, which all can reach,\n"
      "# and NODE_RANK, 0 on that node and 1, 2, ... on the others:\n"
      "#     MASTER=node-a NODE_RANK=0 bash run.sh\n"
      "set -euo pipefail\n");
  return text;
}

std::string readme(const Scenario& scenario, const Experiment& experiment) {
  const int nodes = node_count(scenario.platform, scenario.job.gpus);
  return fmt::format(
      "`{0} {1}` wrote this folder: the step of {2} on {3} GPU{4}, in PyTorch 2.4 to 2.11.\n"
      "Run `bash run.sh`{5}, then `bash check.sh`, with `gradway` in PATH or in GRADWAY.\n"
      "Expect a step of {6}; 90 % prediction interval: {7}.\n",
      experiment_mark, printable(experiment.scenario), printable(scenario.model.name), scenario.job.gpus,
      scenario.job.gpus == 1 ? "" : "s",
      nodes > 1 ? fmt::format(" on each of {} nodes, with MASTER and NODE_RANK", nodes) : "",
      time_text(experiment.step_time), range_text(experiment.range.low, experiment.range.high));
}

}  // namespace

std::vector<ExperimentFile> experiment_files(const Scenario& scenario, const Experiment& experiment) {
  return {{"train.py", train_py(scenario, experiment)},
          {"run.sh", run_sh(scenario)},
          {"check.sh", gradway_check_sh},
          {"scenario.yaml", experiment.text},
          {"README.md", readme(scenario, experiment)}};
}

}  // namespace gradway::report
