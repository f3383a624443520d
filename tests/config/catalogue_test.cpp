// SPDX-License-Identifier: Apache-2.0
// What is shipped in platforms/: every file loads and says nothing that its machine cannot be.
#include <algorithm>
#include <filesystem>
#include <regex>

#include <catch2/catch.hpp>

#include "sim/config/config.hpp"
#include "sim/platform/networks.hpp"
#include "sim/platform/routes.hpp"
#include "tests/support/config_files.hpp"

using namespace gradway;
using Catch::Matchers::Contains;

namespace {

const std::string root = GRADWAY_SOURCE_DIR;

Platform one_node(const std::string& name) {
  return load_platform(name, 1, DataPath{{root}});
}

std::string label(const Platform& platform, std::size_t a, std::size_t b) {
  const Routes routes{platform};
  const auto type = routes.path_type(platform.gpus[a], platform.gpus[b]);
  return topo_label(type, routes.nvlinks(platform.gpus[a], platform.gpus[b]));
}

/// What the node's NICs carry, in bytes a second.
double leaves_the_node(const Platform& platform) {
  double sum = 0;
  for (const auto& link : platform.links) {
    if (platform.device(link.from).kind == DeviceKind::nic && link.kind == LinkKind::network)
      sum += platform.resources[link.resource.index()].capacity;
  }
  return sum;
}

std::vector<std::string> gpu_files() {
  std::vector<std::string> names;
  for (const auto& file : std::filesystem::directory_iterator{root + "/platforms/gpus"}) {
    if (file.path().extension() == ".yaml") names.push_back(file.path().stem().string());
  }
  return names;
}

Gpu gpu_of_file(const std::string& name) {
  const test::TemporaryFolder folder;
  folder.write("platforms/alone.yaml", "schema: 1\nsource: a test\ngpu: " + name + "\nnode: { gpus: 1 }\n");
  return load_platform("alone", 1, DataPath{{folder.path(), root}}).gpu_models.front();
}

double peak(const Gpu& gpu, Precision precision) {
  const auto rate = gpu.peak[static_cast<std::size_t>(precision)];
  return rate ? rate->value() : 0;
}

}  // namespace

TEST_CASE("every shipped platform loads, alone and for a job of several nodes", "[config][catalogue]") {
  const auto names = list_names(DataKind::platform, DataPath{{root}});
  CHECK(names.size() >= 40);
  for (const auto& name : names) {
    CAPTURE(name);
    const auto alone = one_node(name);
    CHECK(alone.source.size() > 20);
    const auto large = load_platform(name, 128, DataPath{{root}});
    if (alone.network && alone.nodes == 1) CHECK(large.gpus.size() == 128);
    if (!alone.price) continue;
    CHECK(alone.price->source.size() > 10);
    const auto an_hour = alone.price->per_node.value() / static_cast<double>(alone.gpus.size());
    CHECK(an_hour > 0.5);
    CHECK(an_hour < 30);  // 27.04: a GB200 of Azure
  }
}

TEST_CASE("every shipped GPU obeys the laws of its kind", "[config][catalogue]") {
  const auto names = gpu_files();
  CHECK(names.size() >= 15);
  for (const auto& name : names) {
    const auto gpu = gpu_of_file(name);
    if (gpu.ideal) continue;
    CAPTURE(name);
    CHECK_THAT(gpu.source, Contains(gpu.is_amd() ? "AMD" : "NVIDIA"));
    CHECK((gpu.is_amd() || gpu.compute_capability >= 70));
    CHECK(gpu.compute_capability <= 121);
    const auto fp32 = peak(gpu, Precision::fp32);
    const auto tf32 = peak(gpu, Precision::tf32);
    const auto fp16 = peak(gpu, Precision::fp16);
    CHECK(fp32 >= 8e12);
    CHECK(fp16 >= 1.9 * fp32);
    CHECK(fp16 <= 40 * fp32);
    const bool has_tf32 = gpu.compute_capability >= 80;
    CHECK((tf32 > 0) == has_tf32);
    CHECK(peak(gpu, Precision::bf16) == (has_tf32 || gpu.is_amd() ? fp16 : 0));
    CHECK((!gpu.is_amd() || gpu.attention_efficiency.has_value()));
    if (tf32 > 0) {
      CHECK(tf32 >= fp32);
      CHECK(fp16 / tf32 == Approx(2).epsilon(0.02));
    }
    for (std::size_t p = 0; p < precision_count; ++p) {
      CHECK(gpu.peak[p].has_value() == (gpu.matrix_efficiency[p] > 0));
      CHECK(gpu.matrix_efficiency[p] <= 1);
    }
    CHECK(gpu.memory_efficiency < 1);
    CHECK(gpu.widen_efficiency <= gpu.memory_efficiency);
    CHECK(gpu.memory_bandwidth >= 270_GBps);
    CHECK(gpu.memory_bandwidth <= 8000_GBps);
    CHECK(gpu.memory >= 10_GB);
    CHECK(gpu.memory <= 310_GB);
    std::smatch told;
    if (std::regex_search(name, told, std::regex{"-(\\d+)gb"}))
      CHECK((gpu.memory / Bytes{std::stod(told[1]) * 1e9}) == Approx(1).epsilon(0.08));
  }
}

