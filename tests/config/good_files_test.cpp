// SPDX-License-Identifier: Apache-2.0
// Files in tests/config/good use every key once; what comes out is written here by hand.
#include <catch2/catch.hpp>

#include "sim/config/config.hpp"
#include "sim/scenario/shared_by_loaders.hpp"
#include "tests/support/config_files.hpp"

using namespace gradway;

namespace {

const std::string good = GRADWAY_SOURCE_DIR "/tests/config/good";

std::size_t index_of(Precision precision) {
  return static_cast<std::size_t>(precision);
}

}  // namespace

TEST_CASE("a scenario with every key is read to its values", "[config]") {
  const auto scenario = load_scenario(good + "/full.yaml", {}, {});
  const auto& job = scenario.job;

  CHECK(scenario.name == "full");
  CHECK(scenario.model.name == "picture");
  CHECK(scenario.platform.name == "lab");
  CHECK(job.gpus == 4);
  CHECK(job.batch_per_gpu == 32);
  CHECK(job.precision == Precision::bf16);
  CHECK(job.accumulate == 2);
  CHECK(std::holds_alternative<Ddp>(job.strategy));
  CHECK(std::get<Ddp>(job.strategy).bucket_cap == 25_MiB);
  CHECK(std::get<Ddp>(job.strategy).static_graph);
  CHECK(std::get<Ddp>(job.strategy).gradient_as_bucket_view);
  CHECK(std::get<Ddp>(job.strategy).comm_hook == CommHook::powersgd);
  CHECK(std::get<Ddp>(job.strategy).powersgd_rank == 2);
  CHECK(job.optimizer == Optimizer::adamw);
  CHECK(job.nccl == std::map<std::string, std::string>{
                        {"NCCL_ALGO", "^Tree"}, {"NCCL_P2P_DISABLE", "1"}, {"NCCL_P2P_LEVEL", "PHB"}});
  CHECK_FALSE(job.input.pin_memory);
  CHECK(job.input.loader_workers == 0);
  CHECK(job.input.background_copy == 100_MB);
  CHECK(job.input.background_start == CopyStart::step);
  CHECK(job.input.dataset->delivered == 600000_B);
  CHECK(stored_samples(job.input).hits == Approx(0.5));
  CHECK(job.steps == 3);
}

TEST_CASE("keys that a scenario leaves out get the defaults of the design", "[config]") {
  const auto job = load_scenario(good + "/small.yaml", {}, {}).job;

  CHECK(job.precision == Precision::fp32);
  CHECK(job.accumulate == 1);
  CHECK(std::holds_alternative<Ddp>(job.strategy));
  CHECK_FALSE(std::get<Ddp>(job.strategy).bucket_cap.has_value());
  CHECK_FALSE(std::get<Ddp>(job.strategy).static_graph);
  CHECK_FALSE(std::get<Ddp>(job.strategy).gradient_as_bucket_view);
  CHECK(std::get<Ddp>(job.strategy).comm_hook == CommHook::none);
  CHECK(std::get<Ddp>(job.strategy).powersgd_rank == 1);
  CHECK(job.optimizer == Optimizer::sgd);
  CHECK(job.nccl.empty());
  CHECK(job.input.pin_memory);
  CHECK(job.input.loader_workers == 8);
  CHECK(job.input.background_copy == Bytes{});
  CHECK_FALSE(job.input.prefetch);
  CHECK(job.input.background_start == CopyStart::ahead);
  CHECK(job.steps == 1);
}

TEST_CASE("a platform with every key is read to its values", "[config]") {
  Calibration calibration;
  const auto platform = load_platform("lab", 1, DataPath{{good}}, &calibration);

  CHECK(platform.nodes == 2);
  CHECK(platform.gpus.size() == 4);
  CHECK(platform.collectives == CollectiveRules::ideal);
  CHECK(platform.amd_cpu);
  CHECK(platform.pageable_copy_rate == BytesPerSecond{12e9});
  REQUIRE(platform.price);
  CHECK(platform.price->per_node == UsdPerHour{30.13});
  CHECK(platform.price->region == "us-east-1");
  CHECK(platform.price->date == "2026-07-20");
  CHECK(platform.price->source == "a list of prices");
  CHECK(platform.source == "made up, with a ',' and a \"quote\" in it");
  CHECK(calibration.name == "lab");
}

