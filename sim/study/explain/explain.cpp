// SPDX-License-Identifier: Apache-2.0
#include "sim/study/explain/explain.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <exception>
#include <functional>
#include <numeric>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/compute/compute_costs.hpp"
#include "sim/compute/memory_range.hpp"
#include "sim/platform/with_speeds.hpp"
#include "sim/scenario/shared_by_loaders.hpp"
#include "sim/study/parallel.hpp"
#include "sim/study/search/sharding_settings.hpp"

namespace gradway {
namespace {

/// A set of parts of the hardware.
using PartSet = std::array<bool, all_parts.size()>;

bool has(const PartSet& parts, Part part) {
  return parts[static_cast<std::size_t>(part)];
}

/// The parts that the job itself uses, without the traffic of neighbours.
PartSet used_parts(const Run& run) {
  PartSet used{};
  const auto parts = parts_of_resources(run.scenario.platform);
  for (const auto& op : run.ops.ops()) {
    if (op.origin.activity == Activity::launch && op.latency > Seconds{})
      used[static_cast<std::size_t>(Part::cpu)] = true;
    if (op.kind != OpKind::flow || op.is_endless() || op.amount == 0) continue;
    for (const auto resource : run.ops.path(op.path))
      used[static_cast<std::size_t>(parts[resource.index()])] = true;
  }
  return used;
}

std::string twice_as_fast(Part part, const std::optional<ChannelLimit>& limit) {
  const bool has_channels = limit && limit->part == part;
  const auto way = part == Part::host_memory ? "through" : "over";
  const auto channels =
      has_channels ? fmt::format(" and what NCCL copies {} it ({})", way, limit->transport) : "";
  return fmt::format("{}{} twice as fast", in_words(part), channels);
}

/// A factor in short form: "2", "1e9".
std::string factor_text(double factor) {
  auto text = fmt::format("{}", factor);
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  if (constexpr std::string_view billions = "000000000";
      text.size() > billions.size() && text.ends_with(billions))
    text.replace(text.size() - billions.size(), std::string::npos, "e9");
  return text;
}

/// The step with a straggler, for which all other ranks wait at each collective.
std::optional<Counterfactual> with_slow_gpu(const Scenario& scenario, std::string_view engine) {
  if (scenario.job.gpus < 2 || scenario.job.slow_gpu > 1 || !trains(scenario.job.strategy))
    return std::nullopt;
  auto changed = scenario;
  changed.job.slow_gpu = slow_gpu_factor;
  return Counterfactual{"slow_gpu",
                        fmt::format("one GPU of {} whose kernels take {:.0f} % longer", scenario.job.gpus,
                                    100 * (slow_gpu_factor - 1)),
                        {{"job.slow_gpu", factor_text(slow_gpu_factor)}},
                        simulate(changed, engine).measured.metrics.step_time};
}

/// Changes to the outer loop of local SGD that shorten the mean step, the best first.
std::vector<Counterfactual> outer_loop_changes(const Run& run, const LocalSgd& settings) {
  std::vector<Counterfactual> found;
  const auto add = [&](std::string name, std::string words, std::string key, std::string value,
                       const auto& change) {
    auto changed = settings;
    change(changed);
    const auto loop = outer_loop_of(run.scenario, changed, run.measured.metrics.step_time);
    found.push_back(
        {std::move(name), std::move(words), {{std::move(key), std::move(value)}}, loop.mean_step()});
  };
  add("inner_steps_2x", "twice as many inner steps", "strategy.inner_steps",
      fmt::format("{}", settings.inner_steps * 2), [](LocalSgd& one) { one.inner_steps *= 2; });
  if (exchanged_bytes[static_cast<std::size_t>(settings.exchanged)] > 1)
    add("exchanged_int8", "updates sent in int8", "strategy.exchanged", "int8",
        [](LocalSgd& one) { one.exchanged = Exchanged::int8; });
  const auto most = settings.inner_steps / settings.fragments;
  if (settings.overlap_steps < most)
    add("overlap_steps_most", "exchanges that overlap with all inner steps until the next",
        "strategy.overlap_steps", fmt::format("{}", most), [&](LocalSgd& one) { one.overlap_steps = most; });
  add("wan_2x", "links between workers twice as fast", "strategy.wan.rate",
      fmt::format("{} B/s", settings.wan->rate.value() * 2),
      [](LocalSgd& one) { one.wan->rate = one.wan->rate * 2; });
  if (settings.wan->window || settings.wan->loss > 0)
    add("streams_2x", "twice as many TCP connections", "strategy.wan.streams",
        fmt::format("{}", settings.wan->streams * 2), [](LocalSgd& one) { one.wan->streams *= 2; });
  const auto now = outer_loop_of(run.scenario, settings, run.measured.metrics.step_time).mean_step();
  std::erase_if(found, [&](const Counterfactual& one) { return one.step_time >= now; });
  std::ranges::stable_sort(found, {}, &Counterfactual::step_time);
  return found;
}

/// The counterfactuals of a run and the change of the scenario for each. Their step times are filled in
/// later.
class CounterfactualList {
 public:
  CounterfactualList(const Run& run, const std::optional<ChannelLimit>& limit)
      : own_{run.scenario.platform.speeds}, used_{used_parts(run)} {
    for (const auto part : all_parts) {
      if (has(used_, part)) add(fmt::format("{}_2x", key_of(part)), twice_as_fast(part, limit), {part}, 2);
    }
    std::vector<Part> links;
    for (const auto part : {Part::host_memory, Part::pcie, Part::nvlink, Part::inter_socket, Part::network})
      if (has(used_, part)) links.push_back(part);
    if (!links.empty())
      add("infinite_links", "all links and host memory infinitely fast", links, practically_infinite);
    if (has(used_, Part::cpu))
      add("no_launch_cost", "kernel launches that take no CPU time", {Part::cpu}, practically_infinite);
    for (const auto& setting : sharding_settings(run.scenario)) {
      for (const auto& value : setting.values)
        if (!value.words.empty()) add(setting, value);
    }
    if (run.scenario.job.input.dataset) add_loader_changes(run.scenario.job.input);
  }

