// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <algorithm>

#include "sim/config/config.hpp"
#include "sim/study/explain/explain.hpp"
#include "tests/support/profiles.hpp"

using namespace gradway;
using namespace gradway::test;

namespace {

const DataPath data{{GRADWAY_SOURCE_DIR}};

std::vector<Counterfactual> all_of(const Explanation& explanation) {
  auto all = explanation.helps;
  all.insert(all.end(), explanation.no_help.begin(), explanation.no_help.end());
  return all;
}

const Counterfactual* find(const std::vector<Counterfactual>& answers, const std::string& name) {
  const auto found = std::ranges::find(answers, name, &Counterfactual::name);
  return found == answers.end() ? nullptr : &*found;
}

std::vector<std::string> names_of(const std::vector<Counterfactual>& answers) {
  std::vector<std::string> names;
  for (const auto& one : answers) names.push_back(one.name);
  std::ranges::sort(names);
  return names;
}

/// Part that NCCL's channels copy through; they are the limit of the step.
HardwarePart limit_of(const Explanation& explanation) {
  const auto limit = std::get<bottleneck::Communication>(explanation.run.measured.bottleneck).limit;
  return std::get<bottleneck::Channels>(limit).part;
}

}  // namespace

TEST_CASE("each answer is what a run of the scenario with its settings gives", "[explain]") {
  using Set = std::vector<Override>;
  const auto [name, set] = GENERATE(
      std::pair<std::string, Set>{"article/g6e", {}},
      std::pair<std::string, Set>{"article/g6e", {{"faster.host_memory", "3"}, {"faster.gpu", "0.5"}}},
      std::pair<std::string, Set>{"article/g6e", {{"faster.host_memory", "1e9"}, {"faster.cpu", "1e12"}}},
      std::pair<std::string, Set>{"article/p4d", {{"job.gpus", "16"}}},
      std::pair<std::string, Set>{"h200-4x/mobilenet_v3_large", {{"input.background_copy", "1 GB"}}},
      std::pair<std::string, Set>{"h200-4x/vit_l_32", {{"nccl.NCCL_P2P_DISABLE", "1"}}},
      std::pair<std::string, Set>{"published/all-reduce", {}},
      std::pair<std::string, Set>{
          "article/p4d", {{"job.gpus", "16"}, {"network.round_trip", "20 ms"}, {"network.loss", "0.1 %"}}},
      std::pair<std::string, Set>{"published/all-reduce",
                                  {{"platform", "two-sites-8x-h100"},
                                   {"job.gpus", "32"},
                                   {"network.loss", "0.1 %"},
                                   {"nccl.NCCL_NSOCKS_PERTHREAD", "3"}}},
      std::pair<std::string, Set>{
          "published/all-reduce",
          {{"platform", "synthetic-pod-1024"}, {"job.gpus", "64"}, {"network.routing", "ecmp"}}},
      std::pair<std::string, Set>{"article/g6e",
                                  {{"traffic", "[{ from: rc0, to: gpu0, load: 0.5 }]"}, {"job.gpus", "1"}}});
  const auto explanation = explain(load_scenario(name, set, data), "fluid", 2);
  const auto step = explanation.run.measured.metrics.step_time;
  CHECK(step == simulate(load_scenario(name, set, data), "fluid").measured.metrics.step_time);
  for (const auto& one : all_of(explanation)) {
    CAPTURE(name, one.name);
    if (one.is_bound) continue;
    auto again = set;
    for (const auto& [key, value] : one.set) again.push_back({key, value});
    CHECK(simulate(load_scenario(name, again, data), "fluid").measured.metrics.step_time == one.step_time);
  }
  CHECK(std::ranges::is_sorted(explanation.helps, {}, &Counterfactual::step_time));
  for (const auto& answer : explanation.helps) CHECK(answer.gain(step) >= least_gain);
  for (const auto& answer : explanation.no_help) CHECK(answer.gain(step) < least_gain);
}