TEST_CASE("the label between GPUs is that of `nvidia-smi topo -m`", "[config][catalogue]") {
  struct Row {
    const char* platform;
    const char* nearest;   ///< GPU 0 and GPU 1
    const char* farthest;  ///< GPU 0 and the node's last
  };
  const auto row = GENERATE(values<Row>({{"aws-p4d.24xlarge", "NV12", "NV12"},
                                         {"aws-p4de.24xlarge", "NV12", "NV12"},
                                         {"azure-nd96asr-v4", "NV12", "NV12"},
                                         {"azure-nd96amsr-a100-v4", "NV12", "NV12"},
                                         {"gcp-a2-highgpu-8g", "NV12", "NV12"},
                                         {"dgx-a100", "NV12", "NV12"},
                                         {"aws-p5.48xlarge", "NV18", "NV18"},
                                         {"aws-p5e.48xlarge", "NV18", "NV18"},
                                         {"aws-p5en.48xlarge", "NV18", "NV18"},
                                         {"aws-p6-b200.48xlarge", "NV18", "NV18"},
                                         {"aws-p6-b300.48xlarge", "NV18", "NV18"},
                                         {"aws-p6e-gb200.36xlarge", "NV18", "NV18"},
                                         {"azure-nd96isr-h100-v5", "NV18", "NV18"},
                                         {"azure-nd96isr-h200-v5", "NV18", "NV18"},
                                         {"azure-nd-gb200-v6", "NV18", "NV18"},
                                         {"gcp-a3-highgpu-8g", "NV18", "NV18"},
                                         {"gcp-a3-megagpu-8g", "NV18", "NV18"},
                                         {"gcp-a3-ultragpu-8g", "NV18", "NV18"},
                                         {"dgx-h100", "NV18", "NV18"},
                                         {"dgx-h200", "NV18", "NV18"},
                                         {"dgx-b200", "NV18", "NV18"},
                                         {"dgx-b300", "NV18", "NV18"},
                                         {"nvidia-gb300-nvl72", "NV18", "NV18"},
                                         {"roce-8x-b200", "NV18", "NV18"},
                                         {"nvidia-gb200-nvl72", "NV18", "NV18"},
                                         {"aws-g5.48xlarge", "NODE", "SYS"},
                                         {"aws-g6.48xlarge", "NODE", "SYS"},
                                         {"aws-g6e.12xlarge", "NODE", "NODE"},
                                         {"aws-g6e.48xlarge", "NODE", "SYS"},
                                         {"aws-g7e.48xlarge", "PIX", "SYS"},
                                         {"gcp-g2-standard-96", "NODE", "SYS"},
                                         {"workstation-4x-rtx-4090", "NODE", "NODE"},
                                         {"workstation-4x-rtx-5090", "NODE", "NODE"},
                                         {"hgx-8x-h800", "NV8", "NV8"},
                                         {"hgx-8x-a800", "NV8", "NV8"},
                                         {"hgx-8x-h20", "NV18", "NV18"},
                                         {"pcie-4x-h100-nvl", "NV12", "SYS"},
                                         {"azure-nc96ads-a100-v4", "NV12", "SYS"},
                                         {"aws-p3dn.24xlarge", "NV1", "SYS"},
                                         {"azure-nd40rs-v2", "NV1", "SYS"}}));
  CAPTURE(row.platform);
  const auto platform = one_node(row.platform);
  CHECK(label(platform, 0, 1) == row.nearest);
  CHECK(label(platform, 0, platform.gpus.size() - 1) == row.farthest);
}

TEST_CASE("each GPU of a hybrid cube mesh has six NVLinks, to four others", "[config][catalogue]") {
  const auto platform = one_node(GENERATE("aws-p3dn.24xlarge", "azure-nd40rs-v2"));
  const Routes routes{platform};
  for (const auto gpu : platform.gpus) {
    int links = 0;
    int neighbours = 0;
    for (const auto other : platform.gpus) {
      if (other == gpu) continue;
      links += routes.nvlinks(gpu, other);
      neighbours += routes.nvlinks(gpu, other) > 0 ? 1 : 0;
    }
    CHECK(links == 6);
    CHECK(neighbours == 4);
  }
}