  std::size_t count() const { return counterfactuals_.size(); }
  void change(Scenario& scenario, std::size_t i) const { changes_[i](scenario); }
  std::vector<Counterfactual>& counterfactuals() { return counterfactuals_; }

 private:
  void add(std::string name, std::string words, const std::vector<Part>& parts, double factor) {
    Counterfactual one{std::move(name), std::move(words), {}, {}};
    auto speeds = own_;
    for (const auto part : parts) {
      speeds[part] = std::min(speeds[part] * factor, largest_speed);
      one.set.emplace_back(fmt::format("faster.{}", key_of(part)), factor_text(speeds[part]));
    }
    counterfactuals_.push_back(std::move(one));
    changes_.emplace_back([speeds](Scenario& scenario) {
      scenario.platform = with_speeds(std::move(scenario.platform), speeds);
    });
  }

  void add(const ShardingSetting& setting, const SettingValue& value) {
    auto name = fmt::format("{}_{}", setting.name, value.text);
    std::ranges::replace(name, ' ', '_');
    counterfactuals_.push_back({std::move(name), value.words, {{setting.key, value.text}}, {}});
    changes_.emplace_back(
        [strategy = value.strategy](Scenario& scenario) { scenario.job.strategy = strategy; });
  }

  void add_loader_changes(const InputSettings& input) {
    const auto add = [&](std::string name, std::string words, std::string key, std::string value,
                         std::function<void(InputSettings&)> change) {
      counterfactuals_.push_back({std::move(name), std::move(words), {}, {}});
      if (!key.empty()) counterfactuals_.back().set.emplace_back(std::move(key), std::move(value));
      changes_.emplace_back([change = std::move(change)](Scenario& scenario) {
        change(scenario.job.input);
        scenario.platform = with_loaders(std::move(scenario.platform), scenario.job);
      });
    };
    const auto workers = [&](int count, std::string words) {
      add(fmt::format("loader_workers_{}", count), std::move(words), "input.loader_workers",
          fmt::format("{}", count), [count](InputSettings& of) { of.loader_workers = count; });
    };
    workers(input.loader_workers + 1, "one more loader worker per rank");
    if (input.loader_workers > 1) workers(2 * input.loader_workers, "twice as many loader workers");
    if (!input.decode_on_gpu && input.dataset->gpu_decode > Seconds{})
      add("decode_gpu", "samples decoded on the GPU", "input.decode", "gpu",
          [](InputSettings& of) { of.decode_on_gpu = true; });
    add("ready_samples", "all samples ready in memory (a bound)", "", "",
        [](InputSettings& of) { of.dataset.reset(); });
  }