TEST_CASE("the links of a platform keep direction, rate, latency and count", "[config]") {
  const auto platform = load_platform("lab", 1, DataPath{{good}});
  const auto find = [&](const std::string& from, const std::string& to) {
    for (const auto& link : platform.links) {
      if (platform.name_of(link.from) == from && platform.name_of(link.to) == to) return link;
    }
    throw std::runtime_error{"no link " + from + " " + to};
  };
  const auto rate = [&](const Link& link) { return platform.resources[link.resource.index()].capacity; };

  CHECK(rate(find("node0.cpu0", "node0.gpu1")) == 26e9);
  CHECK(rate(find("node0.gpu1", "node0.cpu0")) == 25e9);
  CHECK(find("node0.cpu0", "node0.gpu1").latency.value() == Approx(500e-9));
  CHECK(rate(find("node1.gpu0", "node1.switch")) == 300e9);
  CHECK(find("node1.gpu0", "node1.switch").count == 12);
  CHECK(find("node1.gpu0", "node1.switch").latency == Seconds{0});
  CHECK(rate(find("leaf1", "spine1")) == 6e9);
  CHECK(rate(find("node1.nic0", "leaf1")) == 12.5e9);
}

TEST_CASE("a generated platform has as many GPUs as ranks", "[config]") {
  const auto platform = load_platform("leaves", 6, DataPath{{good}});

  CHECK(platform.gpus.size() == 6);
  CHECK(platform.devices.size() == 6 + 3 + 3);  // GPUs, leaves, spines
  CHECK(platform.gpu_models.front().ideal);
}

TEST_CASE("a GPU is read to its values", "[config]") {
  const auto gpu = load_platform("lab", 1, DataPath{{good}}).gpu_models.front();

  CHECK(gpu.name == "fast");
  CHECK(gpu.compute_capability == 89);
  CHECK(gpu.memory == 24_GiB);
  CHECK(gpu.memory_bandwidth == 864_GBps);
  CHECK(gpu.peak[index_of(Precision::fp32)]->value() == Approx(91.6e12));
  CHECK(gpu.peak[index_of(Precision::bf16)]->value() == Approx(362e12));
  CHECK_FALSE(gpu.peak[index_of(Precision::tf32)].has_value());
  CHECK_FALSE(gpu.peak[index_of(Precision::fp16)].has_value());
  CHECK(gpu.matrix_efficiency[index_of(Precision::fp32)] == 1);
  CHECK(gpu.matrix_efficiency[index_of(Precision::bf16)] == 0.78);
  CHECK(gpu.memory_efficiency == 0.88);
  CHECK(gpu.widen_efficiency == 0.44);
  CHECK(gpu.kernel_latency == Seconds{0});
  CHECK(gpu.launch_cost.value() == Approx(5.3e-6));
}

TEST_CASE("a calibration is read to its values", "[config]") {
  const auto calibration = load_scenario(good + "/full.yaml", {}, {}).calibration;

  CHECK(calibration.name == "lab");
  CHECK(calibration.date == "2026-01-24");
  REQUIRE(calibration.collectives.size() == 1);
  CHECK(calibration.collectives[0].kind == CollectiveKind::all_reduce);
  CHECK(calibration.collectives[0].transport == Transport::shm);
  CHECK(calibration.collectives[0].ranks == 8);
  CHECK(calibration.collectives[0].size.value() == Approx(1226.14e6));
  CHECK(calibration.collectives[0].time.value() == Approx(0.587));
  REQUIRE(calibration.contention.size() == 3);
  CHECK(calibration.contention[0].transport == Transport::shm);
  CHECK(calibration.contention[0].kernel_slowdown == 1.2);
  CHECK(calibration.contention[0].collective_slowdown == 1.7);
  CHECK(calibration.contention[0].ranks == 0);
  CHECK(calibration.contention[0].channels == 0);
  CHECK(calibration.contention[1].transport == Transport::p2p);
  CHECK(calibration.contention[1].ranks == 4);
  CHECK(calibration.contention[1].channels == 24);
}

