// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "readers/hang/hang_files.hpp"
#include "sim/base/problem.hpp"
#include "sim/files/compressed_file.hpp"

using namespace gradway;
using namespace std::string_literals;
using Catch::Matchers::Contains;

namespace {

std::string data(const std::string& name) {
  return std::string{GRADWAY_SOURCE_DIR} + "/tests/observe/data/hangs/" + name;
}

std::string content(const std::string& name) {
  CompressedFile file{data(name), name};
  return {std::istreambuf_iterator<char>{&file}, {}};
}

std::string problem_of(const std::string& pickle) {
  try {
    static_cast<void>(read_pickle(pickle, "dump"));
  } catch (const ConfigError& error) {
    return error.problems().front().what;
  }
  return {};
}

}  // namespace

TEST_CASE("a pickle of plain values is read, and what could run code is not", "[hang]") {
  const auto document = read_pickle(
      "\x80\x02}(X\x01\x00\x00\x00"
      "aK\x05X\x01\x00\x00\x00"
      "b](J\xff\xff\xff\xffNeu."s,
      "dump");
  const auto& tree = document.tree;
  CHECK(tree.integer(tree.at(document.root, "a")) == 5);
  const auto& list = tree.elements(tree.at(document.root, "b"));
  REQUIRE(list.size() == 2);
  CHECK(tree.integer(list[0]) == -1);
  CHECK(tree.kind(list[1]) == ValueTree::Kind::none);
  // cos\nsystem\n(...)R calls os.system.
  CHECK(problem_of("\x80\x02"
                   "cos\nsystem\nX\x02\x00\x00\x00ls\x85R."s) ==
        "the pickle has the opcode 0x63 at byte 2, which plain values do not need");
  CHECK(problem_of("\x80\x02]q\x00h\x01."s) == "the pickle is damaged at byte 6");
  CHECK(problem_of("\x80\x02X\xff\xff\xff\xff"
                   "ab"s) == "the pickle is cut off: it ends at byte 9");
  CHECK_THAT(problem_of("\x80\x02" + std::string(5'000'000, ']')), Contains("more than 4000000 values"));
}

TEST_CASE("a trace of a distributed job is no evidence of a hang", "[hang]") {
  const auto file = std::filesystem::temp_directory_path() / "gradway_distributed_trace.json";
  const auto groups = R"("pg_config": [{"pg_name": "0", "ranks": [0, 1]}], "nccl_version": "2.28.9")"s;
  std::ofstream{file} << R"({"schemaVersion": 1, "distributedInfo": {"rank": 0, )" << groups << "}}";
  CHECK_FALSE(is_hang_evidence(file.string()));
  std::ofstream{file} << R"({"version": "2.10", )" << groups << R"(, "entries": []})";
  CHECK(is_hang_evidence(file.string()));
  std::filesystem::remove(file);
}

TEST_CASE("a dump that is cut off anywhere ends with a message", "[hang]") {
  const auto dump = content("order/nccl_trace_rank_0.gz");
  for (std::size_t length = 0; length < dump.size(); length += 7)
    CHECK_THROWS_AS(read_pickle(dump.substr(0, length), "dump"), ConfigError);
  for (std::size_t at = 2; at < dump.size(); at += 11) {  // damaged bytes: a message or other values
    auto damaged = dump;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x55);
    HangEvidence evidence;
    try {
      add_flight_record(evidence, read_pickle(damaged, "dump"), "dump", 0, std::nullopt);
    } catch (const ConfigError&) {
      continue;
    }
  }
}

TEST_CASE("a dump says what a rank called, where and how far it was", "[hang]") {
  HangEvidence evidence;
  add_flight_record(evidence, read_pickle(content("order/nccl_trace_rank_0.gz"), "dump"), "dump", 0,
                    std::nullopt);
  const auto& record = evidence.records.at(0);
  REQUIRE(record.calls.size() == 42);
  CHECK(record.is_whole);
  CHECK(record.timeout == 15.0_s);
  const auto& last = record.calls.back();
  CHECK(last.sequence == 42);
  CHECK(last.state == CallState::scheduled);
  const auto& kind = evidence.kinds[last.kind];
  CHECK(kind.operation == "all_reduce");
  CHECK(kind.input == 256);
  CHECK(kind.place == CodePlace{"hang.py", 69, "sync_statistics"});
  CHECK(evidence.groups[kind.group].ranks == std::vector{0, 1, 2, 3});
}

