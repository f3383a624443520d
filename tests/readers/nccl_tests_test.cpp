// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <algorithm>

#include <fmt/format.h>

#include "readers/nccl_tests/nccl_tests.hpp"
#include "sim/base/printable.hpp"
#include "tests/support/config_files.hpp"

using namespace gradway;
using namespace gradway::test;
using Catch::Matchers::Contains;

namespace {

const std::string start =
    "# nThread 1 nGpus 1 minBytes 8 maxBytes 64 step: 2(factor) warmup iters: 5 iters: 20\n";
const std::string columns =
    "#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   "
    "busbw "
    "#wrong\n#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  "
    "(GB/s)  "
    "(GB/s)\n";

std::string ranks(int gpus, const std::string& host = "node-1", int first = 0) {
  std::string text;
  for (int i = 0; i < gpus; ++i)
    text += fmt::format("#  Rank {:2} Group  0 Pid  4{} on {} device {:2} [0x{}0] NVIDIA H200\n", first + i,
                        i, host, i, i);
  return text;
}

/// 1 MB in 50 us, and in place 10 % faster. @param ratio of the bandwidths
std::string row(const std::string& columns_of_operation, double ratio, double size = 1e6) {
  const auto rate = size / 50e-6 / 1e9;
  return fmt::format("  {:.0f} {:.0f} float {} 50.00 {:.2f} {:.2f} 0 45.00 {:.2f} {:.2f} 0\n", size, size / 4,
                     columns_of_operation, rate, rate * ratio, rate / 0.9, rate / 0.9 * ratio);
}

ImportedTests import(const std::string& text, const NcclTestOptions& options = {},
                     const std::string& name = "log.txt") {
  return import_nccl_test_log({name, text}, options);
}

std::string message(const std::string& text, const NcclTestOptions& options = {}) {
  return message_of([&] { return import(text, options); });
}

const NcclTestOptions p2p{.transport = "p2p"};

}  // namespace

TEST_CASE("a log becomes rows of samples", "[import]") {
  const auto imported = import(start + ranks(4) + columns + row("sum -1", 1.5) + row("sum -1", 1.5, 2e6) +
                                   "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 30.0\n",
                               p2p);
  CHECK(imported.warnings.empty());
  REQUIRE(imported.runs.size() == 1);
  const auto& run = imported.runs[0];
  CHECK(run.operation == "all_reduce");
  CHECK(run.ranks == 4);
  CHECK(run.nodes == 1);
  CHECK(run.tag == "p2p");
  CHECK(run.gpu == "NVIDIA H200");
  CHECK(samples_json(imported.runs) ==
        "[\n{\"kind\":\"note\",\"section\":\"import\",\"what\":\"nccl-tests on 4 ranks of 1 node, NVIDIA "
        "H200\"},\n"
        "{\"op\": \"all_reduce\", \"bytes\": 1000000, \"seconds\": 5e-05, \"world\": 4, \"tag\": \"p2p\", "
        "\"repeats\": 20},\n"
        "{\"op\": \"all_reduce\", \"bytes\": 2000000, \"seconds\": 5e-05, \"world\": 4, \"tag\": \"p2p\", "
        "\"repeats\": "
        "20}\n]\n");
  const auto in_place = import(start + ranks(4) + row("sum -1", 1.5), {.transport = "p2p", .in_place = true});
  CHECK(in_place.runs[0].rows[0].time.value() == Approx(45e-6));
}

TEST_CASE("control characters in the name of a GPU do not reach the samples", "[import]") {
  auto log = start + ranks(4) + columns + row("sum -1", 1.5);
  for (auto at = log.find("NVIDIA H200"); at != std::string::npos; at = log.find("NVIDIA H200"))
    log.replace(at, 11, "NVIDIA\x1bH200");
  const auto imported = import(log, p2p);
  CHECK(imported.runs[0].gpu == "NVIDIA\\x1bH200");
  CHECK(first_control(samples_json(imported.runs), "\n") == std::string::npos);
}

