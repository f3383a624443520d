// SPDX-License-Identifier: Apache-2.0
#include "observe/measured/measured_step.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>
#include <sstream>

#include <fmt/format.h>

#include "observe/watch/watch.hpp"
#include "readers/step_log/step_log.hpp"
#include "sim/base/number.hpp"
#include "sim/base/printable.hpp"
#include "sim/base/problem.hpp"
#include "sim/base/rows.hpp"
#include "sim/base/text.hpp"
#include "sim/config/set_keys.hpp"
#include "sim/files/compressed_file.hpp"
#include "sim/nccl/rank_order.hpp"
#include "sim/scenario/strategy_facts.hpp"
#include "sim/study/explain/explain.hpp"
#include "sim/trust/provenance_class.hpp"

namespace gradway {

namespace tables {
extern const std::string_view step_causes;
}

namespace {

/// Rate of a NIC that runs NCCL's sockets. @source github.com/NVIDIA/nccl issue 450: 4 to 6 GB/s of bus
/// bandwidth on four nodes with 100 Gbit/s, whose four channels have one connection each
constexpr BytesPerSecond socket_rate{5e9};
/// An interface for logins and storage, over which NCCL runs if it finds no other.
constexpr BytesPerSecond slow_interface{1.25e9};

/// Whether the job and its platform are of the kind that a row of step_causes.txt asks for.
bool is_met(std::string_view condition, const Run& run) {
  const auto& job = run.scenario.job;
  if (condition == "gpus") return job.gpus >= 2;
  if (condition == "fp32") return job.precision == Precision::fp32;
  if (condition == "not_fp32") return job.precision != Precision::fp32;
  if (condition == "16_bits") return job.precision != Precision::fp32 && job.precision != Precision::tf32;
  if (condition == "training") return trains(job.strategy);
  if (condition.empty()) return true;
  const auto& platform = run.scenario.platform;
  if (!platform.network || node_count(platform, job.gpus) < 2) return false;
  const auto nic = platform.network->nic_rate;
  if (condition == "rdma") return nic > BytesPerSecond{} && platform.network->kind != NetworkKind::tcp;
  return condition == "nodes" || nic > slow_interface;
}

/// The speeds of the network, as shares of that of the platform, over sockets and over a slow interface.
std::pair<double, double> slow_networks(const Platform& platform) {
  if (!platform.network || platform.network->nic_rate <= BytesPerSecond{}) return {1, 1};
  const auto nic = platform.network->nic_rate.value();
  const auto nics = std::ranges::count_if(platform.devices, [](const Device& device) {
    return device.kind == DeviceKind::nic && device.node == 0;
  });
  return {std::min(1.0, socket_rate.value() / nic),
          slow_interface.value() / nic / static_cast<double>(std::max<std::ptrdiff_t>(1, nics))};
}

Settings settings_in(const std::string& text) {
  Settings settings;
  for (const auto pair : words_in(text)) {
    const auto sign = pair.find('=');
    settings.emplace_back(pair.substr(0, sign), pair.substr(sign + 1));
  }
  return settings;
}

bool can_have(Job job, Settings settings) {
  std::erase_if(settings, [](const auto& key) { return key.first.starts_with("faster."); });
  try {
    set_keys(job, settings);
  } catch (const ConfigError&) {
    return false;
  }
  return true;
}

/// The causes of the rows of a kind: "slower", "faster".
std::vector<StepCause> causes_in_table(std::string_view kind, const Run& run) {
  constexpr double seldom = 0.15;  // as if the logarithm of the step time were that much further away
  constexpr double rare = 0.3;
  std::vector<StepCause> causes;
  const auto [sockets, interface] = slow_networks(run.scenario.platform);
  for (const auto& row : rows_in(tables::step_causes)) {
    if (row.kind != kind || !is_met(row.value("when"), run)) continue;
    const auto weight = row.value("weight");
    const auto decide =
        fmt::format(fmt::runtime(row.value("decide")), fmt::arg("platform", run.scenario.platform.name));
    for (const auto speed : words_in(row.value("at").empty() ? "1" : row.value("at"))) {
      auto settings = settings_in(fmt::format(fmt::runtime(row.value("set")), fmt::arg("at", speed),
                                              fmt::arg("sockets", fmt::format("{:.4g}", sockets)),
                                              fmt::arg("interface", fmt::format("{:.4g}", interface))));
      if (!can_have(run.scenario.job, settings)) continue;
      const bool has_speeds = !row.value("at").empty();
      const std::string name{row.word(0)};
      const std::string words{row.word(1)};
      causes.push_back({{has_speeds ? fmt::format("{}_{}", name, speed) : name,
                         has_speeds ? fmt::format("{} at {:.0f} % of the speed", words,
                                                  100 * std::stod(std::string{speed}))
                                    : words,
                         std::move(settings)},
                        decide,
                        weight == "rare"     ? rare
                        : weight == "seldom" ? seldom
                                             : 0,
                        {}});
    }
  }
  return causes;
}

}  // namespace

double StepCause::distance(Seconds measured) const {
  return std::abs(std::log(step_time / measured)) + penalty;
}

StepVerdict verdict_of(const MeasuredStep& measured, const Run& run) {
  if (std::abs(measured.time / run.measured.metrics.step_time - 1) < as_predicted)
    return StepVerdict::expected;
  if (measured.time < run.range.low) return StepVerdict::fast;
  if (measured.time <= run.range.high) return StepVerdict::inside;
  // Of 38 public reports on GPUs whose kernels were not timed, nine are above their interval, among them one
  // that the program's author calls normal (nanoGPT issue 110); of eight on others, none.
  return provenance_class_of(run.step_basis) < ProvenanceClass::moved ? StepVerdict::slow
                                                                      : StepVerdict::undecided;
}

MeasuredStep read_measured_step(const std::string& text, const Run& run) {
  const auto& job = run.scenario.job;
  StepLogOptions options;
  StepAmounts amounts;
  amounts.samples = job.samples();
  amounts.tokens = amounts.samples * run.measured.metrics.tokens_per_sample.value_or(0);
  amounts.gpus = job.gpus;
  options.amounts = amounts;
  std::error_code error;
  std::vector<LoggedStep> steps;
  if (std::filesystem::is_regular_file(text, error)) {
    CompressedFile file{text, text};
    std::istream lines{&file};
    steps = read_step_log(lines, text, options);
    file.check();
    std::vector<Seconds> times;
    for (const auto& step : steps) times.push_back(step.time);
    const auto watched = watch_steps(times, std::nullopt);
    return {watched.median, watched.steps - watched.warm_up, {}};
  }
  double number = 0;
  const auto read = read_number(text.data(), text.data() + text.size(), number);
  if (read.ec == std::errc{} && read.ptr == text.data() + text.size())
    refuse(fmt::format("'--measured {}' has no unit", printable(text)),
           fmt::format("write '{0} s', '{0} samples/s' or '{0} tokens/s/gpu'", printable(text)));
  options.fewest = 1;
  std::istringstream line{text + "\n"};
  try {
    steps = read_step_log(line, "--measured", options);
  } catch (const ConfigError&) {
    refuse(fmt::format("'--measured {}' is no step time", printable(shortened(text, 80))),
           "write a time or a rate with its unit, such as '2.31 s' or '152 samples/s', a line of a log, or a "
           "log");
  }
  return {steps.back().time, 1, {}};
}

void find_causes(MeasuredStep& measured, const Run& run, std::string_view engine, int threads) {
  const auto step = run.measured.metrics.step_time;
  if (std::abs(measured.time / step - 1) < as_predicted) return;
  const bool is_slower = measured.time > step;
  auto causes = causes_in_table(is_slower ? "slower" : "faster", run);
  std::vector<WhatIf> changes;
  for (const auto& cause : causes) changes.push_back(cause.change);
  const auto answers = counterfactuals(changes, run.scenario, {.engine = engine}, threads, false);
  for (std::size_t i = 0; i < causes.size(); ++i) causes[i].step_time = answers[i].step_time;
  // What changes the step by less than 2 % the right way explains nothing.
  constexpr double least = 0.02;
  std::erase_if(causes, [&](const StepCause& cause) {
    const auto change = cause.step_time / step - 1;
    return cause.step_time == Seconds{} || (is_slower ? change < least : change > -least);
  });
  std::ranges::stable_sort(causes, {}, [&](const StepCause& cause) { return cause.distance(measured.time); });
  // Of several speeds of a part the closest counts.
  std::set<std::string> parts;
  std::erase_if(causes, [&](const StepCause& cause) {
    const auto& name = cause.change.name;
    const auto end = name.find_first_of("0123456789");
    return end != std::string::npos && name[end - 1] == '_' && !parts.insert(name.substr(0, end)).second;
  });
  measured.causes = std::move(causes);
}

}  // namespace gradway
