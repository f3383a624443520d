// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <fstream>
#include <iterator>
#include <sstream>

#include <fmt/format.h>

#include "readers/nccl_log/nccl_log.hpp"
#include "sim/base/random.hpp"
#include "tests/support/config_files.hpp"

using namespace gradway;
using namespace gradway::test;
using Catch::Matchers::Contains;
using Catch::Matchers::Equals;

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
  std::ifstream file{std::string{GRADWAY_SOURCE_DIR} + "/tests/readers/data/nccl-log-2x-h100-shm.txt"};
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

namespace {

NcclLog log_in(const std::string& name) {
  std::ifstream file{std::string{GRADWAY_SOURCE_DIR} + "/tests/readers/data/nccl-logs/" + name};
  REQUIRE(file);
  NcclLogReader reader;
  reader.read(file);
  return reader.finish("job.log");
}

/// "2 ranks, 1 node, 2 seen, 24/0/32 channels: SHM/direct/direct 2x2; rings 2"
std::string summary_of(const NcclLogCommunicator& one) {
  std::map<std::string, std::pair<int, std::set<int>>> ways;
  for (const auto& [connection, channels] : one.ways) {
    auto& way = ways[connection.network.empty()
                         ? connection.via
                         : "NET/" + connection.network + (connection.gpudirect ? "/GDRDMA" : "")];
    ++way.first;
    way.second.insert(channels.begin(), channels.end());
  }
  auto text = fmt::format("{} ranks, {} nodes, {} seen", one.ranks, one.nodes.value_or(0), one.seen.size());
  if (one.collective_channels)
    text += fmt::format(", {}/{}/{} channels", *one.collective_channels, one.nvls_channels.value_or(0),
                        one.pair_channels.value_or(0));
  for (const auto& [via, way] : ways) text += fmt::format(", {} {}x{}", via, way.first, way.second.size());
  int rings = 0;
  for (const auto& [order, channels] : one.rings) rings += channels;
  if (rings > 0) text += fmt::format(", {} rings", rings);
  if (one.uses_sharp) text += ", SHARP";
  return text;
}

}  // namespace

