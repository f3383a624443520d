// SPDX-License-Identifier: Apache-2.0
#include "sim/report/format/provenance_words.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/cost/nccl_model.hpp"
#include "sim/cost/size_text.hpp"

namespace gradway::report {
namespace {

/// A sentence in parts: "subject: statement" and a remark, which starts with its separator and which the
/// terminal omits.
struct ProvenanceSentence {
  std::string subject;  ///< may be empty
  std::string statement;
  std::string remark{};
};

double in_ms(Seconds time) {
  return time.value() * 1e3;
}

double in_us(Seconds time) {
  return time.value() * 1e6;
}

std::string percent(double fraction) {
  return fmt::format("{:.1f} %", fraction * 100);
}

/// " (source)"; empty without a source.
std::string cited(const std::string& source) {
  return source.empty() ? "" : fmt::format(" ({})", source);
}

std::string or_of_scenario(const std::string& name) {
  return name.empty() ? "of the scenario" : name;
}

ProvenanceSentence of_source(std::string_view subject, const std::string& name, const std::string& source) {
  const auto named = fmt::format("{} {}", subject, or_of_scenario(name));
  return source.empty() ? ProvenanceSentence{"", named} : ProvenanceSentence{named, source};
}

/// ProvenanceSentence for the source of a transport's collectives.
struct CollectivesInWords {
  Transport transport;

  ProvenanceSentence operator()(const provenance::IdealRings& /*rings*/) const {
    return {"collectives", "ideal rings over the platform's links"};
  }
  ProvenanceSentence operator()(const provenance::CollectiveTimes& times) const {
    auto title = fmt::format("{} {}", name_of(transport), name_of(times.kind));
    if (times.algorithm || times.protocol) title += " as";
    if (times.algorithm) title += fmt::format(" {}", name_of(*times.algorithm));
    if (times.protocol) title += fmt::format(" {}", name_of(*times.protocol));
    const auto date = times.date.empty() ? "" : fmt::format(" of {}", times.date);
    auto statement = fmt::format("calibration {}{}, {} ranks", times.calibration, date, times.ranks);
    if (!times.measured_ranks.empty())
      statement += fmt::format(" from {}", fmt::join(times.measured_ranks, " and "));
    statement += fmt::format(", {} to {}", size_text(times.smallest), size_text(times.largest));
    if (!times.predicted_from.empty()) statement += fmt::format(", predicted from {}", times.predicted_from);
    return {std::move(title), std::move(statement), errors_of(times)};
  }
  ProvenanceSentence operator()(const CollectiveSample& sample) const {
    return {of_all_reduce(),
            fmt::format("{} of {:.1f} MB on {} ranks in {:.3g} ms", name_of(sample.kind),
                        sample.size.value() / 1e6, sample.ranks, in_ms(sample.time)),
            fmt::format(" ({})", sample.source)};
  }
  ProvenanceSentence operator()(const provenance::NominalRates& rates) const {
    if (rates.rccl) return {of_all_reduce(), "RCCL's rings at the rates of their links, nothing measured"};
    return {of_all_reduce(), "NCCL's nominal channel rates, nothing measured"};
  }
  ProvenanceSentence operator()(const provenance::NvlsEstimate& /*estimate*/) const {
    return {"NVLS all-reduce", fmt::format("NCCL's own estimate times {}, which 8 H100 reach", nvls_reached),
            fmt::format(" ({})", nvls_source)};
  }

 private:
  std::string of_all_reduce() const { return fmt::format("{} all-reduce", name_of(transport)); }