TEST_CASE("columns and bandwidths identify operations where possible", "[import]") {
  using Row = std::pair<std::string, std::string>;
  const auto [text, operation] = GENERATE(values<Row>({{row("sum -1", 1.5), "all_reduce"},
                                                       {row("sum", 1.5), "all_reduce"},
                                                       {row("sum -1", 0.75), "reduce_scatter"},
                                                       {row("", 0.75), "all_gather or all_to_all"},
                                                       {row("none -1", 0.75), "all_gather or all_to_all"},
                                                       {row("none 0", 1), "broadcast"},
                                                       {row("0", 1), "broadcast"},
                                                       {row("sum 0", 1), "reduce"},
                                                       {row("sum -1", 1), "send_recv"},
                                                       {row("none -1", 1), "send_recv"},
                                                       {row("none 0", 0.75), "gather or scatter"},
                                                       {row("sum", 0.75), "reduce_scatter or all_to_all"}}));
  CAPTURE(text);
  const auto log = start + ranks(4) + text;
  if (operation.find(' ') == std::string::npos) {
    CHECK(import(log, p2p).runs[0].operation == operation);
  } else {
    CHECK_THAT(message(log, p2p), Contains("the log does not name the operation: ") &&
                                      Contains("give it with --operation NAME"));
  }
}

TEST_CASE("the name of the operation takes precedence", "[import]") {
  const auto gather = row("none -1", 0.75);
  CHECK(import(start + ranks(4) + gather, {.operation = "all_to_all", .transport = "shm"}).runs[0].tag ==
        "shm");
  CHECK(import("# Collective test starting: alltoall_perf\n" + start + ranks(4) + gather, p2p)
            .runs[0]
            .operation == "all_to_all");
  CHECK(import("$ mpirun -n 4 ./build/all_gather_perf -b 8\n" + start + ranks(4) + gather, p2p)
            .runs[0]
            .operation == "all_gather");
  const auto by_name = import(start + ranks(4) + gather, p2p, "logs/2-all_gather.log");
  CHECK(by_name.runs[0].operation == "all_gather");
  CHECK(by_name.warnings ==
        std::vector<std::string>{
            "logs/2-all_gather.log: the operation all_gather is only known from the file's name"});
  CHECK(operation_in_name("a/reduce-scatter.log") == "reduce_scatter");
  CHECK(operation_in_name("all_reduce/x.txt").empty());
  CHECK(operation_in_name("broadcast-and-reduce.txt").empty());
  CHECK(nccl_operation("alltoall") == "all_to_all");
}

TEST_CASE("with two ranks all-reduce and send-recv cannot be distinguished", "[import][errors]") {
  CHECK_THAT(message(start + ranks(2) + row("sum -1", 1), p2p),
             Contains("all_reduce, send_recv fit its columns and bandwidths"));
  CHECK(import(start + ranks(2) + row("sum -1", 1), p2p, "allreduce.txt").runs[0].operation == "all_reduce");
}