TEST_CASE("on the article's g6e host memory is the bottleneck, and faster host memory what helps most",
          "[explain]") {
  const auto explanation = explain(load_scenario("article/g6e", {}, data), "fluid", 2);
  CHECK(limit_of(explanation) == HardwarePart::host_memory);
  const auto& helps = explanation.helps;
  const auto first_twice =
      std::ranges::find_if(helps, [](const auto& one) { return one.name.ends_with("_2x"); });
  REQUIRE(first_twice != helps.end());
  CHECK(first_twice->name == "host_memory_2x");
  CHECK(first_twice->words == "host memory and what NCCL copies through it (SHM) twice as fast");
  // 587 ms that nothing hides, of which all but the latency of the ring's steps is halved.
  CHECK(first_twice->gain(explanation.run.measured.metrics.step_time) ==
        Approx(0.5 * 587 / 706.1).epsilon(0.002));
  CHECK(explanation.mostly_communication);
  REQUIRE(explanation.overlap);
  const auto sent = explanation.run.measured.metrics.bytes_sent_per_gpu;
  CHECK((sent / explanation.overlap->links).value() == Approx(16e9).epsilon(0.01));
}

TEST_CASE("on two of them a node is the limit, so faster host memory helps and a faster network does not",
          "[explain]") {
  const auto explanation = explain(load_scenario("article/g6e", {{"job.gpus", "16"}}, data), "fluid", 2);
  CHECK(limit_of(explanation) == HardwarePart::host_memory);
  CHECK(find(explanation.helps, "host_memory_2x"));
  CHECK(find(explanation.no_help, "network_2x"));
}

TEST_CASE("perfect overlap is the longer of the step without communication and the collectives alone",
          "[explain]") {
  // Each of 6 all-reduces of 50 MB takes 2(n-1) x 500 ns + 2(n-1)/n x 1 ms.
  const int ranks = GENERATE(4, 64);
  const auto layer = GENERATE(1_ms, 0.2_ms);
  const double one = 2.0 * (ranks - 1) * 500e-9 + 2.0 * (ranks - 1) / ranks * 1e-3;
  const double kernels = 6 * 3 * layer.value();
  const auto scenario = ring_scenario(ranks, {{"layer", 6, layer, 2 * layer, 12500000}}, 50_MB);
  const auto explanation = explain(scenario, "fluid", 1);
  const auto all = all_of(explanation);
  const auto* bound = find(all, "perfect_overlap");
  REQUIRE(bound);
  CHECK(bound->is_bound);
  CHECK(bound->step_time.value() == Approx(std::max(kernels, 6 * one)));
  const auto overlap = overlap_of(explanation.run, "fluid");
  CHECK(overlap.without_collectives.value() == Approx(kernels));
  CHECK(overlap.collectives.value() == Approx(6 * one));
  CHECK(overlap.links.value() == Approx(6 * (one - 2.0 * (ranks - 1) * 500e-9)));
  CHECK(bound->step_time <= explanation.run.measured.metrics.step_time);
}

TEST_CASE("no run is faster than its perfect overlap", "[explain]") {
  const auto* cap = GENERATE("1 MiB", "25 MiB", "100 MiB", "2000 MiB");
  const auto* platform = GENERATE("aws-g6e.48xlarge", "aws-p4d.24xlarge");
  const auto run = simulate(
      load_scenario("article/g6e", {{"strategy.bucket_cap", cap}, {"platform", platform}}, data), "fluid");
  CHECK(overlap_of(run, "fluid").bound() <= run.measured.metrics.step_time);
  CHECK(overlap_of(run, "simgrid").bound().value() ==
        Approx(overlap_of(run, "fluid").bound().value()).epsilon(1e-9));
}