TEST_CASE("trays of one rack share NVSwitches, and racks do not", "[config][catalogue]") {
  const auto platform = load_platform("nvidia-gb200-nvl72", 144, DataPath{{root}});
  REQUIRE(platform.gpus.size() == 144);
  CHECK(label(platform, 0, 71) == "NV18");
  CHECK(label(platform, 0, 72) == "NET");
}

TEST_CASE("NICs carry what the cloud sells, less the overhead of their network", "[config][catalogue]") {
  struct Row {
    const char* platform;
    double gigabits;
    NetworkKind kind;
  };
  using enum NetworkKind;
  const auto row = GENERATE(values<Row>({{"aws-g5.48xlarge", 100, efa},
                                         {"aws-g6.48xlarge", 100, efa},
                                         {"aws-g6e.12xlarge", 100, efa},
                                         {"aws-g6e.48xlarge", 400, efa},
                                         {"aws-g7e.48xlarge", 1600, efa},
                                         {"aws-p3dn.24xlarge", 100, efa},
                                         {"aws-p4d.24xlarge", 400, efa},
                                         {"aws-p4de.24xlarge", 400, efa},
                                         {"aws-p5.48xlarge", 3200, efa},
                                         {"aws-p5e.48xlarge", 3200, efa},
                                         {"aws-p5en.48xlarge", 3200, efa},
                                         {"aws-p6-b200.48xlarge", 3200, efa},
                                         {"aws-p6-b300.48xlarge", 6400, efa},
                                         {"aws-p6e-gb200.36xlarge", 3200, efa},
                                         {"azure-nd96asr-v4", 1600, infiniband},
                                         {"azure-nd96amsr-a100-v4", 1600, infiniband},
                                         {"azure-nd96isr-h100-v5", 3200, infiniband},
                                         {"azure-nd96isr-h200-v5", 3200, infiniband},
                                         {"azure-nd40rs-v2", 100, infiniband},
                                         {"azure-nd-gb200-v6", 1600, infiniband},
                                         {"gcp-a2-highgpu-8g", 100, tcp},
                                         {"gcp-a3-highgpu-8g", 800, tcpx},
                                         {"gcp-a3-megagpu-8g", 1600, tcpxo},
                                         {"gcp-a3-ultragpu-8g", 3200, roce},
                                         {"dgx-a100", 1600, infiniband},
                                         {"dgx-h100", 3200, infiniband},
                                         {"nvidia-gb200-nvl72", 1600, infiniband}}));
  CAPTURE(row.platform);
  const auto platform = one_node(row.platform);
  REQUIRE(platform.network);
  CHECK(platform.network->kind == row.kind);
  const auto share = leaves_the_node(platform) * 8 / (row.gigabits * 1e9);
  CHECK(share <= 0.98 + 1e-9);
  CHECK(share >= 0.86 - 1e-9);
}

TEST_CASE("NICs with GPUDirect share a switch with their GPU", "[config][catalogue]") {
  // Elsewhere NCCL would not use it. Beside a Grace CPU they hang on it, as NCCL's later releases know.
  for (const auto& name : list_names(DataKind::platform, DataPath{{root}})) {
    const auto platform = one_node(name);
    const bool has_gpudirect = platform.network && platform.network->gpudirect;
    const bool one_nic_a_gpu = has_gpudirect && static_cast<std::size_t>(std::ranges::count(
                                                    platform.devices, DeviceKind::nic, &Device::kind)) >=
                                                    platform.gpus.size();  // of all its nodes
    const bool has_grace = std::ranges::count(platform.links, LinkKind::c2c, &Link::kind) > 0 ||
                           name.find("gb200") != std::string::npos;
    if (!one_nic_a_gpu || has_grace) continue;
    CAPTURE(name);
    const Routes routes{platform};
    for (const auto gpu : routes.on_node(0, DeviceKind::gpu)) {
      const auto near = [&](DeviceId nic) { return routes.path_type(gpu, nic) == PathType::pix; };
      CHECK(std::ranges::any_of(routes.on_node(0, DeviceKind::nic), near));
    }
  }
}

