// SPDX-License-Identifier: Apache-2.0
#include "readers/loader/loader.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <fmt/format.h>

#include "sim/base/contract.hpp"
#include "sim/base/printable.hpp"
#include "sim/platform/with_loading.hpp"

namespace gradway {
namespace {

// A shared limit is accepted if it reduces the squared error to this share: runs vary that much.
constexpr double plateau_threshold = 0.25;
constexpr double run_variation = 0.03;

/// Workers that run at the rate of a core of their own.
double effective_workers(const LoaderRun& run) {
  const auto workers = std::max(1, run.workers);
  if (!run.threads || run.workers == 0) return workers;
  constexpr int threads_of_a_core = 2;
  const int cores = std::max(1, *run.threads / threads_of_a_core);
  return std::min<double>(workers, cores_for_loaders(cores, 1, workers));
}

double mean_of(const std::vector<double>& values, std::size_t from, std::size_t end) {
  return std::accumulate(values.begin() + static_cast<std::ptrdiff_t>(from),
                         values.begin() + static_cast<std::ptrdiff_t>(end), 0.0) /
         static_cast<double>(end - from);
}

/// Standard error of the mean of logarithms, that is of a factor; 0 for a single value.
double standard_error(const std::vector<double>& logarithms) {
  if (logarithms.size() < 2) return 0;
  const auto mean = mean_of(logarithms, 0, logarithms.size());
  double squares = 0;
  for (const auto logarithm : logarithms) squares += std::pow(logarithm - mean, 2);
  const auto n = static_cast<double>(logarithms.size());
  return std::sqrt(squares / (n - 1) / n);
}

/// Fit in logarithms: the first `linear` runs share one rate per worker, the others one total rate.
struct Split {
  std::size_t linear = 0;
  double squares = std::numeric_limits<double>::infinity();
  double log_rate = 0;
  double log_limit = std::numeric_limits<double>::infinity();
};

/// @param rates samples per second by run, @param counts effective workers by run
Split split_at(std::size_t linear, const std::vector<double>& rates, const std::vector<double>& counts) {
  std::vector<double> by_worker, in_all;
  for (std::size_t i = 0; i < rates.size(); ++i) {
    by_worker.push_back(std::log(rates[i] / counts[i]));
    in_all.push_back(std::log(rates[i]));
  }
  Split split{.linear = linear, .squares = 0, .log_rate = mean_of(by_worker, 0, linear)};
  if (linear < rates.size()) split.log_limit = mean_of(in_all, linear, rates.size());
  for (std::size_t i = 0; i < rates.size(); ++i) {
    const auto fitted = std::min(split.log_rate + std::log(counts[i]), split.log_limit);
    split.squares += std::pow(fitted - in_all[i], 2);
  }
  return split;
}

/// Fits the start of workers: a first batch takes the time of a batch and of starting all workers.
void fit_start(LoaderCosts& costs, const std::vector<LoaderRun>& runs) {
  std::vector<std::pair<double, double>> points;  // Workers, seconds in addition to the batch.
  for (const auto& run : runs)
    if (run.first_batch && run.workers > 0)
      points.emplace_back(run.workers, run.first_batch->value() - costs.time_per_sample.value() * run.batch);
  if (points.size() < 2) return;
  double x = 0, y = 0, xx = 0, xy = 0;
  for (const auto& [workers, remainder] : points) {
    x += workers, y += remainder, xx += workers * workers, xy += workers * remainder;
  }
  const auto n = static_cast<double>(points.size());
  const auto slope = (n * xy - x * y) / (n * xx - x * x);
  if (!(slope > 0)) return;
  const auto base = (y - slope * x) / n;
  double squares = 0;
  for (const auto& [workers, rest] : points) squares += std::pow(base + slope * workers - rest, 2);
  costs.worker_start = Seconds{slope};
  costs.worker_start_error = Seconds{std::sqrt(squares / n)};
}

/// Relative error of a figure, for prediction intervals.
std::string error_key(double error) {
  return error > 0 ? fmt::format(", error: {:.4f}", error) : "";
}

std::string signed_percent(double share) {
  return fmt::format("{:+.1f} %", 100 * share);
}

}  // namespace

double LoaderCosts::mean_error() const {
  double sum = 0;
  for (const auto error : errors) sum += std::abs(error);
  return errors.empty() ? 0 : sum / static_cast<double>(errors.size());
}

LoaderCosts fit_loader(const std::vector<LoaderRun>& runs) {
  std::vector<double> rates, counts;
  for (const auto& run : runs) {
    if (run.workers == 0) continue;
    rates.push_back(run.samples_per_s());
    counts.push_back(effective_workers(run));
  }
  expects(!rates.empty(), "a run has workers");
  auto best = split_at(rates.size(), rates, counts);
  const auto without = best.squares;
  const auto floor = static_cast<double>(rates.size()) * run_variation * run_variation;
  for (std::size_t linear = 1; linear < rates.size(); ++linear) {
    const auto split = split_at(linear, rates, counts);
    const bool is_plateau = split.log_limit < split.log_rate + std::log(counts.back());
    if (is_plateau && split.squares < best.squares &&
        split.squares + floor < plateau_threshold * (without + floor))
      best = split;
  }
  LoaderCosts costs;
  costs.time_per_sample = Seconds{std::exp(-best.log_rate)};
  std::vector<double> by_worker, in_all;
  for (std::size_t i = 0; i < rates.size(); ++i)
    (i < best.linear ? by_worker : in_all).push_back(std::log(rates[i] / (i < best.linear ? counts[i] : 1)));
  costs.time_error = standard_error(by_worker);
  costs.limit_error = standard_error(in_all);
  if (best.linear < rates.size()) costs.limit = std::exp(best.log_limit);
  for (const auto& run : runs) {
    const auto rate = effective_workers(run) / costs.time_per_sample.value();
    costs.fitted.push_back(std::min(rate, costs.limit.value_or(rate)));
    costs.errors.push_back(costs.fitted.back() / run.samples_per_s() - 1);
  }
  fit_start(costs, runs);
  return costs;
}

std::string loader_yaml(const std::vector<LoaderRun>& runs, const LoaderCosts& costs,
                        const std::string& name) {
  const auto& first = runs.front();
  std::string text = fmt::format("# {} runs of {}: samples a second\n#  workers  measured  fitted    error\n",
                                 runs.size(), printable(name));
  for (std::size_t i = 0; i < runs.size(); ++i)
    text += fmt::format("#  {:7}  {:8.4g}  {:8.4g}  {:>7}\n", runs[i].workers, runs[i].samples_per_s(),
                        costs.fitted[i], signed_percent(costs.errors[i]));
  text += fmt::format("# Mean error: {:.1f} %.", 100 * costs.mean_error());
  if (costs.time_error > 0)
    text += fmt::format(" Standard error of the time per sample: {:.1f} %.", 100 * costs.time_error);
  text += '\n';
  if (costs.limit) {
    text += fmt::format("# More workers do not help: the limit is {:.4g} samples/s.", *costs.limit);
    if (first.sample_size)
      text += fmt::format(
          " If storage is the limit, in a scenario:\n#   input: {{ storage: {{ read: {:.4g} MB/s{} }} }}",
          *costs.limit * first.sample_size->value() / 1e6, error_key(costs.limit_error));
    text += '\n';
  } else {
    text += "# No limit other than the cores was reached, so the speed of storage is unknown.\n";
  }
  if (costs.worker_start)
    text += fmt::format(
        "# Workers start one after the other, {0:.4g} ms each (root mean square error {1:.3g} ms), at each "
        "epoch's start\n"
        "# unless persistent_workers is set. In a scenario:\n#   input: {{ worker_start: {0:.4g} ms }}\n",
        costs.worker_start->value() * 1e3, costs.worker_start_error.value() * 1e3);
  if (!first.sample_size)
    text +=
        "# The log has no 'bytes' (stored size of a sample): 1 B is assumed, so storage is not simulated.\n";
  text += fmt::format(
      "schema: 1\nsource: >-\n  Runs of a DataLoader, {}\nsamples: {:.15g}\nsample_size: {:.10g} B\n"
      "# Time of one core to read, decode, transform and collate a sample.\ncpu: {{ decode: {:.5g} ms{} "
      "}}\n",
      printable(name), first.samples, first.sample_size.value_or(Bytes{1}).value(),
      costs.time_per_sample.value() * 1e3, error_key(costs.time_error));
  return text;
}

}  // namespace gradway
