// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <fmt/format.h>

#include "observe/nccl_log/check_nccl_log.hpp"
#include "sim/config/config.hpp"

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

std::string text_of(const Job& job) {
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
  return text;
}

/// Of several files.
NcclLog read(const std::vector<std::string>& texts) {
  NcclLogReader reader;
  for (const auto& text : texts) {
    std::istringstream lines{text};
    reader.read(lines);
  }
  return reader.finish("job.log");
}

CheckedCommunicator checked(const Job& job, const std::string& name) {
  const auto log = read({text_of(job)});
  REQUIRE(log.communicators.size() == 1);
  return check_nccl_log(log, name, data)[0];
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
  CHECK_THROWS_WITH(
      checked({.nodes = 1}, "h200-4x"),
      Contains("--platform: error: the log has 8 ranks on a node, but a node of 'h200-4x' has 4 GPUs") &&
          Contains("choose the platform that the job ran on"));
}

TEST_CASE("a log of more nodes than the platform has is refused") {
  CHECK_THROWS_WITH(checked({.nodes = 2}, "hgx-8x-h100"),
                    Contains("the log has 2 nodes, but 'hgx-8x-h100' has 1 node"));
  CHECK_THROWS_WITH(checked({.nodes = 8}, "two-sites-8x-h100"),
                    Contains("the log has 8 nodes, but 'two-sites-8x-h100' has 4 nodes"));
  // A single line does not say how many nodes there are.
  const auto* line = "a:1:2 [0] NCCL INFO Channel 00/0 : 15[7] -> 0[0] [receive] via NET/IB/0\n";
  CHECK_THROWS_WITH(check_nccl_log(read({line}), "h200-4x", data),
                    Contains("the log has 16 ranks, but 'h200-4x' has 4 GPUs"));
}

TEST_CASE("ranks of two nodes whose hosts have the same name are placed in order") {
  auto text = text_of({.nvls_channels = 16});
  const auto expected = check_nccl_log(read({text}), "dgx-h100", data)[0];
  for (auto at = text.find("node-1:"); at != std::string::npos; at = text.find("node-1:")) text[at + 5] = '0';
  const std::string nodes = "node-0:0:0 [0] NCCL INFO comm 0x10 rank 0 nRanks 16 nNodes 2 localRanks 8\n";
  const auto same = check_nccl_log(read({text, nodes}), "dgx-h100", data)[0];
  REQUIRE(same.comparisons.size() == expected.comparisons.size());
  for (std::size_t i = 0; i < same.comparisons.size(); ++i) {
    CHECK(same.comparisons[i].agrees == expected.comparisons[i].agrees);
    CHECK(same.comparisons[i].pairs == expected.comparisons[i].pairs);
  }
}

TEST_CASE("every log is compared with every shipped platform, or does not fit on it") {
  int compared = 0;
  int refused = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator{GRADWAY_SOURCE_DIR "/tests/readers/data/nccl-logs"}) {
    CAPTURE(entry.path().filename());
    NcclLogReader reader;
    std::ifstream lines{entry.path()};
    reader.read(lines);
    NcclLog log;
    try {
      log = reader.finish("log");
    } catch (const ConfigError&) {
      continue;  // it has no communicator
    }
    for (const auto& platform : list_names(DataKind::platform, data)) {
      CAPTURE(platform);
      try {
        const auto checked = check_nccl_log(log, platform, data);
        CHECK(checked.size() == log.communicators.size());
        ++compared;
      } catch (const ConfigError& error) {
        // It has too few nodes or GPUs, no SHARP, or no transport that the log's variables allow.
        CHECK_THAT(error.what(), Contains("--platform: error: the log has ") ||
                                     Contains("NCCL_COLLNET_ENABLE: switches of ") ||
                                     Contains("no transport from "));
        ++refused;
      }
    }
  }
  CHECK(compared > 500);
  CHECK(refused > 100);
}