TEST_CASE("ranks, nodes and transport are read from the log", "[import]") {
  const auto table = row("sum -1", 1.875);
  const auto two_hosts = import(start + ranks(8) + ranks(8, "node-2", 8) + table);
  CHECK(two_hosts.runs[0].ranks == 16);
  CHECK(two_hosts.runs[0].nodes == 2);
  CHECK(two_hosts.runs[0].tag == "net");
  // All hosts have the same name: each device is listed twice.
  CHECK(import(start + ranks(8) + ranks(8, "node-1", 8) + table).runs[0].nodes == 2);
  // Each rank sees one GPU, of which the driver hides the bus and the name.
  std::string one_each = start;
  for (int i = 0; i < 16; ++i)
    one_each += fmt::format("#  Rank {:2} Group  0 Pid  {} on node-1 device  0 [0x00]\n", i, i);
  CHECK(import(one_each + table, p2p).runs[0].nodes == 1);
  // By the ratio of the bandwidths; inside a node, since so is the transport.
  const auto by_ratio = import(table, {.transport = "shm"});
  CHECK(by_ratio.runs[0].ranks == 16);
  CHECK(by_ratio.runs[0].nodes == 1);
  const std::string lines =
      "h:1:2 [0] NCCL INFO comm 0x1 rank 0 nranks 4 cudaDev 0 busId 100 - Init START\n"
      "h:1:2 [0] NCCL INFO comm 0x1 rank 0 nRanks 4 nNodes 1 localRanks 4 localRank 0\n"
      "h:1:2 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via {}\n";
  using Row = std::pair<std::string, std::string>;
  const auto [via, tag] = GENERATE(values<Row>({{"P2P/CUMEM", "p2p"},
                                                {"P2P/direct pointer", "p2p"},
                                                {"SHM/direct/direct", "shm"},
                                                {"direct shared memory", "shm"},
                                                {"NET/IB/0/GDRDMA", "net"}}));
  const auto by_nccl = import(start + fmt::format(fmt::runtime(lines), via) + row("sum -1", 1.5));
  CHECK(by_nccl.runs[0].ranks == 4);
  CHECK(by_nccl.runs[0].nodes == 1);
  CHECK(by_nccl.runs[0].tag == tag);
}

TEST_CASE("rates above any PCIe are those of NVLinks", "[import]") {
  const auto imported = import(start + ranks(4) + row("sum -1", 1.5, 1e7));
  CHECK(imported.runs[0].tag == "p2p");
  CHECK_THAT(imported.warnings.at(0), Contains("the table is faster than any PCIe"));
}

TEST_CASE("rates above any network are those of NVLinks between nodes", "[import]") {
  const auto hosts = ranks(4) + ranks(4, "node-2", 4);
  const auto imported = import(start + hosts + row("sum -1", 1.75, 3e7));
  CHECK(imported.runs[0].nodes == 2);
  CHECK(imported.runs[0].tag == "p2p");
  CHECK_THAT(imported.warnings.at(0), Contains("the table is faster than any network"));
  CHECK(import(start + hosts + row("sum -1", 1.75, 1e7)).runs[0].tag == "net");
  CHECK_THAT(message(start + hosts + row("sum -1", 1.75), {.transport = "shm"}),
             Contains("ranks on 2 nodes communicate over net, not shm"));
}

TEST_CASE("excerpts with the last rank only are jobs of their own", "[import]") {
  const auto excerpt = [](int last, double ratio) {
    return fmt::format("#  Rank {:2} Group  0 Pid  7 on node device  3 [0x90] NVIDIA H200\n", last) +
           columns + row("sum -1", ratio);
  };
  const auto imported = import(excerpt(7, 1.75) + excerpt(95, 2 * 95.0 / 96));
  REQUIRE(imported.runs.size() == 2);
  CHECK(imported.runs[0].ranks == 8);
  CHECK(imported.runs[0].nodes == 2);
  CHECK(imported.runs[1].ranks == 96);
  CHECK(imported.runs[1].nodes == 24);
  CHECK_THAT(imported.warnings.at(0), Contains("not all ranks are listed: 4 on each node are assumed"));
  const auto again =
      import(start + ranks(4) + columns + row("sum -1", 1.5) + columns + row("sum -1", 1.5), p2p);
  REQUIRE(again.runs.size() == 2);
  CHECK(again.runs[1].ranks == 4);
}

TEST_CASE("old versions print the bytes that an all-gather sends to others", "[import]") {
  const std::string old =
      "#                                             out-of-place                       in-place\n"
      "#       size         count    type     time   algbw   busbw  error     time   algbw   busbw  error\n";
  // 2 MB on two ranks, of which each sends 1 MB in 50 us.
  const auto imported = import(
      start + ranks(2) + old + "  2000000 250000 float 50.00 20.00 20.00 0e+00 50.00 20.00 20.00 0e+00\n",
      {.operation = "all_gather", .transport = "p2p"});
  CHECK(imported.runs[0].rows.at(0).time.value() == Approx(50e-6));
}

