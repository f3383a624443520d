// SPDX-License-Identifier: Apache-2.0
// Cost of checkpoints on tiers of storage.
#include "sim/campaign/checkpoint_cost.hpp"

#include <catch2/catch.hpp>

#include "sim/campaign/simulate_campaign.hpp"
#include "sim/config/config.hpp"

using namespace gradway;

namespace {

const DataPath data{{GRADWAY_SOURCE_DIR}};

StorageTier tier_of(StorageTier::Kind kind, BytesPerSecond read) {
  StorageTier tier;
  tier.kind = kind;
  tier.read = read;
  return tier;
}

Scenario scenario_with(const std::string& checkpoint) {
  return load_scenario("campaign/llama2_7b-aws-p5", {{"campaign.checkpoint", checkpoint}}, data);
}

CheckpointCost cost_with(const std::string& checkpoint) {
  const auto scenario = scenario_with(checkpoint);
  return checkpoint_cost(*scenario.campaign->checkpoint, scenario, {}, 8);
}

}  // namespace

TEST_CASE("the rate of a tier is limited by its nodes, their connections and itself", "[campaign][storage]") {
  auto tier = tier_of(StorageTier::Kind::object_store, 100_GBps);
  CHECK(tier_rate(tier, TransferDirection::read, 8, 64) == 100_GBps);
  CHECK(tier_rate(tier, TransferDirection::write, 8, 64) ==
        100_GBps);  // without a write rate: that of reading
  tier.write = 20_GBps;
  CHECK(tier_rate(tier, TransferDirection::write, 8, 64) == 20_GBps);
  tier.per_node = 2_GBps;
  CHECK(tier_rate(tier, TransferDirection::write, 8, 64) == 16_GBps);
  tier.per_connection = BytesPerSecond{0.1e9};
  CHECK(tier_rate(tier, TransferDirection::write, 8, 64).value() == Approx(6.4e9));
  CHECK(tier_rate(tier, TransferDirection::write, 1, 1).value() == Approx(0.1e9));
  const auto drive = tier_of(StorageTier::Kind::local_drive, 7_GBps);
  CHECK(tier_rate(drive, TransferDirection::read, 8, 64) == 56_GBps);
  auto credits = tier_of(StorageTier::Kind::nfs, 1_GBps);
  credits.burst = StorageTier::Burst{.credit = 10_GB, .sustained = BytesPerSecond{1e8}};
  CHECK(tier_rate(credits, TransferDirection::read, 8, 64).value() == Approx(1e8));
}

TEST_CASE("a checkpoint takes the time of its tier and costs its size while it is kept",
          "[campaign][storage]") {
  // 14 bytes of 6,738,415,616 parameters; FSx at 4.8 GB/s, 2.3 ms to open a file; 0.769 USD a GB-month
  const auto size = 14 * 6738415616.0;
  const auto sync = cost_with("{ storage: aws-fsx-lustre-persistent-4.8tib }");
  CHECK(sync.size.value() == Approx(size));
  CHECK(seconds_of(sync.pause).value() == Approx(size / 4.8e9 + 0.0023));
  CHECK(sync.read == sync.pause);
  CHECK(sync.keep == 2);
  CHECK(sync.usd_per_s * 730 * 3600 == Approx(size / 1e9 * 0.769));
  const auto async = cost_with("{ storage: aws-fsx-lustre-persistent-4.8tib, mode: async, keep: all }");
  CHECK(async.write == sync.pause);
  CHECK(seconds_of(async.pause).value() == Approx(size / 64 / 1.3e9));
  CHECK(async.allocation == 0);
  CHECK(async.keep == 0);
  // one writer has one connection of 93 MB/s; S3 opens 5,500 files a second
  CHECK(seconds_of(cost_with("{ storage: s3-standard, sharded: false }").pause).value() ==
        Approx(size / 93e6).epsilon(0.001));
}

