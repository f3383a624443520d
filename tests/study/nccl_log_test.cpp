// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <algorithm>
#include <sstream>

#include <fmt/format.h>

#include "sim/config/config.hpp"
#include "sim/study/nccl_log/check_nccl_log.hpp"

using namespace gradway;
using Catch::Matchers::Contains;

namespace {

const DataPath data{{GRADWAY_SOURCE_DIR}};

/// A job of one communicator on nodes of eight GPUs, whose ranks print all their connections.
struct Job {
  int nodes = 2;
  std::string inside = "P2P/CUMEM/read";
  std::string between = "NET/IB/0/GDRDMA";
  int channels = 16;
  int nvls_channels = 0;
  std::string variables{};  ///< Lines of NCCL.
};

NcclLog log_of(const Job& job) {
  const auto ranks = 8 * job.nodes;
  std::string text;
  for (int rank = 0; rank < ranks; ++rank) {
    const auto start = fmt::format("node-{}:{}:{} [{}] NCCL INFO ", rank / 8, rank, rank, rank % 8);
    const auto communicator =
        fmt::format("comm 0x1{} rank {} nranks {} cudaDev {} busId {}0 commId 0x7 - Init ", rank, rank, ranks,
                    rank % 8, rank % 8);
    const auto next = (rank + 1) % ranks;
    text += start + communicator + "START\n";
    if (rank == 0) text += job.variables.empty() ? "" : start + job.variables + "\n";
    text += start + fmt::format("Channel 00/0 : {}[{}] -> {}[{}] via {}\n", rank, rank % 8, next, next % 8,
                                next / 8 == rank / 8 ? job.inside : job.between);
    text += start + fmt::format(
                        "{} coll channels, 0 collnet channels, {} nvls channels, 16 p2p channels, 2 p2p "
                        "channels per peer\n",
                        job.channels, job.nvls_channels);
    text += start + communicator + "COMPLETE\n";
  }
  NcclLogReader reader;
  std::istringstream lines{text};
  reader.read(lines);
  return reader.finish("job.log");
}

CheckedCommunicator checked(const Job& job, const std::string& name) {
  const auto log = log_of(job);
  REQUIRE(log.communicators.size() == 1);
  Calibration calibration;
  const auto platform = load_platform(name, 8 * job.nodes, data, &calibration);
  return check_nccl_log(log, log.communicators[0], platform, calibration);
}

const NcclComparison& find(const CheckedCommunicator& checked, NcclAspect aspect) {
  const auto found = std::ranges::find(checked.comparisons, aspect, &NcclComparison::aspect);
  REQUIRE(found != checked.comparisons.end());
  return *found;
}

}  // namespace

TEST_CASE("a log in which NCCL does what is expected has no differences") {
  const auto result = checked({.nvls_channels = 16}, "dgx-h100");
  for (const auto& each : result.comparisons) {
    CAPTURE(static_cast<int>(each.aspect), each.expected, each.found);
    CHECK(each.agrees);
  }
  CHECK(result.comparisons.size() == 6);
  CHECK_FALSE(result.effect);
}

TEST_CASE("the variable that replaced P2P by SHM is named") {
  const auto result = checked({.nodes = 1,
                               .inside = "SHM/direct/direct",
                               .channels = 4,
                               .variables = "NCCL_P2P_DISABLE set by environment to 1."},
                              "dgx-h100");
  const auto& inside = find(result, NcclAspect::inside_nodes);
  CHECK_FALSE(inside.agrees);
  CHECK(inside.expected == "P2P");
  CHECK(inside.found == "SHM");
  CHECK(inside.pairs == 8);
  CHECK(inside.differing == 8);
  CHECK(inside.causes == std::vector<std::string>{"NCCL_P2P_DISABLE=1"});
  REQUIRE(result.effect);
  CHECK(result.effect->found > 3 * result.effect->expected);
}

TEST_CASE("SHM without a variable that explains it has no cause") {
  const auto result = checked({.nodes = 1, .inside = "SHM/direct/direct", .channels = 4}, "dgx-h100");
  CHECK_FALSE(find(result, NcclAspect::inside_nodes).agrees);
  CHECK(find(result, NcclAspect::inside_nodes).causes.empty());
}

TEST_CASE("SHM is expected between GPUs of different host bridges") {
  const auto result = checked({.nodes = 1, .inside = "SHM/direct/direct", .channels = 4}, "aws-g6e.48xlarge");
  CHECK(find(result, NcclAspect::inside_nodes).expected == "SHM");
  CHECK(find(result, NcclAspect::inside_nodes).agrees);
}

