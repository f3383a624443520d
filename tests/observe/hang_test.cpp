// SPDX-License-Identifier: Apache-2.0
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <catch2/catch.hpp>

#include "observe/hang/report.hpp"
#include "readers/hang/hang_files.hpp"

using namespace gradway;
using Catch::Matchers::Contains;

namespace {

std::string data(const std::string& name) {
  return std::string{GRADWAY_SOURCE_DIR} + "/tests/observe/data/hangs/" + name;
}

HangReport judged(const std::vector<std::string>& files) {
  std::vector<std::string> paths;
  for (const auto& file : files) paths.push_back(data(file));
  return judge_hang(read_hang_evidence(paths));
}

/// A job of four ranks in PyTorch's JSON, call by call.
struct MadeUpJob {
  struct Call {
    std::string name;
    std::string group = "0";
    int elements = 1;
    int line = 0;
    bool is_completed = true;
    std::int64_t created = 0;  ///< seconds
  };
  std::map<int, std::vector<Call>> ranks;
  std::map<std::string, std::vector<int>> groups{{"0", {0, 1, 2, 3}}};

  void all(const Call& call) {
    for (int rank = 0; rank < 4; ++rank) ranks[rank].push_back(call);
  }

  HangReport judge() const {
    HangEvidence evidence;
    for (const auto& [rank, calls] : ranks) {
      std::map<std::string, int> numbers;
      std::vector<std::string> entries;
      for (const auto& call : calls) {
        const bool is_p2p = call.name.find(' ') != std::string::npos;
        const auto number = ++numbers[is_p2p ? "p2p" : call.group];
        entries.push_back(fmt::format(
            R"({{"record_id": {}, "process_group": ["{}", ""], "profiling_name": "nccl:{}", "collective_seq_id": {},
               "p2p_seq_id": {}, "is_p2p": {}, "input_sizes": [[{}]], "input_dtypes": ["Float"],
               "output_sizes": [[{}]], "state": "{}", "time_created_ns": {}, "timeout_ms": 10000,
               "frames": [{{"filename": "/home/me/train.py", "line": {}, "name": "train"}}]}})",
            entries.size(), call.group, call.name, number, number, is_p2p, call.elements, call.elements,
            call.is_completed ? "completed" : "scheduled", 1'000'000'000 * call.created, call.line));
      }
      std::vector<std::string> configs;
      for (const auto& [name, members] : groups)
        configs.push_back(
            fmt::format(R"("{}": {{"desc": "", "ranks": "[{}]"}})", name, fmt::join(members, ", ")));
      const auto text = fmt::format(R"({{"version": "2.10", "pg_config": {{{}}}, "entries": [{}]}})",
                                    fmt::join(configs, ", "), fmt::join(entries, ", "));
      add_flight_record(evidence, read_json_tree(text, "made up"), "made up", rank, std::nullopt);
    }
    return judge_hang(evidence);
  }
};

}  // namespace

TEST_CASE("a rank that waits for its data is named, with its line, by any of its evidence", "[hang]") {
  const auto report = judged({"loader_sleep"});
  CHECK(report.verdict == HangVerdict::hung);
  const auto& first = report.findings.front();
  CHECK(first.kind == HangKind::not_called);
  CHECK(first.ranks == std::vector{1});
  CHECK(first.waiting == std::vector{0, 2, 3});
  CHECK(first.call->sequence == 36);
  CHECK(first.now == CodePlace{"hang.py", 84, "train_ddp"});
  CHECK(judged({"loader_sleep/ras.txt"}).findings.front().ranks == std::vector{1});
  const auto by_stacks = judged({"loader_sleep/stack_rank0.txt", "loader_sleep/stack_rank1.txt",
                                 "loader_sleep/stack_rank2.txt", "loader_sleep/stack_rank3.txt"});
  CHECK(by_stacks.verdict == HangVerdict::undecided);  // Stacks of one moment do not say how long.
  CHECK(by_stacks.findings.front().ranks == std::vector{1});
  CHECK(by_stacks.findings.front().waiting == std::vector{0, 2, 3});
}

TEST_CASE("a running job is not accused because its dumps are of different moments", "[hang]") {
  const auto report = judged({"healthy_ddp"});
  CHECK(report.verdict == HangVerdict::running);
  CHECK(report.findings.empty());
}

