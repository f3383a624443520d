// SPDX-License-Identifier: Apache-2.0
#include "sim/config/find/resolve.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/make_warning.hpp"
#include "sim/base/nearest.hpp"
#include "sim/config/check/check.hpp"
#include "sim/config/read/scenario_parts.hpp"
#include "sim/platform/data_paths.hpp"
#include "sim/scenario/shared_by_loaders.hpp"
#include "sim/workload/architectures.hpp"
#include "sim/workload/attention_choice.hpp"

namespace gradway::config {
namespace {

void check_ranks(const ScenarioSpec& scenario, const PlatformSpec& platform, Problems& problems) {
  const auto* built = std::get_if<BuiltPlatform>(&platform.description.hardware);
  const auto gpus = scenario.job.gpus;
  if (built == nullptr || !built->nodes || gpus <= built->node.gpus * *built->nodes) return;
  const auto nodes = *built->nodes;
  const auto has = built->node.gpus * nodes;
  problems.add(
      scenario.place("job.gpus"),
      fmt::format("job.gpus {} is more than the {} GPU{} of the platform", gpus, has, has == 1 ? "" : "s"),
      fmt::format("job.gpus {} would fit", has),
      {{platform.size, fmt::format("{} node{} of {} GPU{}", nodes, nodes == 1 ? "" : "s", built->node.gpus,
                                   built->node.gpus == 1 ? "" : "s")}});
}

/// A profile in one precision does not predict another one, for which the framework launches other kernels.
void check_profile(const ScenarioSpec& scenario, const ModelSpec& model, Problems& problems) {
  if (!model.model.profile) return;
  const auto recorded = model.model.profile->precision;
  const auto wanted = scenario.job.precision;
  if (wanted == recorded || (!is_half(wanted) && !is_half(recorded))) return;
  problems.add(scenario.place("job.precision"),
               fmt::format("job.precision is {}, but the profile '{}' was recorded in {}", name_of(wanted),
                           model.model.name, name_of(recorded)),
               fmt::format("set it to {}, or record a step in {}", name_of(recorded), name_of(wanted)),
               {{model.kind, "the profile is here"}});
}

/// Keys of PyTorch's execution only have an effect if the kernels follow from the model's layers.
void check_how_it_runs(const ScenarioSpec& scenario, const ModelSpec& model, Problems& problems) {
  const bool follows = static_cast<bool>(model.model.run);
  for (const auto* key : {"job.attention", "job.memory_format", "job.compile", "job.fused_loss",
                          "job.loss_chunk", "job.mlp_tiles", "job.composed_norms", "job.implementation",
                          "job.fusions", "job.sequence", "job.document_length"}) {
    if (follows || !scenario.given.contains(key) || states_default(scenario.job, key) ||
        !trains(scenario.job.strategy))
      continue;
    problems.add(
        scenario.place(key),
        fmt::format("{} has no effect: the model '{}' {}", key, model.model.name,
                    model.model.profile ? "is a profile with recorded kernels" : "has explicit times"),
        model.model.profile ? "leave it out, or record a step with the other setting" : "leave it out",
        {{model.kind, "the model is here"}});
  }
  const auto sequence = scenario.job.sequence;
  const auto document = scenario.job.document_length;
  if (const auto tokens = sequence > 0 ? sequence : model.model.tokens_per_sample;
      follows && document > tokens)
    problems.add(scenario.place("job.document_length"),
                 tokens == 0
                     ? fmt::format("job.document_length {} has no effect: the model '{}' is not a text model",
                                   document, model.model.name)
                     : fmt::format("job.document_length {} is longer than a sample, which has {} tokens",
                                   document, tokens),
                 tokens == 0 ? "leave it out" : fmt::format("at most {}, or set job.sequence", tokens),
                 {{model.kind, "the model is here"}});
  if (!follows || sequence == 0) return;
  if (model.model.tokens_per_sample == 0) {
    problems.add(scenario.place("job.sequence"),
                 fmt::format("job.sequence {} has no effect: the model '{}' is not a text model", sequence,
                             model.model.name),
                 "leave it out", {{model.kind, "the model is here"}});
  } else if (const auto longest = model.model.longest_sequence; longest > 0 && sequence > longest) {
    problems.add(scenario.place("job.sequence"),
                 fmt::format("job.sequence {} is too long: the model '{}' has {} learned positions", sequence,
                             model.model.name, longest),
                 fmt::format("at most {}, or choose a model with more positions", longest),
                 {{model.kind, "the model is here"}});
  }
}

void check_norms(const ScenarioSpec& scenario, const ModelSpec& model, Problems& problems) {
  const auto& job = scenario.job;
  if (!job.composed_norms || !model.model.run) return;
  std::string why;
  Note where{model.kind, "the model is here"};
  if (has_megatron_modules(job)) {
    why = "Megatron's RMSNorm is one kernel";
    where = {scenario.place("job.framework"), "the framework is here"};
  } else if (!has_rms_norm_kernels(model.model.run)) {
    why = fmt::format("the model '{}' has no RMSNorm kernel", model.model.name);
  }
  if (why.empty()) return;
  problems.add(scenario.place("job.composed_norms"), "job.composed_norms has no effect: " + why,
               "leave it out", {std::move(where)});
}

void check_implementation(const ScenarioSpec& scenario, Problems& problems) {
  const auto& job = scenario.job;
  if (job.implementation != Implementation::hugging_face || !has_megatron_modules(job)) return;
  problems.add(scenario.place("job.implementation"),
               "job.implementation huggingface has no effect: Megatron has its own modules", "leave it out",
               {{scenario.place("job.framework"), "the framework is here"}});
}

void check_fusions(const ScenarioSpec& scenario, Problems& problems) {
  const auto& job = scenario.job;
  if (job.fusions == Fusions::all || has_megatron_modules(job)) return;
  problems.add(scenario.place("job.fusions"),
               fmt::format("job.fusions {} has no effect: job.framework is {}, which has none of "
                           "Megatron's fused kernels",
                           name_of(job.fusions), name_of(job.framework)),
               "leave it out, or write 'framework: megatron'");
}

std::string generation_in_words(const Gpu& gpu) {
  if (gpu.is_amd()) return fmt::format("AMD {}", gpu.architecture);
  return fmt::format("compute capability {}.{}", gpu.compute_capability / 10, gpu.compute_capability % 10);
}

/// PyTorch uses the requested kernel or fails; it never falls back to another one.
void check_attention(const ScenarioSpec& scenario, const ModelSpec& model, const GpuSpec& gpu,
                     Problems& problems) {
  const auto& job = scenario.job;
  if (job.attention == AttentionKernel::automatic || !model.model.run || gpu.gpu.ideal) return;
  const auto heads = attention_heads_of(model.model.run);
  if (heads.empty()) {
    problems.add(scenario.place("job.attention"),
                 fmt::format("job.attention {} has no effect: the model '{}' has no attention",
                             name_of(job.attention), model.model.name),
                 "leave it out", {{model.kind, "the model is here"}});
    return;
  }
  const auto problem_of = [&](AttentionKernel kernel, Precision precision) {
    for (const auto head : heads) {
      auto why =
          attention_limitation(kernel, {precision, gpu.gpu.capability_of_kernels(), head, gpu.gpu.is_amd()});
      if (!why.empty()) return why;
    }
    return std::string{};
  };
  const auto of_attention = precision_outside_fp8(job.precision);
  const auto why = problem_of(job.attention, of_attention);
  if (why.empty()) return;
  std::vector<std::string_view> kernels{name_of(AttentionKernel::automatic)};
  for (const auto kernel : {AttentionKernel::cudnn, AttentionKernel::flash, AttentionKernel::flash1,
                            AttentionKernel::efficient, AttentionKernel::math, AttentionKernel::composed}) {
    if (problem_of(kernel, of_attention).empty()) kernels.push_back(name_of(kernel));
  }
  auto hint = fmt::format("supported here: {}", fmt::join(kernels, ", "));
  const auto half =
      gpu.gpu.peak[static_cast<std::size_t>(Precision::bf16)] ? Precision::bf16 : Precision::fp16;
  if (!is_half(job.precision) && problem_of(job.attention, half).empty())
    hint += fmt::format("; or set job.precision to {}", name_of(half));
  std::vector<Note> notes{
      {gpu.peak, fmt::format("the GPU '{}' is here: {}", gpu.gpu.name, generation_in_words(gpu.gpu))}};
  if (scenario.given.contains("job.precision"))
    notes.push_back({scenario.place("job.precision"), "the precision is here"});
  problems.add(scenario.place("job.attention"),
               fmt::format("job.attention {} {}: the job is in {}", name_of(job.attention), why,
                           name_of(job.precision)),
               std::move(hint), std::move(notes));
}

/// Reports an anchor that has no effect on any platform.
void check_anchor(const ScenarioSpec& scenario, const ModelSpec& model, Problems& problems) {
  if (!scenario.anchor) return;
  if (model.has_times) {
    problems.add(scenario.place("anchor.gpu"),
                 fmt::format("an anchor has no effect: the model '{}' has explicit times", model.model.name),
                 "leave the anchor out", {{model.kind, "the model is synthetic"}});
  } else if (model.model.profile && model.model.profile->gpu == scenario.anchor->gpu) {
    problems.add(scenario.place("anchor.gpu"),
                 fmt::format("an anchor on {} has no effect: the profile '{}' was recorded on that GPU",
                             scenario.anchor->gpu, model.model.name),
                 "leave the anchor out", {{model.kind, "the profile is here"}});
  }
}

void check_compute(const ScenarioSpec& scenario, const ModelSpec& model, const GpuSpec& gpu,
                   Problems& problems) {
  if (model.has_times || !trains(scenario.job.strategy)) return;
  if (gpu.gpu.ideal) {
    problems.add(
        scenario.place("model"),
        fmt::format("the model '{}' has no explicit times, but the GPU '{}' of the platform is ideal",
                    model.model.name, gpu.gpu.name),
        "choose a synthetic model, or a platform with real GPUs",
        {{model.kind, "only models of kind synthetic have explicit times"}, {gpu.peak, "the GPU is here"}});
    return;
  }
  if (scenario.job.fp8_recipe == Fp8Recipe::mxfp8 && gpu.gpu.compute_capability < 100) {
    problems.add(
        scenario.place("job.fp8_recipe"),
        fmt::format("job.fp8_recipe mxfp8 requires compute capability 10.0 (Blackwell), and the GPU '{}' has "
                    "{}.{}",
                    gpu.gpu.name, gpu.gpu.compute_capability / 10, gpu.gpu.compute_capability % 10),
        "write 'fp8_recipe: blockwise' or 'fp8_recipe: tensorwise'", {{gpu.peak, "the GPU is here"}});
  }
  if (gpu.gpu.peak[static_cast<std::size_t>(scenario.job.precision)]) return;
  std::vector<std::string_view> known;
  for (std::size_t i = 0; i < precision_count; ++i)
    if (gpu.gpu.peak[i]) known.push_back(precision_words[i]);
  problems.add(scenario.place("job.precision"),
               fmt::format("the GPU '{}' has no peak compute rate for {}", gpu.gpu.name,
                           name_of(scenario.job.precision)),
               fmt::format("supported: {}{}", fmt::join(known, ", "),
                           scenario.job.precision == Precision::fp8
                               ? "; fp8 requires compute capability 8.9 (Ada, Hopper and later)"
                           : scenario.job.precision == Precision::nvfp4
                               ? "; nvfp4 requires compute capability 10.0 (Blackwell)"
                               : ""),
               {{gpu.peak, "its peaks are here"}});
}

}  // namespace

void apply_profile_defaults(ScenarioSpec& scenario, const Profile& profile) {
  if (!scenario.given.contains("job.precision")) scenario.job.precision = profile.precision;
  if (!scenario.given.contains("optimizer")) scenario.job.optimizer = profile.optimizer;
}

void apply_job(const Job& job, Model& model) {
  const bool megatron = has_megatron_modules(job) && model.run;
  const bool compiled = job.compiled && model.run;
  const bool other_sequence = job.sequence > 0 && job.sequence != model.tokens_per_sample;
  const bool hugging_face = is_hugging_face(job.implementation, model.implementation) && model.run;
  if (megatron || compiled || hugging_face || other_sequence || job.lora)
    model.layers =
        layers_of(model.run, job.sequence, megatron, job.lora, compiled, hugging_face, job.fusions);
  // Anchors were measured with the model's own sequence length and all parameters trained.
  if (other_sequence || job.lora) model.anchors.clear();
  if (!other_sequence) return;
  model.input_per_sample =
      model.input_per_sample * (static_cast<double>(job.sequence) / model.tokens_per_sample);
  model.tokens_per_sample = job.sequence;
}

void apply_anchor(const ScenarioSpec& scenario, Model& model) {
  if (!scenario.anchor) return;
  std::erase_if(model.anchors, [&](const Anchor& anchor) {
    return anchor.gpu == scenario.anchor->gpu && anchor.precision == scenario.anchor->precision;
  });
  model.anchors.push_back(*scenario.anchor);
}

std::optional<Warning> unused_anchor(const ScenarioSpec& scenario, const Gpu& gpu) {
  const auto& anchor = scenario.anchor;
  const auto precision = scenario.job.precision;
  if (!anchor || (anchor->gpu == gpu.name && anchor->precision == precision)) return std::nullopt;
  return make_warning<"unused-anchor", "anchor_gpu", "anchor_precision", "gpu", "precision">(
      anchor->gpu, name_of(anchor->precision), gpu.name, name_of(precision));
}

void check_scenario(const ScenarioSpec& scenario, const ModelSpec& model, const PlatformSpec& platform,
                    const GpuSpec& gpu, Problems& problems) {
  check_ranks(scenario, platform, problems);
  check_layout(scenario, model, problems);
  check_tables(scenario, model, problems);
  check_strategy(scenario, model, problems);
  check_profile(scenario, model, problems);
  check_how_it_runs(scenario, model, problems);
  check_recompute(scenario, model, problems);
  check_finetune(scenario, model, problems);
  check_norms(scenario, model, problems);
  check_implementation(scenario, problems);
  check_fusions(scenario, problems);
  check_launches(scenario, model, problems);
  check_host_reads(scenario, model, problems);
  check_attention(scenario, model, gpu, problems);
  check_anchor(scenario, model, problems);
  check_compute(scenario, model, gpu, problems);
  check_fp8(scenario, model, problems);
  check_network(scenario, platform, problems);
  check_campaign(scenario, model, platform, problems);
}

namespace {

/// Suggests "node0.ib0" for "ib0", or a similar name.
std::string hint_for_part(const std::string& name, const Platform& platform) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < platform.devices.size(); ++i) names.push_back(platform.name_of(DeviceId{i}));
  const auto inner =
      std::ranges::find_if(names, [&](const auto& known) { return known.ends_with("." + name); });
  if (inner != names.end()) return fmt::format("did you mean '{}'?", *inner);
  if (!nearest(name, names).empty()) return suggestion(name, names);
  return fmt::format(
      "'gradway show platform {}' lists its devices; on several nodes their names start with 'node0.'",
      platform.name);
}

}  // namespace