  static std::string errors_of(const provenance::CollectiveTimes& times) {
    std::string text;
    if (times.residual)
      text += fmt::format("; fits its samples within {} (worst {})", percent(times.residual->median),
                          percent(times.residual->worst));
    if (times.interpolation)
      text += fmt::format(", a size left out within {} (worst {})", percent(times.interpolation->median),
                          percent(times.interpolation->worst));
    if (times.adapted)
      text += fmt::format("; adapted to the machine, 90 % prediction interval: within {}",
                          percent(*times.adapted));
    return text;
  }
};

/// Each sentence names its source; figures in fixed texts are cited where they are used.
struct ProvenanceInWords {
  ProvenanceSentence operator()(const provenance::GivenTimes& /*fact*/) const {
    return {"compute", "explicit times of the model"};
  }
  ProvenanceSentence operator()(const provenance::ProfiledLaunches& profile) const {
    return {"compute",
            fmt::format("profile of {} launches on {}, {} step{} averaged", profile.launches, profile.gpu,
                        profile.steps, profile.steps == 1 ? "" : "s"),
            fmt::format(" ({:.4g} ms under the profiler); pauses of {:.3g} us between kernels, CPU times "
                        "under the profiler times {:.3g}",
                        in_ms(profile.traced_step), in_us(profile.pause), profile.cpu_scale)};
  }
  ProvenanceSentence operator()(const provenance::UnprofiledStep& step) const {
    return {"compute",
            fmt::format("meets the step of {:.4g} ms measured without the profiler", in_ms(step.step)),
            step.launch_bound ? "; the step is launch-bound" : ""};
  }
  ProvenanceSentence operator()(const provenance::AnchoredProfile& profile) const {
    return {"compute", fmt::format("moved from {} to {} by the roofline and scaled to meet the anchor on {}",
                                   profile.from, profile.to, profile.to)};
  }
  ProvenanceSentence operator()(const provenance::MovedProfile& profile) const {
    return {"compute",
            fmt::format("moved from {} to {} kernel by kernel by the roofline, {:.3g} times the kernel time",
                        profile.from, profile.to, profile.factor)};
  }
  ProvenanceSentence operator()(const provenance::AnchoredOperations& anchor) const {
    return {"compute",
            fmt::format("operations of the model on {}, scaled by {:.4g} to meet the anchor of {:.4g} ms per "
                        "step at batch {}",
                        anchor.gpu, anchor.scale, in_ms(anchor.step), anchor.batch),
            fmt::format(" ({})", anchor.source)};
  }
  ProvenanceSentence operator()(const provenance::TimedKernels& kernels) const {
    const bool is_moved = kernels.timed_on != kernels.gpu;
    auto where = is_moved
                     ? fmt::format("{}, moved to {} by the two datasheets", kernels.timed_on, kernels.gpu)
                     : kernels.gpu;
    if (!kernels.of_other_maker.empty())
      where =
          fmt::format("{}, moved to another maker's {} by published rates", kernels.timed_on, kernels.gpu);
    return {
        "compute",
        fmt::format("the operations that PyTorch issues for the model, each by kernels timed on {}", where),
        kernels.of_other_maker.empty() ? fmt::format(" ({})", kernels.source)
                                       : fmt::format(" ({}; {})", kernels.source, kernels.of_other_maker)};
  }
  ProvenanceSentence operator()(const provenance::Roofline& roofline) const {
    return {"compute", fmt::format("roofline from the datasheet of {} and efficiencies", roofline.gpu),
            fmt::format(" ({})", roofline.source)};
  }
  ProvenanceSentence operator()(const provenance::LoweredClocks& clocks) const {
    return {"clocks",
            fmt::format("a power limit of {:.4g} W lowers them: matrix products, attention and convolutions "
                        "take {:.2f} times as long as at full clocks",
                        clocks.limit.value(), clocks.slowdown),
            " (own measurement of the power that each draws, 2026-11-22)"};
  }
  ProvenanceSentence operator()(const provenance::LaunchCost& cost) const {
    using From = provenance::LaunchCost::From;
    ProvenanceSentence words{"launches",
                             fmt::format("{:.3g} us of CPU time per operation", in_us(cost.operation))};
    switch (cost.from) {
      case From::anchor:
        words.statement += ", the most that the anchor's step allows";
        break;
      case From::platform:
        words.statement += fmt::format(", by the file of the platform {}", cost.name);
        break;
      case From::calibration:
        words.statement += fmt::format(", measured for the calibration {}", cost.name);
        break;
      case From::assumed:
        words.statement += ", assumed: our own hosts took 20 to 61 us";
        words.remark =
            ". To replace the assumption: the platform's key 'eager_operation', a calibration, or an anchor "
            "(a measured step)";
        break;
    }
    return words;
  }
  ProvenanceSentence operator()(const provenance::GraphLaunches& graphs) const {
    using Scope = provenance::GraphLaunches::Scope;
    const auto scope =
        graphs.scope == Scope::layers
            ? "one for each block of the model and direction; operations outside of blocks, hooks and the "
              "optimizer are launched kernel by kernel"
        : graphs.scope == Scope::step_without_optimizer ? "one for the whole step without the optimizer"
                                                        : "one for the whole step with the optimizer and all "
                                                          "collectives";
    return {"CUDA graphs", scope,
            fmt::format("; the launch of one takes {:.3g} us of CPU time on our own hosts",
                        in_us(graphs.launch))};
  }
  ProvenanceSentence operator()(const provenance::StrategyHooks& /*fact*/) const {
    return {"hooks",
            "the strategy's CPU time in launches, as measured for FSDP2, FSDP1 and ZeroRedundancyOptimizer",
            " (2 H100, 2026-11-22, PyTorch 2.11); other strategies are assumed to take as long as comparable "
            "hooks"};
  }
  ProvenanceSentence operator()(const provenance::HostOptimizer& optimizer) const {
    return {"offload",
            fmt::format("{:.4g} ms of CPU time for the optimizer's step, at the rate of a single process",
                        in_ms(optimizer.time)),
            fmt::format(" ({}), or at its share of the memory bandwidth",
                        optimizer.is_deepspeed ? "11.6 billion elements in 8.2 s; DeepSpeed, pull request 735"
                                               : "537 million elements in 1.8 s; Megatron-LM, issue 188")};
  }
  ProvenanceSentence operator()(const provenance::Collectives& collectives) const {
    auto words = std::visit(CollectivesInWords{collectives.transport}, collectives.from);
    if (collectives.is_floor) {
      words.statement = fmt::format("{}: {}", words.subject, words.statement);
      words.subject = "not faster than one node";
    }
    return words;
  }
  ProvenanceSentence operator()(const provenance::Contention& contention) const {
    const auto beyond = contention.multiprocessors > 0
                            ? fmt::format(" beyond the loss of the {} multiprocessors that NCCL uses",
                                          contention.multiprocessors)
                            : "";
    return {"contention",
            fmt::format("kernels take {:.3g} times as long{}, collectives {:.3g} times",
                        contention.kernel_slowdown, beyond, contention.collective_slowdown),
            fmt::format(" ({})", contention.source)};
  }
  ProvenanceSentence operator()(const provenance::CalibrationTransfer& transfer) const {
    std::vector<std::string> changes;
    for (const auto& [kind, before, after] : transfer.parts)
      changes.push_back(fmt::format("{} from {}{}", kind, percent(before),
                                    after ? fmt::format(" to {}", percent(*after)) : ""));
    return {fmt::format("calibration {} is {}, adapted by measurements of another machine, median error",
                        transfer.calibration, transfer.from),
            fmt::format("{}", fmt::join(changes, ", "))};
  }
  ProvenanceSentence operator()(const provenance::HeldBackErrors& errors) const {
    std::vector<std::string> groups;
    for (const auto& [group, error] : errors.groups)
      groups.push_back(fmt::format("{} {} (worst {})", group, percent(error.median), percent(error.worst)));
    return {
        fmt::format("calibration {}, median error for samples that its fit did not use", errors.calibration),
        fmt::format("{}", fmt::join(groups, ", "))};
  }
  ProvenanceSentence operator()(const provenance::Samples& samples) const {
    return of_source("dataset", samples.dataset, samples.source);
  }
  ProvenanceSentence operator()(const provenance::SampleStorage& storage) const {
    return of_source("storage", storage.storage, storage.source);
  }
  ProvenanceSentence operator()(const provenance::SustainedRate& rate) const {
    return {"", fmt::format("storage {} delivers {:.4g} MB/s once its burst credit is used up",
                            or_of_scenario(rate.storage), rate.rate.value() / 1e6)};
  }
  ProvenanceSentence operator()(const provenance::WorkerStart& start) const {
    return {
        "loader workers",
        fmt::format("{:.4g} ms to start one, measured for own forks of a process with a list of 3,000 files",
                    in_ms(start.time)),
        "; 20 s where 1.2 million paths are pickled to each (facebookresearch/spdl at ff33a9f4)"};
  }
  ProvenanceSentence operator()(const provenance::Activations& activations) const {
    switch (activations.source) {
      case MemorySource::none:
        return {"memory", "without activations, which the profile does not contain"};
      case MemorySource::shapes:
        return {"activations", "tensors that autograd keeps, by the shapes in the profile's trace"};
      case MemorySource::compiled:
        return {"activations", "tensors that compiled graphs keep, by the operands of their kernels",
                " (eight programs: memory 8 % too low to 6 % too high); profile_memory=True records them"};
      case MemorySource::recorded:
        return {"activations", "the allocations that the profiler recorded"};
    }
    return {};
  }
  ProvenanceSentence operator()(const provenance::PlatformSource& platform) const {
    return {fmt::format("platform {}", platform.platform), platform.source};
  }
  ProvenanceSentence operator()(const provenance::Failures& failures) const {
    return {"failures", failures.source.empty() ? "the scenario's own rates" : failures.source,
            "; they occur at random"};
  }
  ProvenanceSentence operator()(const provenance::CheckpointStorage& storage) const {
    auto remark = cited(storage.source);
    if (storage.data_share > 0)
      remark += fmt::format("; the job's samples take {:.3g} % of its rate", 100 * storage.data_share);
    if (!storage.prices_of.empty()) remark += fmt::format("; prices of {}", storage.prices_of);
    return {"checkpoints", storage.storage, std::move(remark)};
  }
  ProvenanceSentence operator()(const provenance::SpotNodes& nodes) const {
    return {"spot nodes", nodes.source.empty() ? "the scenario's own rates" : nodes.source};
  }
  ProvenanceSentence operator()(const provenance::LocalSgdLoss& /*fact*/) const {
    return {"local SGD", "the effect on the loss is not predicted; the samples of all workers count",
            " (8 workers with 500 inner steps matched synchronous training on C4, DiLoCo, arXiv 2311.08105)"};
  }
};

/// "compute: roofline"
std::string headed(const std::string& subject, const std::string& statement) {
  return subject.empty() ? statement : fmt::format("{}: {}", subject, statement);
}

}  // namespace

std::string describe(const ProvenanceFact& fact) {
  const auto [subject, statement, remark] = std::visit(ProvenanceInWords{}, fact);
  return headed(subject, statement) + remark;
}

std::vector<std::string> describe(const std::vector<ProvenanceFact>& facts) {
  std::vector<std::string> lines;
  lines.reserve(facts.size());
  for (const auto& fact : facts) lines.push_back(describe(fact));
  return lines;
}

std::vector<std::string> provenance_in_short(const std::vector<ProvenanceFact>& facts) {
  std::vector<ProvenanceSentence> sentences;
  for (const auto& fact : facts) {
    if (std::holds_alternative<provenance::PlatformSource>(fact)) continue;
    auto words = std::visit(ProvenanceInWords{}, fact);
    const auto same = std::ranges::find(sentences, words.statement, &ProvenanceSentence::statement);
    if (same == sentences.end()) {
      sentences.push_back(std::move(words));
    } else if (!words.subject.empty() && same->subject != words.subject) {
      same->subject += ", " + words.subject;
    }
  }
  std::vector<std::string> lines;
  lines.reserve(sentences.size());
  for (const auto& words : sentences) lines.push_back(headed(words.subject, words.statement));
  return lines;
}

}  // namespace gradway::report