TEST_CASE("calls in another order, and ranks that wait for each other, are named", "[hang]") {
  const auto order = judged({"order"}).findings.front();
  CHECK(order.kind == HangKind::other_order);
  CHECK(order.ranks == std::vector{1});
  CHECK(order.call->place == CodePlace{"hang.py", 69, "sync_statistics"});
  const auto barrier = judged({"barrier_wrong"}).findings.front();
  CHECK(barrier.kind == HangKind::crossed);
  CHECK(barrier.ranks == std::vector{0});
  CHECK(barrier.missing == std::vector{2});
  CHECK(barrier.call->members == std::vector{0, 2});
  CHECK(barrier.call->place.line == 152);
}

TEST_CASE("a step that a rank skipped is found with what the rank wrote", "[hang]") {
  const auto finding = judged({"exception_caught"}).findings.front();
  CHECK(finding.kind == HangKind::left_out);
  CHECK(finding.ranks == std::vector{2});
  CHECK_THAT(finding.notes.back(), Contains("step 8 skipped: CUDA out of memory"));
}

TEST_CASE("a rank that was killed under torchrun is named by its summary", "[hang]") {
  const auto report = judged({"sigkill"});
  CHECK(report.verdict == HangVerdict::failed);
  CHECK(report.findings.front().kind == HangKind::died);
  CHECK(report.findings.front().ranks == std::vector{2});
  CHECK(report.findings.front().call->place.line == 43);
}

TEST_CASE("a call on another group than before is called that", "[hang]") {
  MadeUpJob job;
  job.groups = {{"0", {0, 1, 2, 3}}, {"1", {0, 1}}, {"2", {2, 3}}};
  for (int step = 0; step < 5; ++step) {
    for (int rank = 0; rank < 4; ++rank)
      job.ranks[rank].push_back({"all_reduce", rank < 2 ? "1" : "2", 64, 10});
    job.all({"all_reduce", "0", 8, 20});
  }
  for (int rank = 0; rank < 3; ++rank)
    job.ranks[rank].push_back({"all_reduce", rank < 2 ? "1" : "2", 64, 10, rank < 2, 1});
  for (int rank = 0; rank < 2; ++rank) job.ranks[rank].push_back({"all_reduce", "0", 8, 20, false, 1});
  job.ranks[3].push_back({"all_reduce", "0", 64, 10, false, 1});
  const auto report = job.judge();
  CHECK(report.verdict == HangVerdict::hung);
  CHECK(report.findings.front().kind == HangKind::wrong_group);
  CHECK(report.findings.front().ranks == std::vector{3});
}

TEST_CASE("a rank that calls a group more often than before is named, not the one that it waits for",
          "[hang]") {
  MadeUpJob job;
  job.groups = {{"0", {0, 1, 2, 3}}, {"1", {0, 1}}, {"2", {2, 3}}};
  const auto pair = [&](int rank, int line, bool is_completed) {
    job.ranks[rank].push_back({"all_reduce", rank < 2 ? "1" : "2", 64, line, is_completed, 1});
  };
  for (int step = 0; step < 5; ++step) {
    job.all({"all_reduce", "0", 8, 20});
    for (int rank = 0; rank < 4; ++rank) pair(rank, 10, true);
  }
  pair(3, 11, false);
  job.all({"all_reduce", "0", 8, 20, false, 2});
  const auto finding = job.judge().findings.front();
  CHECK(finding.kind == HangKind::crossed);
  CHECK(finding.ranks == std::vector{3});
  CHECK(finding.call->place.line == 11);
}

TEST_CASE("of two stages that wait for each other, the one that departs from earlier steps is named",
          "[hang]") {
  MadeUpJob job;
  const auto step = [&](int sent, bool is_whole) {
    for (int i = 0; i < 4; ++i) {
      if (i < sent) job.ranks[0].push_back({"send 0->1", "0", 8, 10});
      job.ranks[1].push_back({"recv 1<-0", "0", 8, 11, i < sent});
      if (i >= sent) break;
    }
    job.ranks[0].push_back({"recv 0<-1", "0", 8, 12, is_whole});
    if (is_whole) job.ranks[1].push_back({"send 1->0", "0", 8, 13});
  };
  for (int i = 0; i < 5; ++i) step(4, true);
  step(3, false);
  const auto finding = job.judge().findings.front();
  CHECK(finding.kind == HangKind::crossed);
  CHECK(finding.ranks == std::vector{0});
  CHECK(finding.missing == std::vector{1});
  CHECK_THAT(finding.notes.front(), Contains("In earlier steps rank 0 called send to rank 1 at train.py:10"));
}