TEST_CASE("what a GPU costs an hour at AWS", "[config][catalogue]") {
  using Row = std::pair<const char*, double>;  // USD, rounded, of the list of 2026-07-20
  const auto [name, usd] = GENERATE(values<Row>({{"aws-p4d.24xlarge", 2.745},
                                                 {"aws-p4de.24xlarge", 3.431},
                                                 {"aws-p5.48xlarge", 6.88},
                                                 {"aws-p5en.48xlarge", 7.912},
                                                 {"aws-p6-b200.48xlarge", 14.242},
                                                 {"aws-p6-b300.48xlarge", 17.802},
                                                 {"aws-g6e.48xlarge", 3.766},
                                                 {"aws-g6.48xlarge", 1.669},
                                                 {"aws-g5.48xlarge", 2.036},
                                                 {"aws-p3dn.24xlarge", 3.902},
                                                 {"aws-g7e.48xlarge", 4.143}}));
  const auto platform = one_node(name);
  CAPTURE(name);
  REQUIRE(platform.price);
  CHECK(platform.price->region == "us-east-1");
  CHECK(platform.price->date == "2026-07-20");
  CHECK(platform.price->per_node.value() / 8 == Approx(usd).epsilon(0.0005));
}

TEST_CASE("every shipped storage tier has a source, rates in order and prices as of a day",
          "[config][catalogue]") {
  const auto names = list_names(DataKind::storage, DataPath{{root}});
  CHECK(names.size() >= 33);
  for (const auto& name : names) {
    CAPTURE(name);
    const auto tier = load_storage(name, DataPath{{root}});
    CHECK(tier.source.size() > 40);
    CHECK(tier.per_node.value_or(tier.read) <= tier.read);
    if (tier.per_connection) CHECK(*tier.per_connection <= tier.per_node.value_or(tier.read));
    CHECK(tier.first_byte > Seconds{});
    CHECK(tier.first_byte < 100_ms);
    CHECK(tier.price.usd_per_gb_month.has_value() == tier.price.is_known());
  }
}

TEST_CASE("storage tiers agree with the publications that they name", "[config][catalogue]") {
  const auto load = [](const std::string& name) { return load_storage(name, DataPath{{root}}); };
  // A tier of Azure Managed Lustre is its rate per TiB times its size.
  const auto [name, rate, size] = GENERATE(table<std::string, double, double>({
      {"azure-managed-lustre-40-48tib", 40e6, 48},
      {"azure-managed-lustre-125-16tib", 125e6, 16},
      {"azure-managed-lustre-250-8tib", 250e6, 8},
      {"azure-managed-lustre-500-4tib", 500e6, 4},
  }));
  CHECK(load(name).read.value() == Approx(rate * size));

  // Blobfuse2 reads a block of 16 MiB of a standard and of a premium account in 145 and 75 ms.
  const auto block = [&](const std::string& tier) {
    return load(tier).first_byte.value() + 16 * 1048576 / load(tier).per_connection.value().value();
  };
  CHECK(block("azure-blob-standard") == Approx(0.145).epsilon(0.01));
  CHECK(block("azure-blob-premium") == Approx(0.075).epsilon(0.01));

  // Bytes that leave the region are paid on top of what the bucket costs in its own.
  CHECK(load("s3-other-region").price.usd_per_gb_out == 0.02);
  CHECK(load("s3-over-internet").price.usd_per_gb_out == 0.09);
  CHECK(load("s3-other-region").first_byte.value() == Approx(load("s3-standard").first_byte.value() + 0.071));

  // 1,024 threads read 4 KiB 3.5 million times a second: Little's law gives the time of a request.
  CHECK(load("beegfs-nvme").first_byte.value() == Approx(1024 / 3.5e6).epsilon(0.02));
}

TEST_CASE("every shipped dataset has a source, and pictures cost as their pixels do", "[config][catalogue]") {
  const auto names = list_names(DataKind::dataset, DataPath{{root}});
  CHECK(names.size() >= 9);
  for (const auto& name : names) {
    CAPTURE(name);
    CHECK(load_dataset(name, DataPath{{root}}).source.size() > 40);
  }
  const auto load = [](const std::string& name) { return load_dataset(name, DataPath{{root}}); };
  CHECK((load("imagenet-1k").sample_size * load("imagenet-1k").samples).value() ==
        Approx(147e9).epsilon(0.01));
  CHECK((load("cosmoflow").sample_size * load("cosmoflow").samples).value() == Approx(1.48e12).epsilon(0.01));

  // What an item takes besides decoding: 0.59 ms of a file, 0.40 ms of a tar; decoding goes by pixels.
  const auto decode = [&](const std::string& name, double besides) {
    return load(name).cpu.decode.value() * 1e3 - besides;
  };
  const auto of_imagenet = decode("imagenet-1k", 0.59) / (500 * 375);
  CHECK(decode("laion-400m", 0.40) / (256 * 256) == Approx(of_imagenet).epsilon(0.01));
}