// Two H200, 2026-11-22: dcp.async_save of 17.0 GB blocked for 6.65 s.
TEST_CASE("copies to fresh pageable memory are slow each time, to pinned memory the first time",
          "[campaign]") {
  const auto cost = [](const char* settings) {
    auto scenario = scenario_with(settings);
    scenario.job.gpus = 2;
    return checkpoint_cost(*scenario.campaign->checkpoint, scenario, Metrics{}, 1);
  };
  const auto by_itself = cost("{ write: 1 GB/s, mode: async, size: 17 GB }");
  CHECK(seconds_of(by_itself.pause).value() == Approx(6.65).epsilon(0.03));
  CHECK(by_itself.allocation == 0);
  const auto pinned = cost("{ write: 1 GB/s, mode: async, size: 17 GB, staging: pinned }");
  CHECK(seconds_of(pinned.pause).value() == Approx(8.5 / 25));
  CHECK(seconds_of(pinned.allocation).value() == Approx(8.5 / 2));
  // A given copy rate implies preallocated memory.
  const auto timed = cost("{ write: 1 GB/s, mode: async, size: 17 GB, device_copy: 50 GB/s }");
  CHECK(seconds_of(timed.pause).value() == Approx(8.5 / 50));
  CHECK(timed.allocation == pinned.allocation);
  CHECK(cost("{ write: 1 GB/s, size: 17 GB }").allocation == 0);
}

TEST_CASE("pinned memory is allocated by the first checkpoint after each start", "[campaign]") {
  CampaignPlan plan{.steps = 100, .step = Seconds{1}, .saves = true};
  plan.checkpoint = {.pause = ticks_of(Seconds{1}), .allocation = ticks_of(Seconds{5})};
  const auto run = simulate_campaign(plan, Seconds{10}, 0);
  CHECK(seconds_of(run.elapsed).value() == Approx(100 + 10 + 5));
}

TEST_CASE("kept checkpoints are paid during the whole campaign", "[campaign][storage]") {
  CampaignPlan plan{.steps = 730 * 3600.0, .step = Seconds{1}, .saves = true};  // a month
  plan.checkpoint = {.pause = 0, .keep = 2, .usd_per_s = 10.0 / (730 * 3600)};
  CHECK(simulate_campaign(plan, Seconds{3600}, 0).storage_usd == Approx(20));
  plan.checkpoint.keep = 0;  // 730 of them, half of them on average
  CHECK(simulate_campaign(plan, Seconds{3600}, 0).storage_usd == Approx(3650));
}

TEST_CASE("checkpoints and data share their tier max-min fairly", "[campaign][storage]") {
  auto scenario = scenario_with("{ storage: aws-fsx-lustre-persistent-4.8tib, mode: async }");
  scenario.job.input.storage = scenario.campaign->checkpoint->storage;
  const auto cost = [&](double share) {
    Metrics metrics;
    metrics.step_time = Seconds{2};
    metrics.loading = Loading{.read = Bytes{share * 4.8e9 * 2}};
    CHECK(loader_share(scenario, metrics) == Approx(share));
    return checkpoint_cost(*scenario.campaign->checkpoint, scenario, metrics, 8);
  };
  const auto alone = cost(0);
  CHECK(static_cast<double>(cost(0.25).write) == Approx(static_cast<double>(alone.write) / 0.75));
  CHECK(cost(0.25).slowdown == 1);
  CHECK(static_cast<double>(cost(0.8).write) == Approx(static_cast<double>(alone.write) * 2));
  CHECK(cost(0.8).slowdown == Approx(1.6));      // loaders have half of what they take 0.8 of
  scenario.campaign->checkpoint->weight = 0.25;  // so that loaders have four fifths
  CHECK(cost(0.8).slowdown == Approx(1));
  CHECK(static_cast<double>(cost(0.9).write) == Approx(static_cast<double>(alone.write) * 5));
  CHECK(cost(0.9).slowdown == Approx(0.9 / 0.8));
  scenario.job.input.storage->name = "another";
  Metrics metrics;
  metrics.step_time = Seconds{2};
  metrics.loading = Loading{.read = Bytes{1e9}};
  CHECK(loader_share(scenario, metrics) == 0);
}