TEST_CASE("logs of NCCL 2.10 to 2.29 from many launchers are read") {
  // Own texts after what users published: launchers' prefixes, versions, networks.
  struct Row {
    std::string file;
    std::string version;
    std::set<std::string> networks;
    std::set<std::string> nics;
    std::map<std::string, std::string> variables;
    std::set<NcclRemark> remarks;
    std::vector<std::string> communicators;
  };
  const auto row = GENERATE(values<Row>(
      {{"2.10-efa-mpirun.txt",
        "2.10.3+cuda11.3",
        {"AWS Libfabric"},
        {},
        {},
        {},
        {"2 ranks, 2 nodes, 2 seen, NET/AWS Libfabric 2x2, 2 rings"}},
       {"2.12-pcie-shm.txt",
        "2.12.12+cuda11.6",
        {},
        {},
        {},
        {},
        {"4 ranks, 1 nodes, 4 seen, P2P/IPC 2x2, direct shared memory 2x2"}},
       {"2.14-one-process.txt",
        "2.14.3+cuda11.7",
        {},
        {},
        {},
        {NcclRemark::p2p_not_enabled},
        {"2 ranks, 1 nodes, 2 seen, SHM/direct/direct 2x2, 1 rings"}},
       {"2.17-torchrun-nvlink.txt",
        "2.17.1+cuda12.1",
        {},
        {},
        {},
        {},
        {"8 ranks, 1 nodes, 8 seen, 24/0/32 channels, P2P/IPC/read 8x2, 2 rings"}},
       {"2.18-ib-srun.txt",
        "2.18.5+cuda12.2",
        {"IB"},
        {"mlx5_0:1/IB", "mlx5_1:1/IB"},
        {},
        {},
        {"4 ranks, 2 nodes, 4 seen, NET/IB/GDRDMA 2x2, P2P/IPC/read 2x2, 2 rings"}},
       {"2.19-roce-kubectl-crlf.txt",
        "2.19.3+cuda12.3",
        {"IB"},
        {"mlx5_2:1/RoCE"},
        {{"NCCL_IB_GID_INDEX", "3"}},
        {NcclRemark::gpudirect_disabled},
        {"2 ranks, 2 nodes, 2 seen, NET/IB 2x1"}},
       {"2.20-tcp-compose.txt",
        "2.20.5+cuda12.4",
        {"Socket"},
        {"docker0", "ens5"},
        {},
        {NcclRemark::no_infiniband_device},
        {"2 ranks, 2 nodes, 2 seen, NET/Socket 4x2"}},
       {"2.21-nvls.txt",
        "2.21.5+cuda12.4",
        {},
        {},
        {},
        {},
        {"8 ranks, 1 nodes, 8 seen, 24/16/32 channels, P2P/CUMEM/read 8x3, 3 rings"}},
       {"2.22-sharp.txt",
        "2.22.3+cuda12.6",
        {"IBext_v8"},
        {},
        {{"NCCL_COLLNET_ENABLE", "1"}},
        {},
        {"2 ranks, 2 nodes, 2 seen, 4/0/8 channels, NET/IBext_v8/GDRDMA 2x1, NET/SHARP/GDRDMA 2x1, SHARP"}},
       {"2.23-efa-cut.txt",
        "2.23.4+cuda12.6",
        {"Libfabric"},
        {},
        {},
        {},
        {"16 ranks, 0 nodes, 1 seen, NET/Libfabric/GDRDMA 1x1, P2P/CUMEM 1x1, 2 rings"}},
       {"2.24-graph-tuning.txt",
        "2.24.3+cuda12.8",
        {},
        {},
        {},
        {},
        {"2 ranks, 0 nodes, 1 seen, P2P/CUMEM/read 1x2"}},
       {"2.25-mnnvl.txt",
        "2.25.1+cuda12.8",
        {},
        {},
        {{"NCCL_MNNVL_ENABLE", "1"}},
        {},
        {"8 ranks, 1 nodes, 8 seen, 24/24/32 channels, P2P/MNNVL 8x2"}},
       {"2.26-split-ray.txt",
        "2.26.2+cuda12.8",
        {},
        {},
        {},
        {},
        {"2 ranks, 1 nodes, 2 seen, P2P/CUMEM 2x1", "2 ranks, 1 nodes, 2 seen, P2P/CUMEM 2x1",
         "4 ranks, 2 nodes, 4 seen, NET/IB/GDRDMA 2x1, P2P/CUMEM 2x1"}},
       {"2.27-ib-down.txt",
        "2.27.5+cuda12.9",
        {"Socket"},
        {"eth1"},
        {},
        {NcclRemark::no_infiniband_device},
        {"2 ranks, 0 nodes, 1 seen, NET/Socket 1x1"}},
       {"2.29-p2p-level.txt",
        "2.29.2+cuda13.1",
        {"IB"},
        {"mlx5_0:1/IB", "mlx5_1:1/IB"},
        {{"NCCL_IB_HCA", "mlx5_0:1,mlx5_1:1"}, {"NCCL_P2P_LEVEL", "LOC"}},
        {},
        {"2 ranks, 1 nodes, 2 seen, SHM/direct/direct 2x2"}}}));
  CAPTURE(row.file);
  const auto log = log_in(row.file);
  CHECK(log.version == row.version);
  CHECK(log.networks == row.networks);
  CHECK(log.nics == row.nics);
  CHECK(log.variables == row.variables);
  CHECK(log.remarks == row.remarks);
  std::vector<std::string> communicators;
  for (const auto& one : log.communicators) communicators.push_back(summary_of(one));
  CHECK(communicators == row.communicators);
}

TEST_CASE("warnings, choices and the topology of a published log are read") {
  const auto graph = log_in("2.24-graph-tuning.txt");
  CHECK(graph.choices == std::map<NcclChoice, int>{{{"AllReduce", 33554432, "RING", "SIMPLE"}, 2},
                                                   {{"AllReduce", 4096, "TREE", "LL"}, 1}});
  REQUIRE(graph.topology.size() == 2);
  CHECK(graph.topology.begin()->second.nvlink == Approx(370.8));
  CHECK(log_in("2.27-ib-down.txt").warnings ==
        std::map<std::string, int>{{"NET/IB : No active device found.", 1}});
}

