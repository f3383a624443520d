// SPDX-License-Identifier: Apache-2.0
#include "cli/commands.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

namespace gradway::cli {

namespace {

constexpr bool not_an_example = false;
constexpr std::string_view which_of_these =
    "Which of these: plan chooses layouts for a model and an amount of data, with failures; compare\n"
    "runs one scenario as written on several platforms; optimize searches its settings or layout on\n"
    "one; campaign predicts its whole training with failures, checkpoints and spot nodes.";

}  // namespace

std::span<const Command> commands() {
  static constexpr std::array table{
      Command{"init", "write a commented scenario to start from",
              "gradway init --model llama3_8b --platform aws-p5.48xlarge --gpus 64 -o mine.yaml\n"
              "gradway init --model vit_l_32 --platform aws-p4d.24xlarge --gpus 8 --strategy fsdp",
              add_init},
      Command{"capture", "record a training step of your own PyTorch program, without a GPU, as a model",
              "gradway capture train.py --batch_size=12    # writes models/train.yaml\n"
              "gradway capture -o models/mine.yaml train.py",
              add_capture,
              "usage: gradway capture [OPTIONS] PROGRAM [ARGUMENTS OF PROGRAM]. Your python3 runs the\n"
              "program up to its second optimizer step, with tensors that use no memory.\n"
              "docs/my-program.md explains the rest.",
              not_an_example},
      Command{"run", "predict the step time of a scenario, where the time goes and what it costs",
              "gradway run scenarios/article/g6e.yaml\n"
              "gradway run article/g6e --set job.gpus=4 --set strategy.bucket_cap='100 MiB'\n"
              "gradway run article/g6e --platform aws-p5.48xlarge --gpus 16\n"
              "gradway run article/g6e --json | jq .metrics.step_time_s\n"
              "gradway run article/g6e --out result    # open result/trace.json.gz in ui.perfetto.dev\n"
              "gradway run scale/gpt-aws-p5 --tokens 300B --deadline '14 days' --budget '100k USD'\n"
              "gradway run scale/gpt-aws-p5 --fit      # the largest batch_per_gpu",
              add_run,
              "TFLOP/s     per GPU: forward and backward pass of the model (matrix products,\n"
              "            convolutions, attention), without recomputation\n"
              "MFU         TFLOP/s divided by the GPU's dense peak in the job's precision\n"
              "met         the whole prediction interval keeps a limit\n"
              "may be met  a part of the prediction interval keeps a limit"},
      Command{"ui", "simulate other settings and sweeps in a browser, with a server on this machine",
              "gradway ui                  # prints the address to open; Ctrl-C ends it\n"
              "gradway ui article/g6e      # opens this scenario at once\n"
              "gradway ui mine.yaml --port 8080",
              add_ui, "", not_an_example},
      Command{"explain", "show what bounds a step, and what faster hardware or other settings would gain",
              "gradway explain article/g6e\n"
              "gradway explain article/p4d --set job.gpus=4 --json\n"
              "gradway run article/g6e --set faster.host_memory=2    # simulate one of its answers",
              add_explain},
      Command{"sweep", "simulate all combinations of several values of keys",
              "gradway sweep article/g6e --vary job.gpus=1,2,4,8 --vary strategy.comm_hook=none,bf16\n"
              "gradway sweep article/g6e --vary strategy.bucket_cap='25 MiB,100 MiB' --csv\n"
              "gradway sweep article/g6e --vary job.gpus=2,4,8 --out sweep    # a second run continues\n"
              "gradway sweep article/g6e --vary job.gpus=2,4,8 --shard 1/2 --out parts    # the first of two "
              "machines\n"
              "gradway sweep --merge parts --out sweep    # the same files as from one machine",
              add_sweep},
      Command{"compare", "compare platforms by step time and cost, or a program before and after a change",
              "gradway compare article/p4d --platforms aws-g6e.48xlarge,aws-p4d.24xlarge\n"
              "gradway compare article/p4d --platforms 'aws-p*' --gpus 8,16\n"
              "gradway compare article/p4d --platforms aws-p4d.24xlarge --gpus 2,4,8 --samples 1.2e9\n"
              "gradway compare article/p4d --platforms aws-g6e.48xlarge,aws-p4d.24xlarge --price-date "
              "2025-03-01\n"
              "gradway compare before.yaml after.yaml --platforms dgx-h100 --markdown --limit 2%    # of "
              "captures",
              add_compare, which_of_these},
      Command{"campaign",
              "predict time and cost of a whole training with failures, checkpoints and spot nodes",
              "gradway campaign campaign/llama2_7b-aws-p5\n"
              "gradway campaign campaign/llama2_7b-aws-p5 --deadline '30 days' --budget '700k USD'\n"
              "gradway campaign campaign/llama2_7b-aws-p5 --set campaign.checkpoint.interval='2 h' --json\n"
              "gradway campaign campaign/llama2_7b-aws-p5 --vary platform=aws-p5.48xlarge,aws-p4d.24xlarge\n"
              "gradway campaign campaign/llama2_7b-aws-p5 --out result",
              add_campaign, which_of_these},
      Command{"plan", "choose hardware for a training: layouts, days and dollars side by side",
              "gradway plan --model llama3_8b --platforms 'aws-p5*' --gpus 64,128 --tokens 1T\n"
              "gradway plan --model config.json --platforms aws-p5.48xlarge,gcp-a3-megagpu-8g --gpus 256 "
              "--tokens 300B --deadline '30 days' --budget '1M USD'\n"
              "gradway plan --out plan.html    # choose in a page, which works without gradway",
              add_plan, which_of_these},
      Command{
          "optimize", "search for the fastest settings of DDP, FSDP or ZeRO, or for the fastest layout",
          "gradway optimize article/p4d\n"
          "gradway optimize article/g6e --lossy\n"
          "gradway optimize article/g6e --over bucket_cap,comm_hook --lossy --json | jq .best.set\n"
          "gradway optimize h200-4x/gpt_small --over bucket_cap --over nccl.NCCL_PROTO=Simple,LL128\n"
          "gradway optimize mine.yaml --layout --global-batch 1024    # tensor, pipeline, data parallelism",
          add_optimize, which_of_these},
      Command{"validate", "compare predictions with measured step times",
              "gradway validate scenarios/article/cases.yaml\n"
              "gradway validate scenarios/article/cases.yaml --max-mean-error 3%\n"
              "gradway validate scenarios/h200-4x/cases.yaml --set platform=my-node",
              add_validate},
      Command{"diagnose", "find what makes the steps of a traced run longer, or why a job hangs",
              "gradway diagnose rank0.json.gz rank1.json.gz\n"
              "gradway diagnose traces/*.json.gz --platform dgx-h100 --step-time 152.4ms --out diagnosis\n"
              "gradway diagnose rank0.json.gz --scenario mine.yaml --json | jq .causes[0]\n"
              "gradway diagnose hang/ --platform dgx-h100    # why a job hangs: dumps, RAS, stacks, logs",
              add_diagnose, "", not_an_example},
      Command{
          "watch", "find jumps, drifts and stalls in the step times of a run",
          "gradway watch train.log\n"
          "gradway watch steps.jsonl --scenario mine.yaml --max-lost 5%    # exit status 4 if more is lost\n"
          "gradway watch metrics.prom --key train_step_seconds --json",
          add_watch, "", not_an_example},
      Command{
          "calibrate", "fit a calibration to measurements of a node, or check one",
          "gradway calibrate fit collectives.json copies.json -o calibration.yaml --date 2026-11-21\n"
          "gradway calibrate fit *.json.gz -o calibration.yaml --date 2026-11-21 --source 'my node' --force\n"
          "gradway calibrate check h200-4x samples.json --platform h200-4x",
          add_calibrate},
      Command{
          "import", "convert traces, topologies, logs and configurations of other programs",
          "gradway import kineto trace.json.gz -o models/mine.yaml --step-time 39.3ms\n"
          "gradway import kineto trace.json -o models/mine.yaml --gpu h200 --batch 32 --force\n"
          "gradway import nsys report.sqlite -o models/mine.yaml\n"
          "gradway import chakra traces/g6e.0.et --gpu l40s --batch 32 -o models/mine.yaml\n"
          "gradway import probe samples.json.gz -o platforms/mine.yaml --calibration mine\n"
          "nvidia-smi topo -m > topo.txt && gradway import topo topo.txt --gpu h200 -o platforms/mine.yaml\n"
          "gradway import nccl-topo nccl-topo.xml -o platforms/mine.yaml\n"
          "gradway import nccl-tests *.log --transport p2p -o samples.json\n"
          "gradway import deepspeed ds_config.json --model gpt_1b3 --platform dgx-h100 --gpus 16 -o "
          "mine.yaml\n"
          "gradway import torchtitan llama3_8b.toml --platform dgx-h100 --gpus 64 -o mine.yaml\n"
          "gradway import hf config.json -o models/mine.yaml --sequence 4096",
          add_import},
      Command{"export", "write simulated steps for other programs, or a PyTorch program to check them",
              "gradway export chakra article/g6e -o traces\n"
              "gradway export chakra published/all-reduce --set job.gpus=8 -o traces\n"
              "gradway export kineto article/g6e -o kineto    # for Holistic Trace Analysis\n"
              "gradway export experiment article/g6e -o experiment    # to run on GPUs",
              add_export},
      Command{"show", "show a platform, a calibration, a model or a plan as gradway reads it",
              "gradway show platform aws-p4d.24xlarge\n"
              "gradway show calibration h200-4x\n"
              "gradway show model vit_l_32\n"
              "gradway show plan article/g6e --set strategy.bucket_cap='100 MiB'",
              add_show},
      Command{"list", "list the names of platforms, gpus, models and other data, or the keys of scenarios",
              "gradway list platforms\n"
              "gradway list gpus            # memory, peak rates, measured kernels\n"
              "gradway list keys            # all keys of scenarios\n"
              "GRADWAY_PATH=my-data gradway list scenarios",
              add_list},
      Command{"schema", "print a JSON Schema of a kind of file, for editors, or of the figures of reports",
              "gradway schema > gradway-scenario.json    # then, in the first line of a scenario:\n"
              "# yaml-language-server: $schema=gradway-scenario.json",
              add_schema, "", not_an_example},
      Command{"help", "explain a topic, a command, or the code of a warning",
              "gradway help units\ngradway help memory-tight", add_help, "", not_an_example},
      Command{"manual", "print the manual page", "gradway manual | man -l -", add_manual, "", not_an_example},
      Command{"completion", "print the completion script of a shell", "source <(gradway completion bash)",
              add_completion, "", not_an_example},
  };
  return table;
}

Override given_by(std::string_view option, const std::string& key, const std::string& value) {
  Where where;
  where.file = fmt::format("{} {}", option, value);
  return {key, value, std::move(where)};
}

void add_scenario(CLI::App& app, std::string& scenario) {
  app.add_option("SCENARIO", scenario, "scenario: a file, or a name from 'gradway list scenarios'")
      ->required();
}

void add_overrides(CLI::App& app, std::vector<std::string>& texts) {
  app.add_option("--set", texts, "set a key of the scenario; can be repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
}

std::vector<Override> parse_overrides(const std::vector<std::string>& texts) {
  std::vector<Override> overrides;
  std::vector<Problem> problems;
  for (const auto& text : texts) {
    const auto equals = text.find('=');
    if (equals == std::string::npos || equals == 0) {
      problems.push_back({Where{},
                          fmt::format("'--set {}' is not KEY=VALUE", text),
                          {},
                          equals == 0 ? "write a key before '=', such as '--set job.gpus=4'"
                                      : fmt::format("write '--set {}=VALUE'", text)});
    } else if (const auto key = text.substr(0, equals);
               std::ranges::find(overrides, key, &Override::key) != overrides.end()) {
      problems.push_back({Where{}, fmt::format("'--set {}' is given twice", key), {}, "give each key once"});
    } else {
      overrides.push_back({key, text.substr(equals + 1)});
    }
  }
  if (!problems.empty()) throw ConfigError{problems};
  return overrides;
}

}  // namespace gradway::cli
