// SPDX-License-Identifier: Apache-2.0
#include "readers/training/scenario_draft.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "readers/training/trainer_settings.hpp"
#include "sim/base/nearest.hpp"
#include "sim/workload/operation.hpp"
#include "sim/workload/optimizer.hpp"

namespace gradway {
namespace {

class Deepspeed {
 public:
  Deepspeed(const SettingsFile& file, const DraftOptions& options)
      : settings_{file, dialects::deepspeed()}, options_{options} {}

  Draft draft() {
    read_model();
    read_platform(keys_, options_, settings_);
    const auto stage = read_stage();
    if (stage > 0) {
      keys_.put("strategy.kind", "zero");
      keys_.put("strategy.stage", stage);
    }
    keys_.read(settings_);
    const auto batch = deepspeed_batch(settings_, options_, split());
    const auto precision = read_precision();
    read_job(batch, precision);
    read_strategy(stage, batch, precision);
    read_optimizer();
    return keys_.finish(settings_);
  }

 private:
  void read_model() {
    keys_.put("model", options_.model);
    if (options_.model.empty())
      settings_.problem(settings_.whole(), "the file does not name a model",
                        "name one with --model; 'gradway list models' lists them");
  }

  /// Number of GPUs that work on the same samples.
  int split() {
    constexpr std::string_view key = "sequence_parallel_size";
    const auto sequence = std::max(1, settings_.whole_number(key, 0, 1024).value_or(1));
    if (sequence > 1)
      settings_.note(key,
                     fmt::format("gradway does not split sequences over GPUs: each GPU trains on its own "
                                 "samples, {} times as many per step as in the file",
                                 sequence));
    return keys_.ranks("parallel.tensor") * keys_.ranks("parallel.pipeline") * sequence;
  }

  /// Returns fp32, bf16 or fp16; empty after a problem.
  std::string read_precision() {
    constexpr std::string_view bf16 = "bf16.enabled";
    constexpr std::string_view fp16 = "fp16.enabled";
    const bool is_bf16 = settings_.boolean(bf16).value_or(false);
    const bool is_fp16 = settings_.boolean(fp16).value_or(false);
    const auto& option = options_.precision;
    if (is_bf16 && is_fp16) {
      settings_.problem(settings_.where(fp16), "fp16 and bf16 are both enabled",
                        "DeepSpeed accepts only one of them", {{settings_.where(bf16), "bf16 is here"}});
      return {};
    }
    if (is_bf16 || is_fp16) {
      std::string enabled = is_bf16 ? "bf16" : "fp16";
      if (option.empty() || option == enabled) return enabled;
      settings_.problem(settings_.where(is_bf16 ? bf16 : fp16),
                        fmt::format("the file has precision {}, but --precision is {}", enabled, option),
                        "remove --precision, or change the file");
      return {};
    }
    if (!option.empty()) return option;
    if (const bool of_bf16 = settings_.is_automatic(bf16); of_bf16 || settings_.is_automatic(fp16)) {
      settings_.problem(of_bf16 ? settings_.where(bf16) : settings_.where(fp16),
                        "'enabled' is \"auto\": the file does not give the precision",
                        "give it with --precision: bf16, fp16 or fp32");
      return {};
    }
    return "fp32";
  }

  void read_job(const DeepSpeedBatch& batch, const std::string& precision) {
    keys_.put("job.gpus", batch.gpus);
    keys_.put("job.batch_per_gpu", batch.micro);
    keys_.put("job.precision", precision);
    read_states(precision);
    if (batch.accumulate > 1) keys_.put("job.accumulate", batch.accumulate);
    if (options_.sequence) keys_.put("job.sequence", *options_.sequence);
    keys_.put("job.framework", "deepspeed");
  }

  /// Master weights, gradients and optimizer states in bf16 instead of fp32.
  /// @source DeepSpeed 0.18, runtime/precision_config.py and docs/_pages/config-json.md
  void read_states(const std::string& precision) {
    constexpr std::string_view masters = "bf16.bf16_master_weights_and_grads";
    constexpr std::string_view states = "bf16.bf16_optimizer_states";
    const bool has_masters = settings_.boolean(masters).value_or(false);
    const bool has_states = settings_.boolean(states).value_or(false);
    if (precision != "bf16" || has_masters == has_states) {
      if (precision == "bf16" && has_masters) keys_.put("job.state_dtype", "bf16");
      return;
    }
    settings_.note(has_masters ? masters : states,
                   "gradway keeps master weights, gradients and optimizer states in one format: fp32 is "
                   "assumed, which needs more memory");
  }

