// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "sim/cost/channel_rate.hpp"
#include "sim/cost/chunk_fill.hpp"
#include "sim/cost/kernel_cost.hpp"
#include "sim/cost/nccl_model.hpp"
#include "tests/support/builders.hpp"

using namespace gradway;
using namespace gradway::test;

namespace {

/// 8 A100 on NVSwitch, as NCCL sees them: 12 NVLinks of 20 GB/s.
CommunicatorFacts a100_node() {
  CommunicatorFacts c;
  c.ranks = 8;
  c.nvlink = true;
  c.compute_capability = 80;
  c.node_bandwidth = 240_GBps;
  return c;
}

/// Racks of 72 GB200s with a NIC of 400 Gbit/s each.
CommunicatorFacts racks(int count) {
  CommunicatorFacts c;
  c.ranks = 72 * count;
  c.nodes = count;
  c.nvlink = c.nvswitch = c.nvls = true;
  c.compute_capability = 100;
  c.node_bandwidth = c.nvlink_bandwidth = 18 * nccl_nvlink_rate(100);
  c.multi_node_nvlink = count > 1;
  if (count > 1) c.net_bandwidth = 72 * 48_GBps;
  c.nics = count > 1 ? 72 : 1;
  return c;
}

/// PCIe Gen4 through host memory.
CommunicatorFacts shm_node() {
  CommunicatorFacts c;
  c.ranks = 8;
  c.transport = Transport::shm;
  c.compute_capability = 89;
  c.node_bandwidth = 24_GBps;
  return c;
}

CollectivePlan only(const char* algo, const char* proto, Bytes size, const CommunicatorFacts& c) {
  NcclSettings settings;
  settings.algo = algo;
  settings.proto = proto;
  return *choose_plan(CollectiveKind::all_reduce, size, c, settings);
}

}  // namespace

TEST_CASE(
    "a memory-bound kernel takes its traffic over the bandwidth it reaches, but never less than the shortest "
    "kernel") {
  const auto gpu = round_gpu();
  CHECK(memory_time(1_GB, gpu).value() == Approx(1e-3));
  CHECK(memory_time(1_GB, gpu, MemoryPattern::widen).value() == Approx(2e-3));
  CHECK(memory_time(1_B, gpu) == 1_us);
  CHECK(memory_time(1_B, gpu, MemoryPattern::stream, 5).value() == Approx(5e-6));
  CHECK(memory_time(1_GB, ideal_gpu()) == Seconds{});
}

TEST_CASE("optimizers move the bytes that their passes read and write") {
  CHECK(cost_of(Optimizer::sgd).traffic == 12_B);
  CHECK(cost_of(Optimizer::adamw_fused).traffic == 28_B);
  // Our H200 (4.8 TB/s, efficiency 88 %) takes 0.972, 6.854 and 2.440 ms for 306 M parameters. The model is
  // within 20 %.
  const auto model = [](Optimizer optimizer) {
    return cost_of(optimizer).traffic.value() * 306e6 / 4.224e12;
  };
  CHECK(model(Optimizer::sgd) == Approx(0.972e-3).epsilon(0.2));
  CHECK(model(Optimizer::adamw) == Approx(6.854e-3).epsilon(0.2));
  CHECK(model(Optimizer::adamw_fused) == Approx(2.440e-3).epsilon(0.2));
}

TEST_CASE("bus factors are those of nccl-tests") {
  CHECK(bus_factor(CollectiveKind::all_reduce, 8) == 1.75);
  CHECK(bus_factor(CollectiveKind::all_gather, 8) == 0.875);
  CHECK(bus_factor(CollectiveKind::reduce_scatter, 4) == 0.75);
  CHECK(bus_factor(CollectiveKind::broadcast, 8) == 1);
  CHECK(bus_factor(CollectiveKind::all_reduce, 1) == 0);
}

