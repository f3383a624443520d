// SPDX-License-Identifier: Apache-2.0
#include "sim/report/experiment/experiment.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/base/printable.hpp"
#include "sim/base/shell_word.hpp"
#include "sim/report/experiment/experiment_parts.hpp"
#include "sim/report/format/json_document.hpp"
#include "sim/report/format/text.hpp"
#include "sim/report/search/snippet.hpp"
#include "sim/scenario/strategy_words.hpp"

namespace gradway::report {
namespace {

constexpr double ms = 1e3;  // of a second

std::string text_literal(std::string_view text) {
  return serialized(nlohmann::json(std::string{text}));  // also a Python string
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

std::string attention(AttentionKernel kernel) {
  switch (kernel) {
    case AttentionKernel::cudnn:
      return "\"CUDNN_ATTENTION\"";
    case AttentionKernel::flash:
      return "\"FLASH_ATTENTION\"";
    case AttentionKernel::efficient:
      return "\"EFFICIENT_ATTENTION\"";
    case AttentionKernel::math:
      return "\"MATH\"";
    default:
      return "None";
  }
}

struct SampleSizes {
  int classes = 0;
  int image_size = 0;
};

SampleSizes sample_sizes(const ModelShape& shape) {
  if (const auto* decoder = std::get_if<DecoderShape>(&shape)) return {decoder->vocabulary, 0};
  if (const auto* vit = std::get_if<VisionTransformerShape>(&shape)) return {vit->classes, vit->image_size};
  if (const auto* residual = std::get_if<ResidualShape>(&shape))
    return {residual->classes, residual->image_size};
  const auto* conv_next = std::get_if<ConvNextShape>(&shape);
  return {conv_next->classes, conv_next->image_size};
}

/// Nodes that have ranks.
int used_nodes(const Scenario& scenario) {
  const auto& platform = scenario.platform;
  const auto last = platform.gpus[static_cast<std::size_t>(scenario.job.gpus) - 1];
  return platform.devices[last.index()].node + 1;
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

/// JOB, a dictionary of the settings that the training loop reads.
std::string job_code(const Scenario& scenario, const ModelShape& shape) {
  const auto& job = scenario.job;
  const auto* ddp = std::get_if<Ddp>(&job.strategy);
  const auto* fsdp = std::get_if<Fsdp>(&job.strategy);
  const bool is_whole = ddp != nullptr || std::holds_alternative<NoExchange>(job.strategy);
  const auto sizes = sample_sizes(shape);
  std::string text = "JOB = {\n";
  const auto add = [&](const char* key, const auto& value) {
    text += fmt::format("    \"{}\": {},\n", key, value);
  };
  add("gpus", job.gpus);
  add("batch_per_gpu", job.batch_per_gpu);
  add("accumulate", job.accumulate);
  add("tokens", sizes.image_size > 0 ? 0 : scenario.model.tokens_per_sample);
  add("image_size", sizes.image_size);
  add("classes", sizes.classes);
  add("precision", text_literal(name_of(job.precision)));
  add("autocast", autocast(job));
  add("state_dtype", text_literal(name_of(job.state_dtype)));
  add("strategy", text_literal(strategy_words[job.strategy.index()]));
  add("no_sync", python_bool(has_no_sync(job)));
  add("optimizer", text_literal(name_of(job.optimizer)));
  add("zero_redundancy", python_bool(ddp != nullptr && ddp->zero_redundancy));
  add("parameters_as_bucket_view", python_bool(ddp != nullptr && ddp->parameters_as_bucket_view));
  add("cpu_offload", python_bool(fsdp != nullptr && fsdp->cpu_offload));
  add("clip_grad_norm", python_bool(job.clip_grad_norm));
  add("zero_grad", text_literal(name_of(job.zero_grad)));
  add("float_logits", python_bool(job.float_logits || half_parameters(job)));
  add("loss_in_model", python_bool(job.compiled && job.fused_loss && is_whole));
  add("attention", attention(job.attention));
  add("channels_last", python_bool(job.channels_last));
  add("pin_memory", python_bool(job.input.pin_memory));
  return text + "}\n";
}

std::string prediction_code(const Experiment& experiment) {
  std::string overrides;
  for (const auto& [key, value] : experiment.set)
    overrides += fmt::format("    ({}, {}),\n", text_literal(key), text_literal(value));
  return fmt::format(
      "PREDICTION = {{\n    \"scenario\": {},\n    \"step_time_ms\": {:.6g},\n"
      "    \"interval_ms\": [{:.6g}, {:.6g}],\n}}\nOVERRIDES = [{}{}]  # keys of the scenario\n",
      text_literal(experiment.scenario), experiment.step_time.value() * ms, experiment.range.low.value() * ms,
      experiment.range.high.value() * ms, overrides.empty() ? "" : "\n", overrides);
}

/// Python that prepares and wraps the model, by the code that `gradway optimize` prints.
std::string prepare_code(Job job) {
  job.nccl.clear();  // run.sh sets them
  job.input.dataset.reset();
  auto text = snippet_of(job).text;
  const auto* ddp = std::get_if<Ddp>(&job.strategy);
  if (ddp != nullptr && ddp->comm_hook == CommHook::powersgd)
    text += "state.start_powerSGD_iter = 2  # the timed steps are compressed\n";
  return "\n\ndef prepare(model, blocks, loss_fn, local_rank):\n"
         "    \"\"\"Recomputation, formats, compilation and the strategy.\"\"\"\n" +
         indented(text) + "    return model, loss_fn\n";
}

std::string train_py(const Scenario& scenario, const Experiment& experiment) {
  const bool needs_torchvision = !std::holds_alternative<DecoderShape>(experiment.shape);
  return fmt::format(
             "#!/usr/bin/env python3\n"
             "\"\"\"Times training steps of {} as in the scenario {}.\n\n"
             "    bash run.sh                start it on every node; the last line is JSON\n"
             "    bash check.sh              compare measured.yaml with the prediction\n"
             "    python3 train.py --count   number of parameters; needs no PyTorch\n\n"
             "Needs PyTorch 2.4 to 2.11{}. Written by '{}', gradway {}.\n\"\"\"\n"
             "import argparse\nimport contextlib\nimport json\nimport os\nimport statistics\nimport sys\n\n",
             printable(scenario.model.name), printable(experiment.scenario),
             needs_torchvision ? " and torchvision" : "", experiment_mark, experiment.version) +
         model_code(scenario, experiment.shape)
             .insert(0, job_code(scenario, experiment.shape) + prediction_code(experiment)) +
         prepare_code(scenario.job) + std::string{training_code()};
}

std::string run_sh(const Scenario& scenario) {
  const auto& job = scenario.job;
  const int nodes = used_nodes(scenario);
  std::string text = fmt::format(
      "#!/usr/bin/env bash\n# Runs train.py on {0} GPU{1} of {2} node{3}. Written by '{4}'.\n#\n"
      "#     bash run.sh [ARGUMENTS OF train.py]\n"
      "#     bash run.sh --nsys    under Nsight Systems, for 'gradway import nsys'\n",
      job.gpus, job.gpus == 1 ? "" : "s", nodes, nodes == 1 ? "" : "s", experiment_mark);
  if (nodes > 1)
    text +=
        "#\n# Start it on every node, with MASTER, the name or address of one of them, which all can reach,\n"
        "# and NODE_RANK, 0 on that node and 1, 2, ... on the others:\n"
        "#     MASTER=node-a NODE_RANK=0 bash run.sh\n";
  text += "set -euo pipefail\ncd \"$(dirname \"${BASH_SOURCE[0]}\")\"\n\n";
  for (const auto& [name, value] : job.nccl) text += fmt::format("export {}={}\n", name, shell_word(value));
  if (job.launch_blocking) text += "export CUDA_LAUNCH_BLOCKING=1\n";
  text += fmt::format("launch=(torchrun --nnodes={} --nproc-per-node={}", nodes, job.gpus / nodes);
  text += nodes > 1
              ? "\n  --node-rank=\"${NODE_RANK:?set it to 0 on MASTER, and to 1, 2, ... on the others}\"\n"
                "  --master-addr=\"${MASTER:?set it to the address of the node with NODE_RANK 0}\""
                " --master-port=\"${PORT:-29500}\")\n"
              : " --standalone)\n";
  text +=
      "if [[ \"${1:-}\" == --nsys ]]; then\n"
      "  shift\n"
      "  nsys profile --trace=cuda,nvtx --capture-range=cudaProfilerApi --capture-range-end=stop \\\n"
      "    --force-overwrite=true --output=nsys \"${launch[@]}\" train.py --profile nsys \"$@\"\n"
      "  exec nsys export --type sqlite --force-overwrite=true --output=nsys.sqlite nsys.nsys-rep\n"
      "fi\n"
      "exec \"${launch[@]}\" train.py \"$@\"\n";
  return text;
}

std::string check_sh() {
  return fmt::format(
      "#!/usr/bin/env bash\n"
      "# Compares measured.yaml, which run.sh writes, with the prediction. Written by '{}'.\n"
      "set -euo pipefail\n"
      "cd \"$(dirname \"${{BASH_SOURCE[0]}}\")\"\n"
      "exec \"${{GRADWAY:-gradway}}\" validate measured.yaml \"$@\"\n",
      experiment_mark);
}

std::string readme(const Scenario& scenario, const Experiment& experiment) {
  const int nodes = used_nodes(scenario);
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
          {"check.sh", check_sh()},
          {"scenario.yaml", experiment.text},
          {"README.md", readme(scenario, experiment)}};
}

}  // namespace gradway::report