TEST_CASE("one slow GPU of several makes all wait, by what its kernels take longer", "[explain]") {
  // 24 forwards of 1 ms, 24 backwards of 2 ms and an optimizer of 5 ms: a tenth of 77 ms, less what hides in
  // waits.
  const auto explanation = explain(load_scenario("scale/ddp-24", {{"job.gpus", "64"}}, data), "fluid", 2);
  REQUIRE(explanation.slow_gpu);
  const auto longer = explanation.slow_gpu->step_time - explanation.run.measured.metrics.step_time;
  CHECK(longer.value() > 0.5 * 7.7e-3);
  CHECK(longer.value() <= 7.7e-3 * (1 + 1e-9));
  const auto run =
      simulate(load_scenario("scale/ddp-24", {{"job.gpus", "64"}, {"job.slow_gpu", "1.1"}}, data));
  CHECK(run.measured.metrics.step_time == explanation.slow_gpu->step_time);
  CHECK_FALSE(explain(load_scenario("article/g6e", {{"job.gpus", "1"}}, data), "fluid", 2).slow_gpu);
}

TEST_CASE("flows that collide are the limit of a network that hashes them, and spreading them helps",
          "[explain][network]") {
  const std::vector<Override> set{{"platform", "synthetic-pod-1024-full"},
                                  {"job.gpus", "64"},
                                  {"strategy.size", "4 GiB"},
                                  {"network.routing", "ecmp"}};
  const auto explanation = explain(load_scenario("published/all-reduce", set, data), "fluid", 2);
  const auto limit = std::get<bottleneck::Communication>(explanation.run.measured.bottleneck).limit;
  CHECK(std::get<bottleneck::FullLink>(limit).spread < 0.6);
  const auto* adaptive = find(explanation.helps, "adaptive_routing");
  REQUIRE(adaptive);
  const auto* more = find(explanation.helps, "more_queue_pairs");
  REQUIRE(more);
  CHECK(adaptive->step_time < more->step_time);
}

TEST_CASE("lost packets are the limit of far nodes, and another congestion control helps",
          "[explain][network]") {
  const std::vector<Override> set{{"platform", "two-sites-8x-h100"},
                                  {"job.gpus", "32"},
                                  {"strategy.size", "1 GiB"},
                                  {"network.loss", "0.1 %"}};
  const auto explanation = explain(load_scenario("published/all-reduce", set, data), "fluid", 2);
  const auto limit = std::get<bottleneck::Communication>(explanation.run.measured.bottleneck).limit;
  CHECK(std::get<bottleneck::Channels>(limit).far == FarLimit::loss);
  CHECK(find(explanation.helps, "congestion_bbr"));
  CHECK(find(explanation.helps, "more_connections"));
}

TEST_CASE("only what a job uses is asked about", "[explain]") {
  const auto alone = explain(ring_scenario(1, {{"layer", 6, 1_ms, 2_ms, 1000}}, 50_MB), "fluid", 1);
  CHECK(names_of(all_of(alone)) == std::vector<std::string>{"gpu_2x"});
  const auto call = explain(load_scenario("published/all-reduce", {}, data), "fluid", 1);
  CHECK(names_of(all_of(call)) == std::vector<std::string>{"infinite_links", "nvlink_2x"});
  const auto one_by_one =
      explain(load_scenario("published/all-reduce", {{"strategy.timed", "one_by_one"}}, data), "fluid", 1);
  CHECK(names_of(all_of(one_by_one)) ==
        std::vector<std::string>{"cpu_2x", "infinite_links", "no_launch_cost", "nvlink_2x"});
  const auto empty = explain(ring_scenario(1, {{"tensor", 1, 0_ms, 0_ms, 1000}}, 50_MB), "fluid", 1);
  CHECK(all_of(empty).empty());
  CHECK_FALSE(empty.overlap);
}

TEST_CASE("a step bound by its launches is told what launches that cost nothing would gain", "[explain]") {
  auto profile = even_profile(100, 20_us, 1_us);
  profile.step_time = Seconds{201 * 20e-6};
  const auto explanation = explain(profiled_scenario(profile), "fluid", 1);
  CHECK(std::get<bottleneck::Idle>(explanation.run.measured.bottleneck).wait == bottleneck::Wait::launches);
  CHECK(explanation.helps.front().name == "no_launch_cost");
  CHECK(find(explanation.no_help, "gpu_2x"));
}

