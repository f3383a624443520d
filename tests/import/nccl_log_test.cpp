// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <fstream>
#include <sstream>

#include <fmt/format.h>

#include "sim/import/nccl_log/nccl_log.hpp"
#include "tests/support/config_files.hpp"

using namespace gradway;
using namespace gradway::test;
using Catch::Matchers::Contains;

namespace {

NcclLog log_of(const std::string& text) {
  NcclLogReader reader;
  std::istringstream lines{text};
  reader.read(lines);
  return reader.finish("job.log");
}

std::string line(int rank, const std::string& message, const std::string& host = "node-1") {
  return fmt::format("{}:{}:{} [{}] NCCL INFO {}\n", host, 100 + rank, 200 + rank, rank % 8, message);
}

/// As NCCL 2.17 to 2.29 print it.
std::string initialised(int rank, int ranks, const std::string& id = "0x5ac3",
                        const std::string& host = "node-1") {
  const auto communicator =
      fmt::format("comm 0x55d{} rank {} nranks {} cudaDev {} nvmlDev {} busId {}0 commId {}", rank, rank,
                  ranks, rank % 8, rank % 8, rank % 8 + 1, id);
  return line(rank, "ncclCommInitRank " + communicator + " - Init START", host) +
         line(rank, "ncclCommInitRank " + communicator + " - Init COMPLETE", host);
}

std::set<std::string> vias(const NcclLogCommunicator& communicator) {
  std::set<std::string> found;
  for (const auto& [connection, channels] : communicator.ways) found.insert(connection.via);
  return found;
}

}  // namespace

TEST_CASE("a log of NCCL 2.28 on two H100 is read") {
  std::ifstream file{std::string{GRADWAY_SOURCE_DIR} + "/tests/import/data/nccl-log-2x-h100-shm.txt"};
  NcclLogReader reader;
  reader.read(file);
  const auto log = reader.finish("job.log");
  CHECK(log.version == "2.28.9+cuda13.0");
  CHECK(log.networks == std::set<std::string>{"Socket"});
  CHECK(log.nics == std::set<std::string>{"eth0"});
  CHECK(log.variables ==
        std::map<std::string, std::string>{{"NCCL_NVLS_ENABLE", "0"}, {"NCCL_P2P_DISABLE", "1"}});
  CHECK(log.remarks == std::set{NcclRemark::no_infiniband_device, NcclRemark::no_network_plugin});
  REQUIRE(log.communicators.size() == 1);
  const auto& communicator = log.communicators[0];
  CHECK(communicator.ranks == 2);
  CHECK(communicator.nodes == 1);
  CHECK(communicator.is_complete);
  CHECK(communicator.seen == std::map<int, NcclLogRank>{{0, {"vm", 0}}});
  CHECK(communicator.collective_channels == 4);
  CHECK(communicator.nvls_channels == 0);
  CHECK(communicator.pair_channels == 4);
  CHECK(communicator.rings == std::map<std::vector<int>, int>{{{0, 1}, 4}});
  REQUIRE(communicator.ways.size() == 1);
  CHECK(communicator.ways.begin()->first ==
        NcclConnection{0, 1, Transport::shm, "", std::nullopt, false, "SHM/direct/direct"});
  CHECK(communicator.ways.begin()->second == std::set{0, 1, 2, 3});
}