TEST_CASE("a missing GPUDirect RDMA is found, and the variable that disabled it") {
  const auto without = checked({.between = "NET/IB/0", .nvls_channels = 16}, "dgx-h100");
  CHECK_FALSE(find(without, NcclAspect::gpudirect).agrees);
  CHECK(find(without, NcclAspect::gpudirect).causes.empty());
  const auto disabled = checked({.between = "NET/IB/0",
                                 .nvls_channels = 16,
                                 .variables = "NCCL_NET_GDR_LEVEL set by environment to LOC"},
                                "dgx-h100");
  CHECK(find(disabled, NcclAspect::gpudirect).causes == std::vector<std::string>{"NCCL_NET_GDR_LEVEL=LOC"});
  REQUIRE(disabled.effect);
  CHECK(disabled.effect->found > disabled.effect->expected);
}

TEST_CASE("sockets instead of InfiniBand are found") {
  const auto result = checked({.between = "NET/Socket/0",
                               .nvls_channels = 16,
                               .variables = "NCCL_IB_DISABLE set by environment to 1."},
                              "dgx-h100");
  const auto& network = find(result, NcclAspect::network);
  CHECK_FALSE(network.agrees);
  CHECK(network.expected == "IB");
  CHECK(network.found == "Socket");
  CHECK(network.causes == std::vector<std::string>{"NCCL_IB_DISABLE=1"});
  const auto enabled = checked({.between = "NET/Socket/0",
                                .nvls_channels = 16,
                                .variables = "NCCL_IB_DISABLE set by environment to 0."},
                               "dgx-h100");
  CHECK(find(enabled, NcclAspect::network).causes.empty());
}

TEST_CASE("what follows from a missing network is not a cause of its own") {
  const auto result = checked({.between = "NET/Socket/0", .channels = 2, .nvls_channels = 16}, "dgx-h100");
  CHECK_FALSE(find(result, NcclAspect::network).follows_from);
  CHECK(find(result, NcclAspect::gpudirect).follows_from == NcclAspect::network);
  CHECK(find(result, NcclAspect::channels).follows_from == NcclAspect::network);
  CHECK(result.comparisons.back().follows_from);
  CHECK(find(checked({.between = "NET/IB/0"}, "dgx-h100"), NcclAspect::gpudirect).gpudirect_by ==
        GpudirectBy::nvidia_driver);
  CHECK(find(checked({.between = "NET/IB/0"}, "oam-8x-mi300x"), NcclAspect::gpudirect).gpudirect_by ==
        GpudirectBy::amd_driver);
  CHECK(find(checked({.between = "NET/AWS Libfabric/0"}, "aws-p5.48xlarge"), NcclAspect::gpudirect)
            .gpudirect_by == GpudirectBy::network_plugin);
}

TEST_CASE("NICs that NCCL does not use are counted, and the variable that left them out is named") {
  const auto result =
      checked({.channels = 2,
               .nvls_channels = 16,
               .variables = "NCCL_IB_HCA set to mlx5_0\nnode-0:0:0 [0] NCCL INFO NET/IB : Using "
                            "[0]mlx5_0:1/RoCE [RO]; OOB eth0:10.0.0.1<0>"},
              "dgx-h100");
  const auto& nics = find(result, NcclAspect::nics);
  CHECK_FALSE(nics.agrees);
  CHECK(nics.expected == "8");
  CHECK(nics.found == "1");
  CHECK(nics.causes == std::vector<std::string>{"NCCL_IB_HCA=mlx5_0"});
  CHECK(find(result, NcclAspect::channels).follows_from == NcclAspect::nics);
}

TEST_CASE("a variable that explains a part of a difference is named") {
  const auto result = checked({.nodes = 1,
                               .inside = "NET/IB/0",
                               .channels = 2,
                               .variables = "NCCL_P2P_DISABLE set by environment to 1."},
                              "dgx-h100");
  CHECK(find(result, NcclAspect::inside_nodes).found == "NET");
  CHECK(find(result, NcclAspect::inside_nodes).causes == std::vector<std::string>{"NCCL_P2P_DISABLE=1"});
}

TEST_CASE("NVLS that is off and few channels are found") {
  const auto result = checked({.nodes = 1,
                               .channels = 2,
                               .nvls_channels = 0,
                               .variables = "NCCL_MAX_NCHANNELS set by environment to 2."},
                              "dgx-h100");
  CHECK_FALSE(find(result, NcclAspect::nvls).agrees);
  CHECK(find(result, NcclAspect::nvls).causes.empty());
  CHECK_FALSE(find(result, NcclAspect::channels).agrees);
  CHECK(find(result, NcclAspect::channels).causes == std::vector<std::string>{"NCCL_MAX_NCHANNELS=2"});
}

TEST_CASE("a log with more ranks on a node than the platform has GPUs is refused") {
  const auto log = log_of({.nodes = 1});
  CHECK_THROWS_WITH(nodes_of(log.communicators[0], 4, "h200-4x"),
                    Contains("the log has 8 ranks on 1 node, but a node of 'h200-4x' has 4 GPUs"));
}