TEST_CASE("a value that its key does not allow is no what-if", "[explain]") {
  const auto has_more_streams = [](const char* streams) {
    const auto what_ifs = exchange_what_ifs(
        load_scenario("campaign/llama2_7b-sites", {{"strategy.wan.streams", streams}}, data).job);
    return std::ranges::find(what_ifs, "streams_2x", &WhatIf::name) != what_ifs.end();
  };
  CHECK(has_more_streams("4"));
  CHECK_FALSE(has_more_streams("9000"));  // at most 10,000
}

TEST_CASE("answers do not depend on how many are computed at once", "[explain]") {
  const auto scenario = load_scenario("article/p4d", {}, data);
  const auto one = all_of(explain(scenario, "fluid", 1));
  const auto many = all_of(explain(scenario, "fluid", 8));
  REQUIRE(one.size() == many.size());
  for (std::size_t i = 0; i < one.size(); ++i) {
    CHECK(one[i].name == many[i].name);
    CHECK(one[i].step_time == many[i].step_time);
  }
}

TEST_CASE("a job that cannot be simulated is an error, not an answer", "[explain]") {
  auto scenario = load_scenario("article/g6e", {{"nccl.NCCL_ALGO", "Ring"}}, data);
  scenario.calibration.collectives.front().time = 1_us;
  CHECK_THROWS_AS(explain(scenario, "fluid", 2), ConfigError);
}

TEST_CASE("remedies of storage give the gain that they promise", "[explain]") {
  using Set = std::vector<Override>;
  const auto drive = load_storage("local-nvme", data);
  const auto [name, set, remedy] = GENERATE(table<std::string, Set, std::string>(
      {{"loading/resnet50", {{"input.storage", "s3-standard"}}, "staged_to_drives"},
       {"loading/resnet50",
        {{"input.storage", "s3-standard"}, {"input.cache", "page_cache"}, {"input.cache_size", "100 GB"}},
        "cache_prefetch"},
       {"loading/resnet50",
        {{"input.storage", "aws-fsx-lustre-4.8tib"}, {"input.dataset", "imagenet-1k-raw"}},
        "codec_zstd"}}));
  const auto explanation = explain(load_scenario(name, set, data), "fluid", 2, drive);
  CHECK(std::holds_alternative<bottleneck::Loader>(explanation.run.measured.bottleneck));
  const auto* found = find(explanation.helps, remedy);
  REQUIRE(found != nullptr);
  const auto step = explanation.run.measured.metrics.step_time;
  CHECK(found->gain(step) > 0.1);
  auto again = set;
  for (const auto& [key, value] : found->set) again.push_back({key, value});
  const auto real = simulate(load_scenario(name, again, data), "fluid").measured.metrics.step_time;
  CHECK(found->gain(step) == Approx((step - real) / step).epsilon(0.02));
}

TEST_CASE("remedies of staging end the first epoch as early as they promise", "[explain]") {
  const auto explanation = explain(load_scenario("loading/staging", {}, data), "fluid", 2);
  REQUIRE(explanation.ways_in.has_value());
  CHECK(explanation.ways_in->copy.limit == StageInLimit::streams);
  REQUIRE(names_of(explanation.staging) == std::vector<std::string>{"copy_streams_2x", "stage_in_during"});
  for (const auto& one : explanation.staging) {
    std::vector<Override> set;
    for (const auto& [key, value] : one.set) set.push_back({key, value});
    const auto scenario = load_scenario("loading/staging", set, data);
    const auto real = ways_in(scenario, "fluid", 2)->chosen(scenario.job.input.stage_in).time_of(1);
    CHECK(one.step_time.value() == Approx(real.value()).epsilon(0.02));
  }
}