  /// Returns the stage. In older files the table is a boolean.
  int read_stage() {
    constexpr auto key = "zero_optimization";
    if (const auto* zero = settings_.find(key); zero != nullptr && zero->kind != FileSetting::Kind::table) {
      settings_.problem(settings_.place(*zero), "'zero_optimization' is not a map",
                        "write it as in {\"stage\": 2}");
      return 0;
    }
    return settings_.whole_number("zero_optimization.stage", 0, 3).value_or(0);
  }

  void read_strategy(int stage, const DeepSpeedBatch& batch, const std::string& precision) {
    const auto sent = read_communication();
    // In older files the key is a boolean.
    const bool is_old = settings_.boolean("zero_optimization.cpu_offload").value_or(false);
    const auto offloads =
        settings_.word("zero_optimization.offload_optimizer.device", is_old ? "cpu" : "none");
    if (stage == 0) return read_ddp(batch, sent.empty() ? precision : sent);
    keys_.put("strategy.offload_optimizer", offloads);
    constexpr std::string_view device = "zero_optimization.offload_param.device";
    const auto shards = settings_.word(device);
    const bool is_offloaded = stage == 3 && !offloads.empty();
    if (is_offloaded) keys_.put("strategy.offload_param", shards);
    if (!is_offloaded && !shards.empty())
      settings_.note(device, "gradway offloads parameters of stage 3, with the optimizer's states");
    keys_.put("strategy.communication_dtype", sent);
    read_sums(stage, precision);
  }

  /// Only ZeRO stage 1 with a bf16 model accumulates gradients in another type (BF16_Optimizer).
  void read_sums(int stage, const std::string& precision) {
    constexpr std::string_view key = "data_types.grad_accum_dtype";
    const auto sum_type = settings_.text(key);
    if (!sum_type) return;
    if (*sum_type == "fp32" && stage == 1 && precision == "bf16")
      keys_.put("strategy.grad_accum_dtype", *sum_type);
  }

  std::string read_communication() {
    constexpr std::string_view key = "communication_data_type";
    auto gradient_type = settings_.text(key);
    if (!gradient_type) return {};
    if (*gradient_type == "bfp16") gradient_type = "bf16";  // Spelling of older releases.
    if (std::ranges::find(number_words, *gradient_type) != number_words.end()) return *gradient_type;
    std::vector<std::string> words{number_words.begin(), number_words.end()};
    settings_.problem(settings_.where(key), fmt::format("invalid type of gradients '{}'", *gradient_type),
                      suggestion(*gradient_type, words));
    return {};
  }

  /// Without ZeRO DeepSpeed reduces all gradients after the backward pass, 500 million elements at a time.
  void read_ddp(const DeepSpeedBatch& batch, const std::string& sent) {
    if (batch.gpus == 1) return keys_.put("strategy.kind", "none");
    keys_.put("strategy.kind", "ddp");
    keys_.put("strategy.bucket_cap", "2 GB");
    if (sent == "bf16" || sent == "fp16") keys_.put("strategy.comm_hook", sent);
    settings_.note_missing(
        "ZeRO is off: DeepSpeed then reduces gradients after the backward pass, 500 million at a time, in "
        "the type of the model; this scenario uses DDP with buckets of that size, which can begin earlier");
  }

  void read_optimizer() {
    const auto type = settings_.text("optimizer.type");
    const bool is_torch = settings_.boolean("optimizer.params.torch_adam").value_or(false);
    keys_.put("optimizer", name_of(Optimizer::adamw));
    if (!type)
      return settings_.note_missing(
          "optimizer: the file does not name one, so adamw is assumed, which trainers set by default; "
          "'optimizer' "
          "in the scenario changes it");
    for (const auto& row : settings_.dialect().others) {
      if (row.word(0) != *type) continue;
      keys_.put("optimizer", row.value("ours"));
      return settings_.note(
          "optimizer.type",
          fmt::format("gradway does not compress what it sends: it is predicted as {}", row.value("ours")));
    }
    const auto optimizer = optimizer_word(settings_, "optimizer.type", *type, !is_torch);
    const bool has_momentum = settings_.number("optimizer.params.momentum", 0).value_or(0) > 0;
    if (optimizer.empty())
      return settings_.note(
          "optimizer.type",
          "gradway does not support this optimizer, so adamw is assumed; 'optimizer' in the scenario "
          "changes it");
    const bool is_sgd = optimizer == name_of(Optimizer::sgd);
    keys_.put("optimizer", is_sgd && has_momentum ? name_of(Optimizer::sgd_momentum) : optimizer);
  }

  TrainerSettings settings_;
  const DraftOptions& options_;
  DraftedKeys keys_{};
};

}  // namespace

Draft draft_of_deepspeed(const SettingsFile& file, const DraftOptions& options) {
  return Deepspeed{file, options}.draft();
}

}  // namespace gradway