TEST_CASE("a table of a calibration is read to its values", "[config]") {
  const auto tables = load_calibration("lab", DataPath{{good}}).tables;

  REQUIRE(tables.size() == 1);
  const auto& table = tables[0];
  CHECK(table.transport == Transport::net);
  CHECK(table.kind == CollectiveKind::reduce_scatter);
  CHECK(table.algorithm == Algorithm::tree);
  CHECK(table.protocol == Protocol::simple);
  CHECK(table.ranks == 3);
  CHECK(table.samples == 5);
  CHECK(table.predicted_from == "copies");
  CHECK(table.latency.value() == Approx(20e-6));
  CHECK(table.bandwidth == 10_GBps);
  CHECK(table.residual->median == Approx(0.005));
  CHECK(table.residual->worst == Approx(0.02));
  CHECK(table.residual_with_outliers->worst == Approx(3));
  CHECK(table.interpolation->median == Approx(0.04));
  CHECK(table.interpolation->worst == Approx(0.125));
  REQUIRE(table.points.size() == 3);
  CHECK(table.points[0].size == 1_KiB);
  CHECK(table.points[1].time.value() == Approx(21.5e-6));
  CHECK(table.points[2].size == 1_MB);
  CHECK(table.points[2].time.value() == Approx(100e-6));
  REQUIRE(table.outliers.size() == 1);
  CHECK(table.outliers[0].time.value() == Approx(1e-3));
}

TEST_CASE("links, kernels and samples of a calibration are read to their values", "[config]") {
  const auto calibration = load_calibration("lab", DataPath{{good}});

  CHECK(calibration.name == "lab");
  REQUIRE(calibration.samples);
  CHECK(calibration.samples->digest == "0123456789abcdef");
  CHECK(calibration.samples->files == std::vector<std::string>{"a.json", "b.json"});
  REQUIRE(calibration.links.size() == 3);
  CHECK(calibration.links[0].role == LinkRole::host_memory);
  CHECK(calibration.links[0].gpus == 4);
  CHECK(calibration.links[0].bandwidth == 200_GBps);
  CHECK(calibration.links[0].latency == Seconds{});
  CHECK(calibration.links[1].role == LinkRole::pageable_to_gpu);
  CHECK(calibration.links[1].latency.value() == Approx(4e-6));
  CHECK(calibration.links[1].smallest == 4_KiB);
  CHECK(calibration.links[1].source == "copies");
  CHECK(calibration.links[2].least == 18_GBps);
  CHECK(calibration.links[2].most == 21_GBps);
  CHECK(calibration.links[2].fitted.samples == 7);
  CHECK(calibration.links[2].fitted.residual->worst == Approx(0.08));
  const auto& kernels = calibration.kernels;
  REQUIRE(kernels.matrix.size() == 3);
  CHECK(kernels.matrix[0].arithmetic == Arithmetic::bf16);
  CHECK(kernels.matrix[0].shape == ProductShape::large);
  CHECK(kernels.matrix[0].rate.value() == Approx(700e12));
  CHECK(kernels.matrix[2].arithmetic == Arithmetic::fp8);
  CHECK(*kernels.matrix[2].of_peak == Approx(0.05));
  CHECK(kernels.matrix[2].fitted.residual->median == Approx(0.01));
  REQUIRE(kernels.optimizers.size() == 1);
  CHECK(kernels.optimizers[0].optimizer == Optimizer::adamw_fused);
  CHECK(kernels.optimizers[0].floor.value() == Approx(500e-6));
  REQUIRE(kernels.attention.size() == 1);
  CHECK(kernels.attention[0].causal);
  CHECK(kernels.smallest_kernel->value() == Approx(4e-6));
  // Older files have one rate of all memory-bound kernels, one of casts that widen and one cost of launches.
  REQUIRE(kernels.memory.size() == 3);
  CHECK(kernels.memory[0].kernel == MemoryKernel::add_fp32);
  CHECK(kernels.memory[1].bandwidth.value() == Approx(4e12));
  CHECK(kernels.memory[2].kernel == MemoryKernel::cast_bf16_fp32);
  REQUIRE(kernels.launches.size() == 2);
  CHECK(kernels.launches[0].what == LaunchCost::kernel_gap);
  CHECK(kernels.launches[1].time.value() == Approx(5e-6));
}

