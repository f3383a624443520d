// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "sim/config/read/fields.hpp"
#include "sim/config/read/input.hpp"
#include "sim/config/read/nccl_variables.hpp"
#include "sim/config/read/read.hpp"
#include "sim/config/read/scenario_parts.hpp"
#include "sim/config/yaml/parse_value.hpp"
#include "sim/config/yaml/quantities.hpp"
#include "sim/workload/profile_words.hpp"

namespace gradway::config {
namespace {

constexpr int most_samples = 1'000'000'000;  // per step

enum class Finetuning { full, lora, qlora };

void read_finetune(Reader& job, Job& result) {
  const auto how =
      job.optional("finetune", one_of<Finetuning>("a fine-tuning method", finetune_words), Finetuning::full);
  Lora lora{.quantised = how == Finetuning::qlora};
  lora.rank = job.optional("lora_rank", integer(1, 65536), lora.rank);
  lora.targets = job.optional(
      "lora_targets", one_of<Lora::Targets>("a choice of LoRA targets", lora_target_words), lora.targets);
  lora.drops_inputs = job.optional("lora_dropout", boolean, false);
  lora.double_quant = job.optional("double_quant", boolean, true);
  lora.keeps_inputs = job.optional("nf4_keeps_inputs", boolean, false);
  const auto refuse = [&](const char* key, bool counts, std::string_view needed) {
    if (counts)
      job.error(job.value_place(key),
                fmt::format("job.{} has no effect: job.finetune is {}", key,
                            how == Finetuning::full ? "full" : "lora"),
                fmt::format("leave it out, or write 'finetune: {}'", needed));
  };
  if (how != Finetuning::qlora) {
    refuse("double_quant", !lora.double_quant, "qlora");
    refuse("nf4_keeps_inputs", lora.keeps_inputs, "qlora");
  }
  if (how != Finetuning::full) {
    result.lora = lora;
    return;
  }
  refuse("lora_rank", lora.rank != Lora{}.rank, "lora");
  refuse("lora_targets", lora.targets != Lora{}.targets, "lora");
  refuse("lora_dropout", lora.drops_inputs, "lora");
}

void read_job(Reader job, bool trains, ScenarioSpec& spec) {
  auto& result = spec.job;
  read_fields(job, result, trains ? "" : "batch_per_gpu");
  if (has_half_states(result) &&
      name_of(result.state_dtype) != name_of(precision_outside_fp8(result.precision))) {
    const auto number = name_of(result.state_dtype);
    job.error(job.value_place("state_dtype"),
              fmt::format("parameters in {} require job.precision {}, not {}", number, number,
                          name_of(result.precision)),
              fmt::format("set job.precision to {}", number));
  }
  spec.global_batch = job.maybe("global_batch", integer(1, most_samples));
  if (spec.global_batch && job.has("accumulate"))
    job.error(job.key_place("accumulate"), "'accumulate' conflicts with 'global_batch'", "keep one of them",
              {{job.key_place("global_batch"), "global_batch is set here"}});
  read_finetune(job, result);
  job.finish("job");
}

/// Computes job.accumulate from job.global_batch and the number of data-parallel ranks.
void derive_accumulate(ScenarioSpec& spec, Problems& problems) {
  auto& job = spec.job;
  if (!spec.global_batch || !problems.empty() || job.gpus % job.layout.model_parallel_ranks() != 0) return;
  const std::int64_t samples = *spec.global_batch;
  const auto ranks = job.data_parallel();
  const auto of_micro_step = static_cast<std::int64_t>(ranks) * job.batch_per_gpu;
  const auto refuse = [&](std::string message, std::string hint) {
    problems.add(spec.place("job.global_batch"), std::move(message), std::move(hint));
  };
  if (samples % of_micro_step != 0) {
    const auto below = samples / of_micro_step * of_micro_step;
    const auto above = below + of_micro_step;
    return refuse(
        fmt::format(
            "job.global_batch {} is not a multiple of {} ({} data-parallel rank{} with micro-batches of {})",
            samples, of_micro_step, ranks, ranks == 1 ? "" : "s", job.batch_per_gpu),
        below > 0 ? fmt::format("job.global_batch {} or {} would fit", below, above)
                  : fmt::format("job.global_batch {} would fit", above));
  }
  const auto steps = samples / of_micro_step;
  if (steps > most_accumulated)
    return refuse(fmt::format("job.global_batch {} requires {} micro-batches per rank, more than {}", samples,
                              steps, most_accumulated),
                  "increase job.batch_per_gpu");
  job.accumulate = static_cast<int>(steps);
}

/// Traffic that comes and goes: start < end <= start + period.
void check_times(Reader& flow, const BackgroundFlow& times) {
  const auto refuse = [&](const char* key, std::string message, std::string hint) {
    flow.error(flow.value_place(key), std::move(message), std::move(hint));
  };
  if (times.end && *times.end <= times.start)
    refuse("end", "traffic ends before it starts", "set an end after its start");
  if (times.period && !times.end)
    refuse("period", "traffic with a period needs an end, after which it pauses", "add 'end'");
  if (times.period && times.end && *times.end - times.start >= *times.period)
    refuse("period", "traffic lasts longer than its period, so it never pauses",
           "leave 'end' and 'period' out, or set a longer period");
}

BackgroundFlow read_traffic(Reader flow) {
  BackgroundFlow result;
  read_fields(flow, result);
  flow.exactly_one({"rate", "load"}, "the demand of the flow");
  result.load = flow.optional("load", efficiency, 1.0);
  result.weight = flow.optional("weight", weight, 1.0);
  check_times(flow, result);
  flow.finish();
  return result;
}

SpeedFactors read_speeds(Reader faster) {
  SpeedFactors speeds;
  for (const auto hardware_part : all_parts)
    speeds[hardware_part] =
        faster.optional(key_of(hardware_part),
                        hardware_part == HardwarePart::nvlink ? times_as_fast_or_none : times_as_fast, 1.0);
  faster.finish();
  return speeds;
}

/// Whether strategy.kind is collective. Other keys depend on it, so that it is read first.
bool is_collective(const std::vector<Entry>& scenario) {
  const auto strategy = std::ranges::find(scenario, "strategy", &Entry::key);
  if (strategy == scenario.end()) return false;
  const auto* kind = strategy->value.find("kind");
  return kind != nullptr && kind->value.text == "collective";
}

void note_places(const std::vector<Entry>& entries, const std::string& prefix,
                 std::map<std::string, Where>& places) {
  for (const auto& [key, where, value] : entries) {
    places.emplace(prefix + key, value.where);
    note_places(value.entries, prefix + key + ".", places);
  }
}

}  // namespace

Named named(const Node& node) {
  return {text(node), node.where};
}
Precision precision(const Node& node) {
  return one_of<Precision>("a precision", precision_words)(node);
}
Precision precision_of_profile(const Node& node) {
  return one_of<Precision>("a precision", profile_words::precisions)(node);
}
Optimizer optimizer(const Node& node) {
  return one_of<Optimizer>("an optimizer", optimizer_words)(node);
}

/// The model is a name, or a map with `based_on: NAME` and the keys of that model's file that differ.
void read_model_of_scenario(Reader& file, ScenarioSpec& spec) {
  const auto entry = std::ranges::find(file.entries(), "model", &Entry::key);
  if (entry == file.entries().end() || entry->value.kind != Node::Kind::map) {
    spec.model = file.required("model", named);
    return;
  }
  auto model = file.map("model");
  spec.model = model.required("based_on", named);
  std::ranges::copy_if(model.entries(), std::back_inserter(spec.model_changes),
                       [](const Entry& change) { return change.key != "based_on"; });
}

Where ScenarioSpec::place(const std::string& key) const {
  const auto entry = given.find(key);
  return entry != given.end() ? entry->second : where;
}

ScenarioSpec read_scenario(Reader& file) {
  ScenarioSpec spec;
  spec.where = file.where();
  note_places(file.entries(), "", spec.given);
  file.maybe("source", text);
  const bool trains = !is_collective(file.entries());
  if (trains) {
    read_model_of_scenario(file, spec);
  } else {
    file.forbid("model", "'model' has no effect with strategy.kind collective", "leave it out");
  }
  spec.platform = file.required("platform", named);
  read_job(file.map("job"), trains, spec);
  read_strategy(file, spec);
  spec.job.optimizer = file.optional("optimizer", optimizer, spec.job.optimizer);
  if (auto nccl = file.maybe_map("nccl")) spec.job.nccl = read_nccl(*nccl);
  if (auto network = file.maybe_map("network"))
    spec.job.network = read_group<NetworkConditions>(std::move(*network));
  for (auto& flow : file.maps("traffic")) {
    spec.traffic.push_back(flow.where());
    spec.job.traffic.push_back(read_traffic(flow));
  }
  if (auto input = file.maybe_map("input")) read_input(*input, spec);
  read_campaign(file, spec);
  if (auto faster = file.maybe_map("faster")) spec.faster = read_speeds(*faster);
  if (auto anchor = file.maybe_map("anchor")) spec.anchor = read_anchor(*anchor, spec.anchor_gpus);
  spec.job.steps = file.optional("steps", integer(1, 100000), spec.job.steps);
  if (spec.job.input.epoch_steps)
    file.forbid("steps", "'steps' conflicts with input.epoch_steps, which sets the number of simulated steps",
                "keep one of them");
  file.finish("");
  derive_accumulate(spec, file.problems());
  return spec;
}

}  // namespace gradway::config