TEST_CASE("sizes that differ in a completed all_gather are named, and no hang is claimed", "[hang]") {
  MadeUpJob job;
  for (int i = 0; i < 10; ++i) job.all({"all_reduce", "0", 64, 10});
  for (int rank = 0; rank < 4; ++rank)
    job.ranks[rank].push_back({"all_gather", "0", rank == 3 ? 96 : 4096, 20});
  const auto report = job.judge();
  CHECK(report.verdict == HangVerdict::undecided);
  CHECK(report.findings.front().kind == HangKind::other_sizes);
  CHECK(report.findings.front().ranks == std::vector{3});
}

TEST_CASE("a rank without a dump is named if all others wait", "[hang]") {
  MadeUpJob job;
  job.all({"all_reduce", "0", 64, 10});
  job.all({"all_reduce", "0", 64, 10, false});
  job.ranks.erase(2);
  const auto report = job.judge();
  CHECK(report.verdict == HangVerdict::undecided);
  CHECK(report.findings.front().ranks == std::vector{2});
}

namespace {

HangReport judged_output(std::string_view text) {
  HangEvidence evidence;
  add_job_output(evidence, text, "job.log", -1);
  return judge_hang(evidence);
}

std::string fingerprint(int rank, int elements) {
  return fmt::format(
      "Rank {} is running collective: CollectiveFingerPrint(SequenceNumber=3104, OpType=ALLREDUCE, "
      "TensorShape=[{}, 128], TensorDtypes=BFloat16, TensorDeviceTypes=TensorOptions(dtype=float (default), "
      "device=cuda, layout=Strided (default), requires_grad=false (default)))",
      rank, elements);
}

}  // namespace

TEST_CASE("calls that TORCH_DISTRIBUTED_DEBUG=DETAIL found to differ name the rank of fewest", "[hang]") {
  std::string text;
  for (const auto& [rank, other] : {std::pair{1, 0}, std::pair{2, 1}, std::pair{3, 1}})
    text += fmt::format(
        "[rank{}]: RuntimeError: Detected mismatch between collectives on ranks. {}, but {}.Collectives "
        "differ in the following aspects: \t Tensor Tensor shapes: 8 128vs 4 128\n",
        rank, fingerprint(rank, rank == 1 ? 8 : 4), fingerprint(other, other == 1 ? 8 : 4));
  const auto report = judged_output(text);
  CHECK(report.verdict == HangVerdict::failed);
  CHECK(report.why == "ranks called different collectives");
  const auto& first = report.findings.front();
  CHECK(first.kind == HangKind::other_sizes);
  CHECK(first.ranks == std::vector{1});
  CHECK(first.waiting == std::vector{0, 2, 3});
  CHECK(first.call->sequence == 3104);
  CHECK(first.call->sizes == "[512]");
  CHECK(first.instead->sizes == "[1024]");
}

TEST_CASE("ranks that did not come to a monitored barrier are named", "[hang]") {
  const auto [text, ranks] = GENERATE(
      std::pair{"RuntimeError: [Rank 0]: Ranks 4, 5, 7 failed to pass monitoredBarrier in 2000000 ms",
                std::vector{4, 5, 7}},
      std::pair{"RuntimeError: [Rank 0]: Rank 1 failed to pass monitoredBarrier in 30000 ms",
                std::vector{1}});
  const auto report = judged_output(std::string{"Traceback (most recent call last):\n"} + text + "\n");
  CHECK(report.verdict == HangVerdict::hung);
  REQUIRE(report.findings.size() == 1);
  CHECK(report.findings.front().kind == HangKind::not_called);
  CHECK(report.findings.front().ranks == ranks);
  CHECK(report.findings.front().waiting == std::vector{0});
  CHECK(report.findings.front().call->operation == "monitored_barrier");
  for (const auto* cut : {"[Rank 0]: Ranks failed to pass monitoredBarrier",
                          "[Rank : Rank 99999999999, failed to pass monitoredBarrier in",
                          "[Rank 0]: Rank 1, but Rank CollectiveFingerPrint(TensorShape=[9,,"})
    CHECK_NOTHROW(judged_output(cut));
}

TEST_CASE("a rank whose watchdog was blocked is named with what that means", "[hang]") {
  const auto report = judged_output(
      "[rank2]:[E419 10:53:25.42 ProcessGroupNCCL.cpp:1484] [PG ID 2 PG GUID 9 Rank 2] ProcessGroupNCCL's "
      "watchdog got stuck for 480 seconds without making progress in monitoring enqueued collectives.\n");
  REQUIRE(report.findings.size() == 1);
  CHECK(report.findings.front().ranks == std::vector{2});
  CHECK_THAT(report.findings.front().notes.at(1), Contains("waits for Python's lock"));
}