TEST_CASE("8 A100 on NVSwitch get 24 channels of 10 GB/s, 4 H200 get 24 of 15") {
  const auto a100 = search_channels(a100_node(), {});
  CHECK(a100.count == 24);
  CHECK(a100.each == 10_GBps);
  auto h200 = a100_node();
  h200.compute_capability = 90;
  h200.node_bandwidth =
      BytesPerSecond{370.8e9};  // 18 x 20.6; NCCL's graph XML on our node: 12 channels of 30, doubled
  const auto channels = search_channels(h200, {});
  CHECK(channels.count == 24);
  CHECK(channels.each == 15_GBps);
}

TEST_CASE("fewer channels have a lower rate, more channels share the same rate") {
  NcclSettings few;
  few.max_channels = 6;
  CHECK(search_channels(a100_node(), few).count == 6);
  CHECK(search_channels(a100_node(), few).each == 10_GBps);
  NcclSettings many;
  many.min_channels = 32;
  const auto finer = search_channels(a100_node(), many);
  CHECK(finer.count == 32);
  CHECK(finer.count * finer.each.value() == Approx(240e9));
}

TEST_CASE("Ring Simple on 8 A100: 240 GB/s of bus bandwidth after 8.4 + 14 x 3.4 us") {
  const auto plan = only("RING", "SIMPLE", 1_GiB, a100_node());
  CHECK(plan.latency.value() == Approx(56e-6));
  CHECK(plan.algorithm_bandwidth.value() * 1.75 == Approx(240e9));
  // 8 GiB: 62.7 ms by NCCL's model, 63.9 ms measured (superbenchmark, 235.3 GB/s of bus bandwidth)
  CHECK((plan.estimate(8 * 1_GiB)).value() == Approx(62.7e-3).epsilon(1e-3));
}

TEST_CASE("a PCIe box over host memory: 6.6 + 14 us in LL, 8.4 + 14 x 5.7 us in Simple, never LL128") {
  CHECK(only("RING", "LL", 1_KiB, shm_node()).latency.value() == Approx(20.6e-6));
  CHECK(only("RING", "SIMPLE", 1_KiB, shm_node()).latency.value() == Approx(88.2e-6));
  NcclSettings settings;
  settings.proto = "LL128";
  CHECK_FALSE(choose_plan(CollectiveKind::all_reduce, 1_MiB, shm_node(), settings).has_value());
}

TEST_CASE("small buffers use a plan of low latency, large ones a plan of high rate") {
  CHECK(choose_plan(CollectiveKind::all_reduce, 1_KiB, a100_node(), {})->protocol == Protocol::ll);
  const auto large = *choose_plan(CollectiveKind::all_reduce, 1_GiB, a100_node(), {});
  CHECK(large.algorithm == Algorithm::ring);
  CHECK(large.protocol == Protocol::simple);
  CHECK(choose_plan(CollectiveKind::all_reduce, 1_GiB, shm_node(), {})->protocol == Protocol::simple);
}

TEST_CASE("only all-reduce has a tree") {
  NcclSettings tree;
  tree.algo = "TREE";
  CHECK(choose_plan(CollectiveKind::all_reduce, 1_MiB, a100_node(), tree)->algorithm == Algorithm::tree);
  CHECK(choose_plan(CollectiveKind::broadcast, 1_MiB, a100_node(), tree)->algorithm == Algorithm::ring);
}

TEST_CASE("NCCL's estimate of a broadcast has only the first hop of the chain") {
  NcclSettings simple;
  simple.proto = "SIMPLE";
  const auto plan = *choose_plan(CollectiveKind::broadcast, 1_MiB, a100_node(), simple);
  CHECK(plan.latency.value() == Approx((8.4 + 7 * 3.4) * 1e-6));
}

TEST_CASE("NCCL's lists allow or exclude algorithms") {
  NcclSettings settings = nccl_settings({{"NCCL_ALGO", "^tree"}, {"NCCL_PROTO", "LL,Simple"}});
  CHECK(settings.allows(Algorithm::ring));
  CHECK_FALSE(settings.allows(Algorithm::tree));
  CHECK(settings.allows(Protocol::ll));
  CHECK_FALSE(settings.allows(Protocol::ll128));
  CHECK(settings.allows(Protocol::simple));
}