TEST_CASE("logs that say nothing of a communicator are refused") {
  CHECK_THROWS_WITH(log_in("failed-before-init.txt"),
                    Equals("job.log: error: NCCL initialised no communicator\n  hint: NCCL's warning: Cuda "
                           "failure 802 'system not yet initialized'\n"));
  CHECK_THROWS_WITH(log_in("no-nccl-lines.txt"),
                    Equals("job.log: error: the file has no line of NCCL's\n  hint: run the job with "
                           "NCCL_DEBUG=INFO, and keep what it prints\n"));
  CHECK_THROWS_WITH(
      log_in("coll-only.txt"),
      Equals("job.log: error: NCCL initialised no communicator\n  hint: the log ends too early, "
             "or NCCL_DEBUG_SUBSYS left INIT out\n"));
}

TEST_CASE("damaged logs are read or refused") {
  // Every cut, and bytes that are changed, of a log with most kinds of lines.
  std::ifstream file{std::string{GRADWAY_SOURCE_DIR} + "/tests/readers/data/nccl-logs/2.18-ib-srun.txt"};
  const std::string text{std::istreambuf_iterator<char>{file}, {}};
  const auto survives = [](const std::string& damaged) {
    try {
      static_cast<void>(log_of(damaged));
    } catch (const ConfigError&) {
      return true;
    }
    return true;
  };
  for (std::size_t end = 0; end < text.size(); end += 7) CHECK(survives(text.substr(0, end)));
  Random random{3, RandomStream::shards};
  for (int i = 0; i < 500; ++i) {
    auto damaged = text;
    for (int changes = 0; changes < 20; ++changes) {
      const auto at = static_cast<std::size_t>(random.uniform() * static_cast<double>(text.size()));
      damaged[at] = static_cast<char>(random.uniform() * 256);
    }
    CHECK(survives(damaged));
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

TEST_CASE("logs of containers, of web pages and without hosts are read", "[nccl_log]") {
  const auto plain = initialised(0, 2) + initialised(1, 2) + line(0, "Using network Socket") +
                     line(0, "Channel 00/0 : 0[0] -> 1[1] via SHM/direct/direct") +
                     line(0, "NET/Socket : Using [0]eth0:10.0.0.1<0>");
  std::string json;
  std::string html;
  std::string cut;
  std::istringstream lines{plain};
  for (std::string text; std::getline(lines, text);) {
    json += fmt::format("{{\"log\": \"{}\\n\", \"stream\": \"stdout\"}}\n", text);
    auto escaped = text;
    for (auto at = escaped.find('>'); at != std::string::npos; at = escaped.find('>', at + 1))
      escaped.replace(at, 1, "&gt;");
    html += escaped + "\n";
    cut += text.substr(text.find('[')) + "\n";
  }
  // A terminal of 80 columns.
  std::string broken;
  std::istringstream long_lines{plain};
  for (std::string text; std::getline(long_lines, text);)
    for (std::size_t at = 0; at < text.size(); at += 80) broken += text.substr(at, 80) + "\n";
  for (const auto& text : {plain, json, html, cut, broken}) {
    CAPTURE(text);
    const auto log = log_of(text);
    CHECK(log.networks == std::set<std::string>{"Socket"});
    CHECK(log.nics == std::set<std::string>{"eth0"});
    REQUIRE(log.communicators.size() == 1);
    CHECK(vias(log.communicators.front()) == std::set<std::string>{"SHM/direct/direct"});
  }
}

TEST_CASE("nodes with the same name are distinguished by their GPUs, and RCCL is read", "[nccl_log]") {
  std::string text = "RCCL version : 2.22.3-HEAD:0c2cbd8\n";
  for (int rank = 0; rank < 16; ++rank)
    text += initialised(rank, 16, "0x5", "<ip>") +
            line(rank,
                 fmt::format("Channel 00/0 : {}[{}] -> {}[{}] via {}", rank, rank % 8, (rank + 1) % 16,
                             (rank + 1) % 8, rank % 8 == 7 ? "NET/IB/0" : "P2P/IPC"),
                 "<ip>");
  text +=
      line(0, "NET/IB : Using [0]={[0] rocep1s0f0:1/RoCE, [1] rocep1s0f1:1/RoCE} [1]={[0] rocep2s0f0:1/RoCE}",
           "<ip>");
  const auto log = log_of(text);
  CHECK(log.version == "2.22.3-HEAD:0c2cbd8");
  CHECK(log.nics == std::set<std::string>{"rocep1s0f0:1/RoCE", "rocep1s0f1:1/RoCE", "rocep2s0f0:1/RoCE"});
  CHECK(log.communicators.front().nodes == 2);
}
