// SPDX-License-Identifier: Apache-2.0
#include "sim/report/format/warning_words.hpp"

#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/cost/size_text.hpp"

namespace gradway::report {
namespace {

double ms(Seconds time) {
  return time.value() * 1e3;
}

/// "the dataset imagenet-1k"
std::string the_dataset(const std::string& name) {
  return name.empty() ? "the scenario's dataset" : fmt::format("the dataset {}", name);
}

/// Words for the reason why times of a collective, or of all of a transport, are extrapolated.
struct ReasonInWords {
  std::string subject;

  std::string operator()(const extrapolation::PredictedTable& table) const {
    return fmt::format("{} was not measured: its time is predicted from {}", subject, table.from);
  }
  std::string operator()(const extrapolation::OtherOperation& operation) const {
    return fmt::format("{} was not measured: {} is scaled by the bytes that each moves", subject,
                       name_of(operation.measured));
  }
  std::string operator()(const extrapolation::OtherPlan& /*plan*/) const {
    return fmt::format(
        "{} was not measured with the algorithm and protocol that NCCL's variables force: its time is scaled "
        "by NCCL's own estimates",
        subject);
  }
  std::string operator()(const extrapolation::OtherChannels& /*channels*/) const {
    return fmt::format("{} was not measured with this number of channels: its time is scaled as on two H200",
                       subject);
  }
  std::string operator()(const extrapolation::OtherRanks& ranks) const {
    return fmt::format("{} were measured on {} ranks, not on {}: the same bus bandwidth is assumed", subject,
                       ranks.measured, ranks.ranks);
  }
  std::string operator()(const extrapolation::MoreNodes& nodes) const {
    return fmt::format("{} was measured inside one node, the job has {}: the same times are assumed", subject,
                       nodes.nodes);
  }
  std::string operator()(const extrapolation::BelowSizes& below) const {
    return fmt::format("{} was measured from {} on: times of smaller sizes follow NCCL's own estimates",
                       subject, size_text(below.smallest));
  }
  std::string operator()(const extrapolation::BeyondSizes& beyond) const {
    return fmt::format("{} was measured up to {}: larger sizes are assumed to reach the same bandwidth",
                       subject, size_text(beyond.largest));
  }
  std::string operator()(const extrapolation::NotMeasured& rates) const {
    return fmt::format(
        "{} were not measured on this platform: {}'s nominal rates, which are often too high, are used",
        subject, rates.rccl ? "RCCL" : "NCCL");
  }
};

struct WarningInWords {
  std::string operator()(const warning::ReplacedFile& file) const {
    return fmt::format("{} is read from '{}' instead of the file that is shipped with gradway", file.what,
                       file.file);
  }
  std::string operator()(const warning::UnusedKernelTimes& times) const {
    return fmt::format("the calibration '{}' has kernel times of {}, which are not used for {}",
                       times.calibration, times.measured_on, times.gpu);
  }
  std::string operator()(const warning::UnusedAnchor& anchor) const {
    return fmt::format("the scenario's anchor, of {} in {}, is not used: the job runs on {} in {}",
                       anchor.anchor_gpu, name_of(anchor.anchor_precision), anchor.gpu,
                       name_of(anchor.precision));
  }
  std::string operator()(const warning::UntimedOperations& untimed) const {
    return fmt::format("times of these captured operations follow from the bytes they move alone: {}",
                       fmt::join(untimed.operations, ", "));
  }
  std::string operator()(const warning::CompiledCapture& /*none*/) const {
    return "the program calls torch.compile, but was captured as eager PyTorch: kernels are fused by rule, "
           "and "
           "memory is that of the eager step";
  }
  std::string operator()(const warning::WhatIfSpeeds& what_if) const {
    const auto words = gradway::in_words(what_if.speeds);
    return fmt::format("this is a what-if: {}{} as on {}", words, words.ends_with("fast") ? "" : ", all else",
                       what_if.platform);
  }
  std::string operator()(const warning::LaunchBoundProfile& profile) const {
    return fmt::format(
        "the profiled step looks launch-bound, and the slow-down of launches by the profiler is unknown "
        "(assumed step without it: {:.4g} ms): measure a step without the profiler and import again with "
        "--step-time",
        ms(profile.assumed_step));
  }
  std::string operator()(const warning::AnchorOtherBatch& batch) const {
    return fmt::format("the anchor was measured at batch {}, the job has {}: efficiency may differ",
                       batch.anchor, batch.job);
  }
  std::string operator()(const warning::ImplausibleAnchor& anchor) const {
    return fmt::format(
        "the anchor is {:.3g} times the step predicted without it, and 999 of 1,000 anchors are {:.2g} to "
        "{:.3g} times: check its 'step_time' or 'rate', 'batch', 'precision' and 'gpu'",
        anchor.scale, anchor.low, anchor.high);
  }
  std::string operator()(const warning::ProfileMovedByRoofline& moved) const {
    // Own profiles of an H200 against steps on one of the others: vit_l_32, gpt_small, gpt_medium, resnet50
    // (bf16, fp32), mobilenet_v3_large and vit_b_16 on an H100 (2026-11-21), vit_l_32 on an L40S (90.8 ms
    // predicted, 112.2 measured) and an A100 (279.6 and 193.4; both by the article of January 2026).
    return fmt::format(
        "kernel times were moved from {} to {} by the roofline, which was off by up to 5 % from an H200 to "
        "an "
        "H100, 19 % to an L40S and 45 % to an A100: an anchor (a step measured on one {}) removes most of "
        "this error",
        moved.from, moved.to, moved.to);
  }
  std::string operator()(const warning::LaunchesOfOtherHost& host) const {
    return fmt::format("launch times are those of the machine with the {}: another CPU may be slower",
                       host.gpu);
  }
  std::string operator()(const warning::ProfileOtherBatch& batch) const {
    return fmt::format(
        "the profile was recorded at batch {}, the job has {}: kernels were scaled, and the framework may "
        "choose others",
        batch.profile, batch.job);
  }
  std::string operator()(const warning::ProfileOtherOptimizer& optimizer) const {
    return fmt::format(
        "the profile was recorded with the optimizer {}, the job has {}: the optimizer's time comes from the "
        "roofline alone",
        name_of(optimizer.profile), name_of(optimizer.job));
  }
  std::string operator()(const warning::ProfileOtherPrecision& precision) const {
    const auto wanted = precision.job == Precision::fp32
                            ? std::string{"a step with torch.backends.cuda.matmul.allow_tf32 and "
                                          "torch.backends.cudnn.allow_tf32 off"}
                            : "a step with torch.set_float32_matmul_precision('high'), or import it again "
                              "with --precision tf32 if the names of its kernels do not say so";
    return fmt::format(
        "job.precision is {}, but the profile '{}' was recorded in {} (by their names, kernels that round to "
        "TF32 took {:.0f} % of the time of its products), and it is replayed unchanged: write 'precision: "
        "{}', or record {}",
        name_of(precision.job), precision.profile, name_of(precision.recorded), 100 * precision.tf32_share,
        name_of(precision.recorded), wanted);
  }
  std::string operator()(const warning::RooflineOnly& roofline) const {
    return fmt::format("compute times come from the roofline alone: no timed kernels apply to {}",
                       roofline.gpu);
  }
  std::string operator()(const warning::KernelsOfOtherMaker& kernels) const {
    return fmt::format(
        "no kernels were timed on {}: those of {}, another maker's, are moved to it by the rates that large "
        "products, attention and copies reach as published; its libraries choose other kernels for other "
        "shapes",
        kernels.gpu, kernels.timed_on);
  }
  std::string operator()(const warning::FlashAttention1& /*none*/) const {
    return "FlashAttention 1 was not timed: its published ratio to version 2 is used; long sequences with "
           "its Triton version took less time (docs/ACCURACY.md, MPT)";
  }
  std::string operator()(const warning::Fp8NotValidated& /*none*/) const {
    return "fp8: its kernels were timed one by one on an H100, and no step of our own was measured; "
           "docs/ACCURACY.md compares published ones";
  }
  std::string operator()(const warning::ExpertsUncertain& experts) const {
    return fmt::format(
        "experts: {} is assumed; steps on one GPU take longer than predicted, and few on several GPUs were "
        "measured (docs/ACCURACY.md)",
        experts.imbalance > 1
            ? fmt::format("a busiest rank with {:.4g} times the average number of tokens", experts.imbalance)
            : "an equal number of tokens for each expert");
  }
  std::string operator()(const warning::TablesUncertain& tables) const {
    return fmt::format(
        "embedding tables: {}; lookups are assumed to be spread evenly over the rows of a table, and no step "
        "of several GPUs was compared with a measured one",
        tables.imbalance > 1.0005
            ? fmt::format(
                  "the busiest rank has {:.3g} times the average number of lookups, and all others wait "
                  "for it",
                  tables.imbalance)
            : "every rank has the same number of lookups");
  }
  std::string operator()(const warning::FineTuningNotValidated& tuning) const {
    return fmt::format(
        "fine-tuning: kernels are those that {} issue{}; the narrow products of adapters are timed as wider "
        "ones{}, and no step was compared with a measured one",
        tuning.quantised ? "PEFT and bitsandbytes" : "PEFT", tuning.quantised ? "" : "s",
        tuning.quantised ? ", the kernel that unpacks 4 bits by the bytes it moves" : "");
  }
  std::string operator()(const warning::OptimizerNotTimed& optimizer) const {
    return fmt::format(
        "no step of {} was timed: its time follows from the bytes that it moves and an assumed number of "
        "launches",
        name_of(optimizer.optimizer));
  }
  std::string operator()(const warning::ChannelsLastFaster& format) const {
    return fmt::format(
        "images are in NCHW, but tensor cores need NHWC: job.memory_format channels_last would save {:.0f} % "
        "of the kernel time of both passes",
        100 * format.saving);
  }
  std::string operator()(const warning::Fp32WithoutTf32& /*none*/) const {
    return "job.precision fp32 assumes that TF32 is off; PyTorch's default enables it for convolutions "
           "(torch.backends.cudnn.allow_tf32), which job.precision tf32 matches better";
  }
  std::string operator()(const warning::SharedHostOptimizer& /*none*/) const {
    return "the optimizer's step on the CPU is predicted for one process; eight processes that share a "
           "host's "
           "cores took ten times as long: measure it";
  }
  std::string operator()(const warning::ExtrapolatedCollectives& collectives) const {
    const auto subject = fmt::format("{} {}", name_of(collectives.transport),
                                     collectives.kind ? name_of(*collectives.kind) : "collectives");
    return std::visit(ReasonInWords{subject}, collectives.reason);
  }
  std::string operator()(const warning::ContentionNotMeasured& contention) const {
    return fmt::format(
        "contention between kernels in {} and {} collectives was not measured: kernels lose the "
        "multiprocessors that collectives occupy, and nothing else",
        name_of(contention.precision), name_of(contention.transport));
  }
  std::string operator()(const warning::ExtrapolatedContention& contention) const {
    std::vector<std::string> conditions;
    if (!contention.measured_on.empty())
      conditions.push_back(fmt::format("on {} (not here)", contention.measured_on));
    if (contention.ranks > 0)
      conditions.push_back(fmt::format("with {} GPUs (here {})", contention.ranks, contention.job_ranks));
    if (contention.channels > 0)
      conditions.push_back(
          fmt::format("with {} NCCL channels (here {})", contention.channels, contention.job_channels));
    return fmt::format("contention between kernels and collectives was measured {}",
                       fmt::join(conditions, ", "));
  }
  std::string operator()(const warning::NoHostMemory& host) const {
    return fmt::format("the platform {} describes no host memory: input copies take no time", host.platform);
  }
  std::string operator()(const warning::AssumedPageableRate& host) const {
    return fmt::format(
        "the platform {} has no rate for copies from pageable memory: the rate of pinned memory is used",
        host.platform);
  }
  std::string operator()(const warning::UnknownPinningCost& host) const {
    return fmt::format("the platform {} has no rate at which a core copies: pinning a batch takes no time",
                       host.platform);
  }
  std::string operator()(const warning::UnknownCores& host) const {
    return fmt::format(
        "the platform {} has no number of cores: each loader worker has its own; add 'cores' to its file",
        host.platform);
  }
  std::string operator()(const warning::UnknownDecodeCost& data) const {
    return fmt::format("{} has no GPU time to decode a sample: decoding takes no time",
                       the_dataset(data.dataset));
  }
  std::string operator()(const warning::UnknownSampleCost& data) const {
    return fmt::format("{} has no CPU time for a sample: workers only read", the_dataset(data.dataset));
  }
  std::string operator()(const warning::MeanSampleSize& data) const {
    return fmt::format(
        "samples of {} differ in size (standard deviation {:.0f} % of the mean), but all have the mean size "
        "here: small batches wait for each other longer; input.sample_sizes: drawn simulates it",
        the_dataset(data.dataset), 100 * data.spread);
  }
  std::string operator()(const warning::UnknownActivations& memory) const {
    return memory.recomputed
               ? "the memory is without activations: a profile does not record what recomputed blocks keep"
               : "the memory is without activations, which the profile does not contain: whether the job "
                 "fits "
                 "is unknown; import the trace again";
  }
  std::string operator()(const warning::IncompleteActivations& memory) const {
    return fmt::format(
        "the memory is without the tensors that autograd keeps for {}, which are unknown: whether the job "
        "fits is unknown; record the trace with profile_memory=True",
        fmt::join(memory.operations, ", "));
  }
  std::string operator()(const warning::MemoryTight& memory) const {
    return fmt::format("memory {}; it leaves little room", verdict_in_words(memory.range));
  }
  std::string operator()(const warning::MemoryExceeded& memory) const {
    return fmt::format("memory {}; {}", verdict_in_words(memory.range),
                       memory.range.verdict == MemoryVerdict::does_not_fit ? "it would run out of memory"
                                                                           : "it may run out of memory");
  }
  std::string operator()(const warning::StaticGraphNotPredicted& /*none*/) const {
    return "strategy.static_graph: its effect is not predicted; measured savings are negligible";
  }
  std::string operator()(const warning::UnmodelledNcclVariable& variable) const {
    return fmt::format("{}={} is accepted, but not modelled", variable.name, variable.value);
  }
  std::string operator()(const warning::NcclVariableWithoutEffect& variable) const {
    return fmt::format("{}={} changes nothing here: the step is the same without it", variable.name,
                       variable.value);
  }
  std::string operator()(const warning::AlternatingSteps& steps) const {
    return fmt::format(
        "step times alternate between {:.4g} and {:.4g} ms: the reported step is the mean of {} steps",
        ms(steps.shortest), ms(steps.longest), steps.steps);
  }
  std::string operator()(const warning::NoFailureModel& /*none*/) const {
    return "no failure model is configured, but real campaigns have failures: 'gradway campaign --failures "
           "llama3' takes published rates, as 'gradway plan' does";
  }
  std::string operator()(const warning::UnknownWriteRate& storage) const {
    return fmt::format("the storage '{}' has no write rate: its read rate is used", storage.storage);
  }
  std::string operator()(const warning::CheckpointsLostWithNode& storage) const {
    return fmt::format(
        "checkpoints on '{}' are inside the nodes: their loss with a failing node is not simulated",
        storage.storage);
  }
  std::string operator()(const warning::CheckpointExceedsMttf& checkpoint) const {
    return fmt::format(
        "a checkpoint takes {:.4g} s, but the mean time to a failure is {:.4g} s: use faster storage, "
        "smaller "
        "or sharded checkpoints, or fewer nodes",
        checkpoint.checkpoint.value(), checkpoint.mttf.value());
  }
  std::string operator()(const warning::IntervalTooShort& interval) const {
    return fmt::format(
        "the interval of {:.4g} s is shorter than the {:.4g} s until a checkpoint is on storage: each "
        "checkpoint waits for the one before",
        interval.interval.value(), interval.write.value());
  }
  std::string operator()(const warning::UnfinishedRuns& runs) const {
    return fmt::format(
        "{} of {} runs were cancelled after 50 times the time of their steps: the figures are too optimistic",
        runs.unfinished, runs.runs);
  }
  std::string operator()(const warning::NoSettingWithinLimits& /*none*/) const {
    return "no setting meets the limits of the training: all are ranked";
  }
  std::string operator()(const warning::UnknownLossySteps& lossy) const {
    return fmt::format(
        "how many more steps {} needs to the same loss is unknown: as many as without it are published for "
        "{} only ({})",
        lossy.hook, lossy.holds_for, lossy.source);
  }
  std::string operator()(const warning::LearningChanged& setting) const {
    return fmt::format("{}={} changes what a step learns, not only its speed", setting.key, setting.value);
  }
};

}  // namespace

std::string describe(const Warning& warning) {
  return std::visit(WarningInWords{}, warning);
}

std::vector<std::string> describe(const std::vector<Warning>& warnings) {
  std::vector<std::string> lines;
  lines.reserve(warnings.size());
  for (const auto& warning : warnings) lines.push_back(describe(warning));
  return lines;
}

std::vector<std::string_view> codes_of(const std::vector<Warning>& warnings) {
  std::vector<std::string_view> codes;
  codes.reserve(warnings.size());
  for (const auto& warning : warnings) codes.push_back(code_of(warning));
  return codes;
}

std::vector<std::string> with_codes(const std::vector<Warning>& warnings) {
  std::vector<std::string> lines;
  lines.reserve(warnings.size());
  for (const auto& warning : warnings)
    lines.push_back(fmt::format("{} [{}]", describe(warning), code_of(warning)));
  return lines;
}

std::vector<Warning> warnings_of(const std::vector<ScenarioWarning>& warnings) {
  std::vector<Warning> converted;
  for (const auto& warning : warnings) std::visit([&](const auto& fact) { add(converted, fact); }, warning);
  return converted;
}

}  // namespace gradway::report