TEST_CASE("a test that was built without MPI has one rank, whatever its columns", "[import][errors]") {
  const std::string alone = "  2000000 500000 float sum 50.00 40.00 0.00 0e+00 50.00 40.00 0.00 0e+00\n";
  CHECK_THAT(message(start + ranks(1) + alone, p2p),
             Contains("the log has one rank only, so nothing was sent") && Contains("build it with MPI=1"));
}

TEST_CASE("forced algorithms and protocols are part of the tag", "[import]") {
  const std::string forced = "h:1:2 [0] NCCL INFO NCCL_ALGO set by environment to Tree\n";
  const std::string both = forced + "h:1:2 [0] NCCL INFO NCCL_PROTO set by environment to LL128.\n";
  CHECK(import(start + ranks(4) + both + row("sum -1", 1.5), p2p).runs[0].tag == "p2p-Tree-LL128");
  CHECK_THAT(message(start + ranks(4) + forced + row("sum -1", 1.5), p2p),
             Contains("NCCL was forced to NCCL_ALGO=Tree and NCCL_PROTO=, which samples do not support"));
}

TEST_CASE("launchers' prefixes, output of NCCL, old columns and several logs in one", "[import]") {
  auto prefixed = start + ranks(4) + columns + row("sum -1", 1.5);
  for (std::size_t at = 0; at < prefixed.size(); at = prefixed.find('\n', at) + 1)
    prefixed.insert(at, "[1,0]<stdout>:");
  CHECK(import(prefixed, p2p).runs[0].rows.size() == 1);

  const std::string old =
      "#                                             out-of-place                       in-place\n"
      "#       size         count    type     time   algbw   busbw  error     time   algbw   busbw  error\n";
  const auto several =
      import(start + ranks(4) + columns + row("sum -1", 1.5) + "h:3:4 [0] NCCL INFO Launch mode Parallel\n" +
                 "  0 0 float sum -1 9.00 0.00 0.00 0 9.00 0.00 0.00 0\n" +
                 "  2000000 500000 float sum -1h:3:4 [0] NCCL INFO Channel 01/02\n 50.00 40.00 60.00 0 50.00 "
                 "40.00 60.00 0\n" +
                 row("sum -1", 1.5, 3e6) + "# Avg bus bandwidth : 1\n" +
                 "# Collective test starting: all_gather_perf\n" + start + ranks(4) + old +
                 "  1000000 250000 float 50.00 20.00 15.00 4e-07 45.00 22.22 16.67 N/A\n",
             p2p);
  REQUIRE(several.runs.size() == 2);
  CHECK(several.runs[0].rows.size() == 2);
  CHECK(several.runs[1].operation == "all_gather");
  REQUIRE(several.warnings.size() == 2);
  CHECK_THAT(several.warnings[0], Contains("NCCL's own output interrupts the row, which is ignored"));
  CHECK_THAT(several.warnings[1], Contains("ignored rows of size 0"));

  const auto cut =
      import(start + ranks(4) + columns + row("sum -1", 1.5) + "  2000000 500000 float sum -1 50.0", p2p);
  CHECK(cut.runs[0].rows.size() == 1);
  CHECK_THAT(cut.warnings.at(0), Contains("the table ends in the middle of a row, which is ignored"));

  CHECK(import(start + ranks(4) + columns + "1000000 250000 float sum -1 50.00 20.00 30.00 0\n", p2p)
            .runs[0]
            .rows.size() == 1);
  CHECK(
      import(start + ranks(4) + columns +
                 "1000000 250000 float sum -1 50.00 20.00 30.00 0 45.00 22.22 33.33 0 2026-11-21 10:00:00\n",
             p2p)
          .runs[0]
          .rows.size() == 1);
}