TEST_CASE("connections of all transports are read") {
  struct Example {
    std::string message;
    NcclConnection connection;
  };
  // As printed by NCCL 2.10 to 2.29, aws-ofi-nccl and GPUDirect-TCPX.
  const std::vector<Example> examples{
      {"Channel 00 : 0[1a0] -> 1[1b0] via P2P/IPC/read",
       {0, 1, Transport::p2p, "", std::nullopt, false, "P2P/IPC/read"}},
      {"Channel 00/0 : 6[6] -> 7[7] via P2P/indirect/3[3]",
       {6, 7, Transport::p2p, "", std::nullopt, false, "P2P/indirect/3[3]"}},
      {"Channel 03 : 3[5d000] -> 4[8a000] via direct shared memory",
       {3, 4, Transport::shm, "", std::nullopt, false, "direct shared memory"}},
      {"Channel 00/0 : 15[7] -> 0[0] [receive] via NET/IB/0/GDRDMA",
       {15, 0, Transport::net, "IB", 0, true, "NET/IB/0/GDRDMA"}},
      {"Channel 01/0 : 0[0] -> 8[0] [send] via NET/IB/1(2)/GDRDMA/Shared",
       {0, 8, Transport::net, "IB", 1, true, "NET/IB/1(2)/GDRDMA/Shared"}},
      {"Channel 00/0 : 7[7] -> 8[0] [send] via NET/AWS Libfabric/2/GDRDMA",
       {7, 8, Transport::net, "AWS Libfabric", 2, true, "NET/AWS Libfabric/2/GDRDMA"}},
      {"Channel 00 : 1[1c0] -> 2[1b0] [send] via NET/Socket/0",
       {1, 2, Transport::net, "Socket", 0, false, "NET/Socket/0"}},
      {"CollNet 00/0 : 0 [send] via COLLNET/SHARP/0/GDRDMA",
       {0, 0, Transport::net, "SHARP", 0, true, "COLLNET/SHARP/0/GDRDMA"}},
      {"Channel 12/0 : 0[0] -> 1[1] via P2P/CUMEM comm 0x5581 nRanks 08",
       {0, 1, Transport::p2p, "", std::nullopt, false, "P2P/CUMEM"}}};
  for (const auto& [message, connection] : examples) {
    CAPTURE(message);
    const auto log = log_of(line(0, message) + initialised(0, 16));
    REQUIRE(log.communicators.size() == 1);
    REQUIRE(log.communicators[0].ways.size() == 1);
    CHECK(log.communicators[0].ways.begin()->first == connection);
  }
}

TEST_CASE("lines of ranks that print at the same time are attributed to their ranks") {
  const auto log = log_of(initialised(0, 2) + "[1,1]<stdout>:" + initialised(1, 2, "0x5ac3", "node-2") +
                          "0: node-1:100:200 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[0] [send] via NET/IB/0 " +
                          "node-2:101:201 [1] NCCL INFO Channel 00/0 : 1[0] -> 0[0] [send] via NET/IB/1\n" +
                          "epoch 0 loss 6.93\n");
  REQUIRE(log.communicators.size() == 1);
  CHECK(log.communicators[0].nodes == 2);
  CHECK(log.communicators[0].seen.size() == 2);
  CHECK(vias(log.communicators[0]) == std::set<std::string>{"NET/IB/0", "NET/IB/1"});
}

TEST_CASE("communicators of NCCL 2.10, which have no ids, are matched by their order") {
  std::string text;
  for (const int ranks : {4, 2}) {
    for (int rank = 0; rank < ranks; ++rank) {
      text += line(rank, fmt::format("Channel 00 : {}[{}0] -> {}[{}0] via P2P/IPC", rank, rank,
                                     (rank + 1) % ranks, (rank + 1) % ranks));
      text += line(rank, fmt::format("comm 0x7f{}{} rank {} nranks {} cudaDev {} busId {}0 - Init COMPLETE",
                                     ranks, rank, rank, ranks, rank, rank));
    }
  }
  const auto log = log_of(text);
  REQUIRE(log.communicators.size() == 2);
  CHECK(log.communicators[0].ranks == 2);
  CHECK(log.communicators[0].ways.size() == 2);
  CHECK(log.communicators[1].ranks == 4);
  CHECK(log.communicators[1].ways.size() == 4);
  CHECK(log.communicators[1].nodes == 1);
}

TEST_CASE("algorithms that NCCL's tuner chose are counted") {
  const auto log =
      log_of(initialised(0, 2) +
             line(0, "AllReduce: 4194304 Bytes -> Algo RING proto LL128 channel{Lo..Hi}={0..23}") +
             line(0, "AllReduce: 4194304 Bytes -> Algo RING proto LL128 channel{Lo..Hi}={0..23}") +
             line(0, "AllGather: 1024 Bytes -> Algo 1 proto 2 time 23.4"));
  CHECK(log.choices == std::map<NcclChoice, int>{{{"AllReduce", 4194304, "RING", "LL128"}, 2},
                                                 {{"AllGather", 1024, "1", "2"}, 1}});
}

TEST_CASE("logs without NCCL's lines are refused") {
  CHECK_THROWS_WITH(log_of("epoch 0 loss 6.93\n"),
                    Contains("job.log: error: the file has no line of NCCL's") &&
                        Contains("hint: run the job with NCCL_DEBUG=INFO"));
  CHECK_THROWS_WITH(log_of("node-1:1:2 [0] init.cc:345 NCCL WARN Cuda failure 'out of memory'\n"),
                    Contains("NCCL initialised no communicator") &&
                        Contains("hint: NCCL's warning: Cuda failure 'out of memory'"));
}