TEST_CASE(
    "what a calibration says of its own error is read to its values, and sections of earlier versions are "
    "ignored",
    "[config]") {
  const auto calibration = load_calibration("lab", DataPath{{good}});
  REQUIRE(calibration.holdout_errors.size() == 1);
  CHECK(calibration.holdout_errors[0].what == "copies");
  CHECK(calibration.holdout_errors[0].rows == 7);
  CHECK(calibration.holdout_errors[0].error.worst == Approx(0.12));
  REQUIRE(calibration.contention.size() == 3);  // two of them differ in channels only
  CHECK(calibration.tables[0].nodes == 3);
  CHECK(calibration.tables[0].spread->worst == Approx(0.05));
}

TEST_CASE("the input of a sample follows from the kind of model", "[config]") {
  const DataPath data{{good}};

  CHECK(load_model("picture", data).input_per_sample == Bytes{3 * 32 * 32 * 4});
  CHECK(load_model("words", data).input_per_sample == Bytes{(32 + 1) * 8});
  CHECK(load_model("convolutions", data).input_per_sample == Bytes{3 * 32 * 16 * 4});
  CHECK(load_model("timed", data).input_per_sample == 2_MB);
}

TEST_CASE("a decoder has the parameters of its shape", "[config]") {
  // h = 16, f = 64, v = 100, s = 32. Block: 2 norms of 2h, qkv 3h*h + 3h, projection h*h + h, mlp h*f + f +
  // f*h + h.
  const int block = 2 * 2 * 16 + 3 * 16 * 16 + 3 * 16 + 16 * 16 + 16 + 16 * 64 + 64 + 64 * 16 + 16;
  const int around = 100 * 16 + 32 * 16 + 2 * 16;  // embeddings and the last norm
  const DataPath data{{good}};

  CHECK(load_model("words", data).parameter_count() == around + block + 16 * 100);
  CHECK(load_model("words-tied", data).parameter_count() ==
        around + 2 * block);  // based_on: two layers, tied
}

TEST_CASE("a convolutional network has the parameters of its layers", "[config]") {
  // 32 x 16 -> conv stride 2: 16 x 8 -> pool 2: 8 x 4 -> whole pool: 1 x 1, 8 channels.
  CHECK(load_model("convolutions", DataPath{{good}}).parameter_count() ==
        8 * 3 * 3 * 3 + 2 * 8 + 8 * 10 + 10);
}

TEST_CASE("an encoder has the parameters of its shape", "[config]") {
  const auto model = load_model("reader", DataPath{{good}});

  const int block = 4 * (16 * 16 + 16) + 16 * 64 + 64 + 64 * 16 + 16 + 2 * 2 * 16;
  CHECK(model.parameter_count() == (100 + 40 + 3) * 16 + 2 * 16 + block + 16 * 5 + 5);
  CHECK(model.input_per_sample == Bytes{3 * 32 * 8});
}

TEST_CASE("a residual network has the parameters of its shape", "[config]") {
  // A block of width w = planes and o = 4 planes outputs, from i inputs: convolutions and BatchNorms; all
  // four change the channels.
  const auto block = [](int i, int w) {
    const int o = 4 * w;
    return i * w + 9 * w * w / 2 + w * o + i * o + 2 * (w + w + o + o);
  };
  const auto model = load_model("shortcuts", DataPath{{good}});

  CHECK(model.parameter_count() == 3 * 49 * 64 + 128 + block(64, 64) + block(256, 128) + block(512, 256) +
                                       block(1024, 512) + 2048 * 10 + 10);
  CHECK(model.input_per_sample == Bytes{3 * 64 * 64 * 4});
}