void check_traffic(const ScenarioSpec& scenario, const Platform& platform, Problems& problems) {
  if (scenario.job.traffic.empty()) return;
  const Routes routes{platform};
  for (std::size_t i = 0; i < scenario.job.traffic.size(); ++i) {
    const auto& flow = scenario.job.traffic[i];
    const auto& where = scenario.traffic[i];
    const auto sender = find_device(platform, flow.from);
    const auto receiver = find_device(platform, flow.to);
    for (const auto& [name, is_known] :
         {std::pair{flow.from, sender.has_value()}, {flow.to, receiver.has_value()}}) {
      if (is_known) continue;
      problems.add(where, fmt::format("the platform '{}' has no device '{}'", platform.name, name),
                   hint_for_part(name, platform));
    }
    const auto& job = scenario.job;
    if ((flow.start > Seconds{} || flow.end) && !flow.period && !job.input.epoch_steps) {
      problems.add(where, "traffic that starts or ends once has no effect on the steady state",
                   "add 'period', or input.epoch_steps, which simulates a whole epoch");
    }
    if (sender && receiver && !background_path(routes, *sender, *receiver)) {
      problems.add(where, fmt::format("no path leads from '{}' to '{}'", flow.from, flow.to),
                   sender == receiver ? "name two different devices" : "");
    }
  }
}

void check_storage_network(const ScenarioSpec& scenario, const Platform& platform, Problems& problems) {
  if (!shares_nics(scenario.job.input)) return;
  const Routes routes{platform};
  if (path_over_nic(routes, platform.gpus.front())) return;
  problems.add(scenario.place("input.storage_network"),
               fmt::format("input.storage_network shared requires NICs, and the platform '{}' has none",
                           platform.name),
               "leave it out: the storage then has its own NICs");
}

}  // namespace gradway::config
