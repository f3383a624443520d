// SPDX-License-Identifier: Apache-2.0
#include "sim/study/campaign/campaign_estimate.hpp"

#include <algorithm>
#include <numeric>

#include "sim/base/contract.hpp"
#include "sim/base/quantiles.hpp"
#include "sim/study/parallel.hpp"

namespace gradway {
namespace {

constexpr double seconds_of_an_hour = 3600;

template <class Figure>
Expected spread(const std::vector<CampaignRun>& runs, const Figure& figure) {
  std::vector<double> values;
  values.reserve(runs.size());
  for (const auto& run : runs) values.push_back(figure(run));
  return {quantile(values, 0.5), quantile(values, 0.05), quantile(values, 0.95)};
}

template <class Figure>
double mean(const std::vector<CampaignRun>& runs, const Figure& figure) {
  double sum = 0;
  for (const auto& run : runs) sum += figure(run);
  return sum / static_cast<double>(runs.size());
}

}  // namespace

double NodeCosts::usd_of(const CampaignRun& run) const {
  const auto spot = spot_usd ? run.spot_seconds * (spot_usd->value() - usd->value()) : 0;
  return (run.node_seconds * usd->value() + spot) / seconds_of_an_hour + run.other_usd;
}

double NodeCosts::kg_co2(double node_seconds) const {
  const auto kilowatts = carbon->node_power.value() / 1000 * carbon->pue;
  return node_seconds / seconds_of_an_hour * kilowatts * carbon->grams_per_kwh / 1000;
}

TimeShares time_shares(const CampaignRun& run) {
  const auto elapsed = static_cast<double>(run.elapsed);
  const auto share = [&](std::initializer_list<Bucket> buckets) {
    Ticks sum = 0;
    for (const auto bucket : buckets) sum += at(run.times, bucket);
    return elapsed > 0 ? static_cast<double>(sum) / elapsed : 1.0;
  };
  return {.goodput = share({Bucket::productive}),
          .effective = share({Bucket::productive, Bucket::stragglers, Bucket::narrow, Bucket::conditions}),
          .ettr = share({Bucket::productive, Bucket::stragglers, Bucket::narrow, Bucket::conditions,
                         Bucket::evaluation})};
}

std::vector<CampaignRun> simulate_seeds(const CampaignPlan& plan, Seconds interval, int seeds, int threads) {
  std::vector<CampaignRun> runs(static_cast<std::size_t>(seeds));
  for_each_in_parallel(runs.size(), threads, [&](std::size_t i) {
    runs[i] = simulate_campaign(plan, interval, static_cast<int>(i));
  });
  return runs;
}

CampaignEstimate estimate_of(const std::vector<CampaignRun>& runs, const CampaignPlan& plan,
                             const NodeCosts& rates) {
  expects(!runs.empty(), "an estimate needs at least one run");
  const auto seconds = [](const CampaignRun& run) { return seconds_of(run.elapsed).value(); };
  const auto usd = [&](const CampaignRun& run) { return rates.usd_of(run); };
  const auto shares = [](double TimeShares::*share) {
    return [share](const CampaignRun& run) { return time_shares(run).*share; };
  };
  CampaignEstimate estimate{
      .runs = static_cast<int>(runs.size()),
      .unfinished = static_cast<int>(std::ranges::count(runs, false, &CampaignRun::finished)),
      .seconds = spread(runs, seconds),
      .goodput = spread(runs, shares(&TimeShares::goodput)),
      .effective = spread(runs, shares(&TimeShares::effective)),
      .ettr = spread(runs, shares(&TimeShares::ettr)),
      .interruptions = spread(runs, [](const CampaignRun& run) { return run.failures + run.losses; }),
      .mean_s = mean(runs, seconds),
      .mean_checkpoints = mean(runs, [](const CampaignRun& run) { return run.checkpoints; }),
      .mean_storage_usd = mean(runs, [](const CampaignRun& run) { return run.storage_usd; }),
      .mean_data_usd = mean(runs, [](const CampaignRun& run) { return run.data_usd; }),
      .mean_exchanges = mean(runs, [](const CampaignRun& run) { return run.exchanges; }),
      .mean_void_rounds = mean(runs, [](const CampaignRun& run) { return run.void_rounds; }),
      .mean_asked = mean(runs, [](const CampaignRun& run) { return run.asked; }),
      .mean_updates = mean(runs, [](const CampaignRun& run) { return run.updates; }),
      .mean_sent_bytes = mean(runs, [](const CampaignRun& run) { return run.sent.value(); }),
      .ideal_s = plan.steps * plan.step.value()};
  for (const auto& run : runs) {
    estimate.seconds_by_seed.push_back(seconds(run));
    if (rates.usd) estimate.usd_by_seed.push_back(usd(run));
  }
  if (rates.usd) {
    estimate.usd = spread(runs, usd);
    estimate.mean_usd = mean(runs, usd);
  }
  if (rates.carbon)
    estimate.kg_co2 = spread(runs, [&](const CampaignRun& run) { return rates.kg_co2(run.node_seconds); });
  for (std::size_t i = 0; i < bucket_count; ++i)
    estimate.bucket_s[i] =
        mean(runs, [&](const CampaignRun& run) { return seconds_of(run.times[i]).value(); });
  return estimate;
}

}  // namespace gradway