  Speeds own_;
  PartSet used_;
  std::vector<Counterfactual> counterfactuals_;
  std::vector<std::function<void(Scenario&)>> changes_;  ///< one per counterfactual
};

void simulate_all(CounterfactualList& list, const Scenario& scenario, std::string_view engine, int threads) {
  std::vector<std::exception_ptr> errors(list.count());
  for_each_in_parallel(list.count(), threads, [&](std::size_t i) {
    try {
      auto changed = scenario;
      list.change(changed, i);
      const auto measured = simulate(changed, engine).measured;
      auto& one = list.counterfactuals()[i];
      one.step_time = measured.metrics.step_time;
      if (!fits(changed, measured.memory))
        one.words += fmt::format(", which {}", name_of(memory_range(changed, measured.memory).verdict));
    } catch (...) {
      errors[i] = std::current_exception();
    }
  });
  for (const auto& error : errors)
    if (error) std::rethrow_exception(error);
}

std::string ms_text(Seconds time) {
  return fmt::format("{:.4g} ms", time.value() * 1e3);
}

/// Whether exposed communication is the longest part of the step.
bool is_communication(const Metrics& metrics) {
  const auto others = {metrics.compute, metrics.optimizer, metrics.input_wait, metrics.launch_bound,
                       metrics.idle};
  return metrics.exposed_communication > std::max(others);
}

/// "share of kernel time: matrix products 70 %, attention 20 %"; classes of at least 1 %, the largest first.
std::string classes_in_words(const ComputeCosts& costs) {
  const auto all = total({costs.by_class.begin(), costs.by_class.end()});
  std::vector<std::size_t> order(costs.by_class.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater{}, [&](std::size_t i) { return costs.by_class[i]; });
  std::vector<std::string> words;
  for (const auto i : order) {
    const auto share = 100 * (costs.by_class[i] / all);
    if (share >= 1) words.push_back(fmt::format("{} {:.0f} %", operation_class_words[i], share));
  }
  return fmt::format("share of kernel time: {}", fmt::join(words, ", "));
}

std::vector<std::string> bottleneck_evidence(const Run& run, const std::optional<Overlap>& overlap) {
  const auto& metrics = run.measured.metrics;
  std::vector<std::string> evidence;
  if (run.scenario.model.run) evidence.push_back(classes_in_words(compute_costs(run.scenario)));
  if (!overlap) return evidence;
  const bool has_model = trains(run.scenario.job.strategy);
  if (has_model) {
    evidence.push_back(
        fmt::format("the step would take {} without communication; the collectives alone take {} in sequence",
                    ms_text(overlap->without_collectives), ms_text(overlap->collectives)));
  }
  if (!is_communication(metrics)) return evidence;
  if (overlap->links > Seconds{}) {
    const auto carried = metrics.bytes_sent_per_gpu / overlap->links;
    evidence.push_back(fmt::format("the links and memories in use can carry {:.3g} GB/s for each GPU",
                                   carried.value() / 1e9));
  }
  for (const auto& basis : overlap->basis) evidence.push_back(basis);
  return evidence;
}

}  // namespace

Explanation explain(const Scenario& scenario, std::string_view engine, int threads) {
  Explanation explanation{.run = simulate(scenario, engine)};
  const auto& run = explanation.run;
  const auto step = run.measured.metrics.step_time;
  std::optional<Overlap> overlap;
  if (run.measured.metrics.communication > Seconds{}) overlap = overlap_of(run, engine);
  explanation.evidence = bottleneck_evidence(run, overlap);
  if (trains(scenario.job.strategy)) explanation.exposed = exposed_calls(run);
  if (step == Seconds{}) return explanation;
  explanation.slow_gpu = with_slow_gpu(scenario, engine);
  if (const auto& local = run.scenario.job.local_sgd; local && local->wan) {
    explanation.outer = outer_loop_of(run.scenario, *local, step);
    explanation.outer_changes = outer_loop_changes(run, *local);
  }

  CounterfactualList list{run, overlap ? overlap->limit : std::nullopt};
  simulate_all(list, scenario, engine, threads);
  auto counterfactuals = std::move(list.counterfactuals());
  if (overlap && trains(run.scenario.job.strategy)) {
    counterfactuals.push_back(
        {"perfect_overlap",
         "all communication overlapped with kernels without contention (a bound, not a simulation)",
         {},
         overlap->bound()});
  }
  std::ranges::stable_sort(counterfactuals, {}, &Counterfactual::step_time);
  for (auto& one : counterfactuals) {
    auto& found = std::abs(one.gain(step)) < least_gain ? explanation.no_help : explanation.helps;
    found.push_back(std::move(one));
  }
  return explanation;
}

}  // namespace gradway