TEST_CASE("logs of other operations are kept, as samples name them", "[import]") {
  const auto hypercube = import(start + ranks(4) + "  1000000 250000 float none -1 50.00 12.00 12.00 0\n",
                                {.operation = "hypercube", .transport = "p2p"});
  CHECK_THAT(samples_json(hypercube.runs), Contains("\"op\": \"hypercube\""));
}

TEST_CASE("damaged or ambiguous logs are refused", "[import][errors]") {
  using Row = std::tuple<std::string, NcclTestOptions, std::string>;
  const auto head = start + ranks(4) + columns;
  const auto good = row("sum -1", 1.5);
  const auto [text, options, expected] = GENERATE_COPY(values<Row>(
      {{"hello\n", p2p,
        "log.txt: error: the file has no table of nccl-tests\n"
        "  hint: expected rows such as '1048576 262144 float sum -1 31.2 33.6 58.8 0'\n"},
       {good,
        {.transport = "p2p", .ranks = 5},
        "log.txt:1:3: error: the columns and bandwidths of the table fit no operation\n "
        "   1 |   1000000 250000 "
        "float sum -1 50.00 20.00 30.00 0 45.00 22.22 33.33 0\n      |   ^~~~~~~\n  hint: give it with "
        "--operation: reduce_scatter, all_reduce, all_gather, all_to_all, broadcast, hypercube, "
        "send_recv, scatter, "
        "gather, reduce\n"},
       {good,
        {.operation = "all_gather", .transport = "p2p", .ranks = 4},
        "log.txt:1:3: error: busbw divided by algbw is 1.5, which does not fit all_gather on 4 ranks\n    1 "
        "|   1000000 250000 "
        "float sum -1 50.00 20.00 30.00 0 45.00 22.22 33.33 0\n      |   ^~~~~~~\n  hint: check the "
        "operation and the number of ranks: see --operation and --ranks\n"},
       {row("sum 0", 1), p2p,
        "log.txt:1:3: error: the log does not contain the number of ranks\n    1 |   1000000 "
        "250000 float sum 0 50.00 20.00 "
        "20.00 0 45.00 22.22 22.22 0\n      |   ^~~~~~~\n  hint: give it with --ranks N\n"},
       {row("sum -1", 1.5),
        {},
        "log.txt:1:3: error: the log does not contain the number of nodes\n    1 |   "
        "1000000 250000 float sum -1 50.00 "
        "20.00 30.00 0 45.00 22.22 33.33 0\n      |   ^~~~~~~\n  hint: give it with --nodes N\n"},
       {"1000000 250000 float sum -1 50.00 20.00 30.00 2 45.00 22.22 33.33 0\n", p2p,
        "log.txt:1:1: error: the test found wrong values, so its times are not usable\n    1 | "
        "1000000 250000 float sum -1 50.00 "
        "20.00 30.00 2 45.00 22.22 33.33 0\n      | ^~~~~~~\n  hint: fix NCCL and run the test again, or "
        "remove the run from the log\n"},
       {"1000000 250000 float sum -1 5o.00 20.00 30.00 0 45.00 22.22 33.33 0\n", p2p,
        "log.txt:1:29: error: '5o.00' is not a valid time in microseconds\n    1 | 1000000 250000 float "
        "sum -1 5o.00 20.00 30.00 0 "
        "45.00 22.22 33.33 0\n      |                             ^~~~~\n  hint: check whether the log is "
        "truncated or was edited by hand\n"},
       {"1000000 250000 float sum -1 500.0 20.00 30.00 0 45.00 22.22 33.33 0\n",
        {.transport = "p2p", .ranks = 4},
        "log.txt:1:1: error: inconsistent row: 1000000 bytes in 500 us are 2 GB/s, not "
        "20\n    1 | 1000000 250000 "
        "float sum -1 500.0 20.00 30.00 0 45.00 22.22 33.33 0\n      | ^~~~~~~\n  hint: check whether the "
        "log was edited by hand\n"},
       {"1000000 250000 float sum -1 50.00 20.00\n" + good, p2p,
        "log.txt:1:40: error: the row has 3 numbers after its type instead of 4 or 8\n    1 | 1000000 "
        "250000 float sum -1 50.00 "
        "20.00\n      |                                        ^\n  hint: check whether the log is truncated "
        "or was edited by hand\n"}}));
  CHECK(message(text, options) == expected);
}