TEST_CASE("a synthetic model keeps its times", "[config]") {
  const auto model = load_model("timed", DataPath{{good}});

  REQUIRE(model.layers.size() == 25);
  CHECK(model.layers[23].forward.time->value() == Approx(1e-3));
  CHECK(model.layers[23].backward.time->value() == Approx(2e-3));
  CHECK(model.layers[23].parameter_count() == 12'500'000);
  CHECK(model.layers[24].backward.time->value() == Approx(5e-6));
  CHECK(model.optimizer_time->value() == Approx(5e-3));
}

TEST_CASE("anchors are read as times of a step", "[config]") {
  const auto anchors = load_model("picture", DataPath{{good}}).anchors;

  REQUIRE(anchors.size() == 2);
  CHECK(anchors[0].gpu == "fast");
  CHECK(anchors[0].precision == Precision::bf16);
  CHECK(anchors[0].batch == 32);
  CHECK(anchors[0].optimizer == Optimizer::adamw_fused);
  CHECK(anchors[0].step_time == Seconds{0.125});
  CHECK(anchors[0].source == "a measurement");
  CHECK(anchors[1].step_time.value() == Approx(0.1122));
}

TEST_CASE("a scenario's anchor takes the place of the model's for its GPU and precision", "[config]") {
  const auto scenario = load_scenario(good + "/anchored.yaml", {}, {});

  REQUIRE(scenario.model.anchors.size() == 2);
  CHECK(scenario.model.anchors[0].precision == Precision::fp32);
  CHECK(scenario.model.anchors[1].source == "another measurement");
  CHECK(scenario.model.anchors[1].step_time == Seconds{0.05});
  CHECK(scenario.model.anchors[1].batch == 16);
  CHECK(scenario.warnings.empty());
}

TEST_CASE("a scenario's anchor that its job cannot use is a warning", "[config]") {
  const auto scenario = load_scenario(good + "/anchored.yaml", {{"job.precision", "fp32"}}, {});

  REQUIRE(scenario.warnings.size() == 1);
  CHECK(scenario.warnings[0].code == "unused-anchor");
  CHECK(scenario.warnings[0].sentence ==
        "the scenario's anchor, of fast in bf16, is not used: the job runs on fast in fp32");
}

TEST_CASE("a scenario's anchor is refused for a profile of the same GPU", "[config]") {
  const auto message = test::message_of([] {
    return load_scenario(good + "/anchored.yaml", {{"model", "measured"}}, {});
  });

  CHECK_THAT(
      message,
      Catch::Contains("an anchor on fast has no effect: the profile 'measured' was recorded on that GPU"));
}

TEST_CASE("cases are rows of overrides with a measured time", "[config]") {
  const auto cases = load_cases(good + "/cases.yaml", {});

  CHECK(cases.source == "made up");
  REQUIRE(cases.cases.size() == 2);
  CHECK(cases.cases[0].name == "a");
  CHECK(cases.cases[0].measured.value() == Approx(0.09193));
  CHECK(cases.cases[0].where.line == 5);
  CHECK(cases.cases[1].measured == Seconds{0.125});
  CHECK(cases.cases[1].set.empty());
  const auto first = load_scenario(cases.cases[0].scenario_file, cases.cases[0].set, {});
  CHECK(first.name == "full");
  CHECK(first.job.gpus == 2);
  CHECK(std::get<Ddp>(first.job.strategy).bucket_cap == 100_MiB);
  CHECK(first.job.nccl == std::map<std::string, std::string>{{"NCCL_ALGO", "Ring,Tree"}});
  CHECK(load_scenario(cases.cases[1].scenario_file, cases.cases[1].set, {}).name == "small");
}