TEST_CASE("JSON that is nested too deep, or no JSON, is refused", "[hang]") {
  CHECK_THROWS_WITH(read_json_tree(std::string(100'000, '['), "a.json"),
                    Contains("nested more than 64 deep"));
  CHECK_THROWS_WITH(read_json_tree("{\"a\": ", "a.json"), Contains("not valid JSON"));
}

TEST_CASE("RAS's text and JSON say the same", "[hang]") {
  HangEvidence of_text;
  REQUIRE(add_ras_text(of_text, content("loader_sleep/ras.txt"), "ras.txt"));
  const auto& communicator = of_text.ras.front().communicators.front();
  CHECK(communicator.hash == "f79df978f4fbf37d");
  CHECK(communicator.size == 4);
  REQUIRE(communicator.differences.size() == 1);
  const auto& levels = communicator.differences.front().levels;
  REQUIRE(levels.size() == 2);
  CHECK(levels[0].launched == 33);
  CHECK(levels[0].ranks == 3);
  CHECK(levels[1].named == std::vector{RasProcess{1, "192.0.2.2", 844}});
  HangEvidence of_json;
  add_ras(of_json,
          read_json_tree(R"({"communicators": [{"hash": "0xf79df978f4fbf37d", "size": 2, "ranks": [
    {"rank": 0, "host": "a", "pid": 7, "status": {"async_error": 5}, "collective_counts": {"AllReduce": 33}},
    {"rank": 1, "host": "a", "pid": 8, "collective_counts": {"AllReduce": 29}}],
    "missing_ranks": [{"rank": 2, "host": "b", "pid": 9, "status": {"considered_dead": true}}]}]})",
                         "ras.json"),
          "ras.json");
  const auto& same = of_json.ras.front().communicators.front();
  CHECK(same.hash == communicator.hash);
  CHECK(same.differences.front().levels.front().named == std::vector{RasProcess{1, "a", 8}});
  CHECK(same.errors.front().second == "Invalid usage");
  CHECK(of_json.ras.front().dead == std::vector{RasProcess{2, "b", 9}});
}

TEST_CASE("RAS names ranks that are missing and processes that are dead", "[hang]") {
  HangEvidence evidence;
  REQUIRE(add_ras_text(evidence, R"(Job summary
===========
Communicators... (0.000s)
=============
Group     Comms     Nodes     Ranks     Ranks     Ranks    Status  Errors
    #  in group  per comm  per node  per comm  in group
    0         1         2         2         4         4   RUNNING  INCOMPLETE

Errors
======

INCOMPLETE
  Missing communicator data from 1 job process
  Process 3487 on node 192.0.2.3 managing GPU 1

DEAD
  1 job process is considered dead (unreachable via the RAS network)
  Process 3487 on node 192.0.2.3 managing GPU 1

#0-0 (cf264af53edbe986) INCOMPLETE
  Missing communicator data from 1 rank
  Rank 3 -- GPU 1 managed by process 3487 on node 192.0.2.3
)",
                       "ras.txt"));
  const auto& status = evidence.ras.front();
  CHECK(status.dead == std::vector{RasProcess{-1, "192.0.2.3", 3487}});
  CHECK(status.communicators.front().missing == std::vector{RasProcess{3, "192.0.2.3", 3487}});
  CHECK(evidence.world == 4);
}

TEST_CASE("stacks of py-spy and faulthandler give the line of the user's program", "[hang]") {
  HangEvidence evidence;
  REQUIRE(add_stacks(evidence, R"(Process 4711: python train.py
Python v3.12.3 (/usr/bin/python3.12)

Thread 4711 (idle): "MainThread"
    wait (threading.py:355)
    get (multiprocessing/queues.py:113)
    __next__ (torch/utils/data/dataloader.py:741)
    train (train.py:84)
    <module> (train.py:204)
Thread 4712 (idle): "Thread-1"
    wait (threading.py:355)
)",
                     "stack_rank3.txt", 3));
  CHECK(user_place(evidence.stacks.at(3).samples.front()) == CodePlace{"train.py", 84, "train"});
  // Files named by processes, of which NCCL's log knows one.
  HangEvidence by_process;
  by_process.rank_of_process[{"", 4711}] = 2;
  for (const auto pid : {4711, 4712})
    REQUIRE(add_stacks(by_process,
                       fmt::format("Process {0}: python train.py\n\nThread {0} (active): \"MainThread\"\n"
                                   "    train (train.py:94)\n    <module> (train.py:204)\n",
                                   pid),
                       "spy", pid));
  CHECK(by_process.stacks.at(2).samples.size() == 1);
  CHECK(by_process.stacks.at(3).samples.size() == 1);
  CHECK(by_process.numbers_ranks);
  REQUIRE(add_stacks(evidence, content("loader_sleep/stack_rank1.txt"), "stack_rank1.txt", 1));
  CHECK(user_place(evidence.stacks.at(1).samples.front()) == CodePlace{"hang.py", 84, "train_ddp"});
}

TEST_CASE("messages of watchdogs and launchers are read", "[hang]") {
  HangEvidence evidence;
  REQUIRE(add_job_output(evidence, content("sigkill/torchrun.txt"), "torchrun.txt", -1));
  REQUIRE(evidence.timeouts.size() == 1);
  CHECK(evidence.timeouts.front().rank == 1);
  CHECK(evidence.timeouts.front().sequence == 107);
  CHECK(evidence.timeouts.front().is_error);
  CHECK(evidence.timeouts.front().place == CodePlace{"hang.py", 43, "forward"});
  const auto& killed = evidence.failed.back();
  CHECK(killed.rank == 2);
  CHECK(killed.exit_code == -9);
  CHECK(killed.is_first);
  HangEvidence older;  // as PyTorch 2.1 and a launcher of SLURM write
  REQUIRE(add_job_output(
      older,
      R"(3: [Rank 3] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=1848, OpType=ALLREDUCE, Timeout(ms)=1800000) ran for 1806947 milliseconds before timing out.
srun: error: node7: task 5: Killed
torch.distributed.DistStoreError: Timed out after 601 seconds waiting for clients. 3/4 clients joined.
)",
      "slurm-1.out", -1));
  CHECK(older.timeouts.front().rank == 3);
  CHECK(older.timeouts.front().timeout == 1800.0_s);
  CHECK(older.failed.front().rank == 5);
  CHECK(older.joined.front().count == 3);
}