TEST_CASE("a row with an impossible time is refused", "[import][errors]") {
  const auto row = "32 8 float sum -1 2147483.00 0.00 0.00 0 35.00 0.00 0.00 0\n";
  CHECK(message(start + ranks(4) + columns + row, {.operation = "all_reduce", .transport = "p2p"}) ==
        "log.txt:8:1: error: a time of 2.14748 s for 32 B is implausible\n    8 | 32 8 float sum -1 "
        "2147483.00 0.00 0.00 0 "
        "35.00 0.00 0.00 0\n      | ^~\n  hint: remove the row\n");
}

TEST_CASE("a damaged start of a row is not taken for other output", "[import][errors]") {
  const auto head = start + ranks(4) + columns + row("sum -1", 1.5);
  CHECK_THAT(message(head + "  1o485 262144 float sum -1 50.00 20.00 30.00 0 45.00 22.22 33.33 0\n", p2p),
             Contains("log.txt:9:3: error: this is not a row of nccl-tests"));
  CHECK_THAT(message(head + "# Out of bounds values : 7 FAILED\n", p2p),
             Contains("log.txt:9:1: error: the test found wrong values"));
}

TEST_CASE("a row whose elements are not its size, or of no known type, is refused", "[import][errors]") {
  const auto changed = [](const std::string& from, const std::string& to) {
    auto text = row("sum -1", 1.5);
    return start + ranks(4) + columns + text.replace(text.find(from), from.size(), to);
  };
  CHECK_THAT(message(changed("250000 float", "250001 float"), p2p),
             Contains("error: inconsistent row: 250001 elements of 4 B are not 1000000 B\n"));
  CHECK_THAT(message(changed("250000 float", "250000 half"), p2p),
             Contains("250000 elements of 2 B are not 1000000 B"));
  CHECK_THAT(message(changed("float", "banana"), p2p),
             Contains("error: 'banana' is not an element type of nccl-tests\n"));
  CHECK(import(changed("250000 float", "500000 bfloat16"), p2p).runs.size() == 1);
  CHECK(import(changed("250000 float", "62500 float"), p2p).runs.size() == 1);  // of one rank of four
}

TEST_CASE("rows that send nothing are left out with a warning", "[import]") {
  const std::string nothing = "  0 0 float sum -1 12.00 0.00 0.00 N/A 11.00 0.00 0.00 N/A\n";
  const auto imported = import(start + ranks(4) + columns + nothing + nothing + row("sum -1", 1.5), p2p);
  CHECK(imported.runs[0].rows.size() == 1);
  CHECK(imported.warnings == std::vector<std::string>{"log.txt:8: ignored rows of size 0: 2"});
}

TEST_CASE("an impossible time is refused", "[import][errors]") {
  for (const auto* time : {"1e-300", "0.0001", "1e11"}) {
    auto text = row("sum -1", 1.5);
    const auto log = start + ranks(4) + columns + text.replace(text.find("50.00"), 5, time);
    CHECK_THAT(message(log, p2p),
               Contains(fmt::format("error: '{}' is not a valid time in microseconds\n", time)));
  }
}