TEST_CASE("NCCL's path levels are given by name") {
  CHECK(nccl_settings({{"NCCL_P2P_LEVEL", "SYS"}}).p2p_level == PathType::sys);
  CHECK(nccl_settings({{"NCCL_P2P_LEVEL", "PIX"}}).p2p_level == PathType::pix);
  CHECK(nccl_settings({{"NCCL_P2P_DISABLE", "1"}}).p2p_disable);
  CHECK_FALSE(nccl_settings({{"NCCL_P2P_DISABLE", "0"}}).p2p_disable);
}

// github.com/NVIDIA/nccl issue 1801: three partitions of GB200s, ring unless NCCL_ALGO is set
TEST_CASE("large all-reduces over racks are rings unless NCCL_ALGO asks for others", "[nccl]") {
  const auto algorithm = [](Bytes size, const NcclSettings& settings) {
    return choose_plan(CollectiveKind::all_reduce, size, racks(3), settings)->algorithm;
  };
  CHECK(algorithm(1_GiB, {}) == Algorithm::ring);
  CHECK(algorithm(1_MiB, {}) == Algorithm::tree);
  NcclSettings tree;
  tree.algo = "NVLSTREE";
  CHECK(algorithm(1_GiB, tree) == Algorithm::nvls_tree);
  // Within a rack NVLS stays NCCL's choice.
  CHECK(choose_plan(CollectiveKind::all_reduce, 1_GiB, racks(1), {})->algorithm == Algorithm::nvls);
}

// calcCollChunking of NCCL: 24 channels, 32 heads and chunks of 128, 64, 32 and 16 KiB, three further steps
TEST_CASE("NVLS takes three further steps of its pipeline", "[nccl]") {
  const auto rack = racks(1);
  const auto fill = [](Bytes size, const CommunicatorFacts& communicator, Algorithm algorithm) {
    CollectivePlan plan;
    plan.algorithm = algorithm;
    return fill_of(plan, size, communicator, {});
  };
  const auto parts = [&](Bytes size) {
    return fill(size, rack, Algorithm::nvls).value() * nvls_reach(rack).value() / 3;
  };
  CHECK(parts(16_GiB) == Approx((96_MiB).value()));
  CHECK(parts(1_GiB) == Approx((48_MiB).value()));
  CHECK(parts(128_MiB) == Approx((24_MiB).value()));
  CHECK(parts(1_MiB) == Approx((1_MiB).value()));  // less than a chunk for each channel and head
  // Over two racks, NVLSTree sends each part up and down as well; switches that reduce are not modelled.
  const auto two = racks(2);
  const auto part = 24 * std::min(32, two.ranks / 2) * 128_KiB;
  CHECK(fill(16_GiB, two, Algorithm::nvls_tree).value() ==
        Approx((part / nvls_reach(two) * 3 + part / two.net_bandwidth * 2).value()));
  CHECK(fill(1_GiB, two, Algorithm::nvls) == Seconds{});
}

// calcCollChunking and runTreeSplit of NCCL: chunks of an eighth of 4 MiB a channel, passed on when complete
TEST_CASE("a tree between nodes passes whole chunks along the GPUs of a node", "[nccl]") {
  CommunicatorFacts nodes{.ranks = 16, .nodes = 2, .nvlink = true, .net_bandwidth = 50_GBps};
  CollectivePlan plan;
  plan.algorithm = Algorithm::tree;
  plan.channels = 8;
  const auto hop = channel_rate(true, Algorithm::tree, Protocol::simple);
  const auto full = (512_KiB / hop * 14 + 4_MiB / 50_GBps * 1).value();
  CHECK(fill_of(plan, 1_GiB, nodes, {}).value() == Approx(full));
  CHECK(fill_of(plan, 4_MiB, nodes, {}).value() == Approx(full));
  CHECK(fill_of(plan, 1_MiB, nodes, {}).value() == Approx(full / 4));
  NcclSettings small;
  small.buffer = 1_MiB;
  CHECK(fill_of(plan, 1_GiB, nodes, small).value() == Approx(full / 4));
  plan.protocol = Protocol::ll128;
  CHECK(fill_of(plan, 1_GiB, nodes, {}) == Seconds{});
}