TEST_CASE("a log of rccl-tests is one of nccl-tests with other lines before its table", "[import]") {
  const auto text = start + "rccl-tests: Version develop:448c4c7\n# Using devices\n" +
                    "#   Rank  0 Pid 2509534 on host device  0 [0000:0c:00.0] AMD Instinct MI300X\n"
                    "#   Rank  1 Pid 2509535 on host device  1 [0000:22:00.0] AMD Instinct MI300X\n"
                    "#   Rank  2 Pid 2509536 on host device  2 [0000:38:00.0] AMD Instinct MI300X\n"
                    "#   Rank  3 Pid 2509537 on host device  3 [0000:5c:00.0] AMD Instinct MI300X\n"
                    "RCCL version : 2.22.3-develop:f5b15f2\nHIP version  : 6.3.42131-fa1d09cbd\n"
                    "Librccl path : /opt/rccl/build/release/librccl.so.1\n#\n" +
                    columns +
                    "  100000000 25000000 float sum -1 1000.0 100.00 150.00 0 990.0 101.01 151.52 0\n";
  const auto imported = import(text);
  REQUIRE(imported.runs.size() == 1);
  const auto& run = imported.runs.front();
  CHECK(run.rccl);
  CHECK(run.gpu == "AMD Instinct MI300X");
  CHECK(run.ranks == 4);
  CHECK(run.operation == "all_reduce");
  CHECK(run.rows.front().time.value() == Approx(1e-3));
  REQUIRE(imported.warnings.size() == 1);
  CHECK_THAT(imported.warnings.front(), Contains("XGMI links are assumed, transport p2p"));
  CHECK_THAT(samples_json(imported.runs), Contains("rccl-tests on 4 ranks of 1 node, AMD Instinct MI300X"));
  // Of nccl-tests without these lines.
  const auto plain =
      import(start + ranks(2) + columns + row("sum -1", 1), {.operation = "all_reduce", .transport = "p2p"});
  CHECK_FALSE(plain.runs.front().rccl);
}

TEST_CASE("records of NCCL Inspector become samples", "[nccl_tests]") {
  const auto record = [](int rank, int number, int microseconds) {
    const auto rate = 268.435456e6 / microseconds / 1e3;
    return fmt::format(
        R"({{"header":{{"id":"0x7f8c","rank":{},"n_ranks":8,"nnodes":1}},"metadata":{{"pid":1}},"coll_perf":{{"coll":"AllReduce","coll_sn":{},"coll_msg_size_bytes":268435456,"coll_exec_time_us":{},"coll_timing_source":"kernel_gpu","coll_algobw_gbs":{:.6f},"coll_busbw_gbs":{:.6f}}}}})"
        "\n",
        rank, number, microseconds, rate, 1.75 * rate);
  };
  const TextFile file{"inspector.log", record(0, 1, 1000) + record(1, 1, 1400) + record(0, 2, 1900) +
                                           record(1, 2, 1010) + "not JSON\n" + record(0, 3, 1020)};
  REQUIRE(is_inspector_file(file));
  const auto imported = import_inspector(file, {});
  REQUIRE(imported.runs.size() == 1);
  const auto& run = imported.runs.front();
  CHECK(run.operation == "all_reduce");
  CHECK(run.ranks == 8);
  CHECK(run.tag == "p2p");  // 470 GB/s
  REQUIRE(run.rows.size() == 1);
  CHECK(run.rows.front().size.value() == Approx(268435456).epsilon(1e-6));
  CHECK(run.rows.front().time.value() ==
        Approx(1.01e-3));  // 1000, 1010 and 1020: the last rank has not waited
  CHECK(imported.warnings.empty());
  CHECK(import_inspector({"one", record(0, 1, 1000)}, {}).warnings.size() == 1);
  CHECK_THROWS_WITH(import_inspector({"slow", record(0, 1, 20000)}, {}),
                    Contains("NCCL Inspector does not record the transport"));
  CHECK_THROWS_WITH(
      import_inspector({"cut", R"({"coll_perf": {"coll": "AllReduce", "coll_exec_time_us": 3}})"}, {}),
      Contains("cut:1:1: error: this record of NCCL Inspector is incomplete"));
}
