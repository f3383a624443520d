// SPDX-License-Identifier: Apache-2.0
#include "calibration/harness/run.hpp"

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include <unistd.h>
#include <zlib.h>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "calibration/harness/group.hpp"

namespace gradway::probe {
namespace {

namespace files = std::filesystem;
using Rows = std::vector<Row>;

/// A temporary folder.
struct Folder {
  files::path path = files::temp_directory_path() / ("gradway-harness-" + std::to_string(getpid()));
  Folder() { files::create_directories(path); }
  ~Folder() { files::remove_all(path); }
};

std::string unpacked(const files::path& file) {
  std::string text;
  const auto in = gzopen(file.c_str(), "rb");
  char block[4096];
  for (int count = 0; (count = gzread(in, block, sizeof block)) > 0;)
    text.append(block, static_cast<std::size_t>(count));
  gzclose(in);
  return text;
}

Job facts_of(int gpus) {
  return {"facts", "the node", {}, false, Seconds{1}, [gpus](Context& context) {
            Row row{{"kind", "node"}};
            row["gpus"] = Row::array();
            for (int gpu = 0; gpu < gpus; ++gpu) row["gpus"].push_back(gpu);
            context.emit(row);
          }};
}

Job job(std::string section, std::function<void(Context&)> run, bool all_ranks = false) {
  return {section, "the " + section, {}, all_ranks, Seconds{0.1}, std::move(run)};
}

struct Outcome {
  Status status = Status::done;
  std::string messages;
  Rows rows;
};

std::atomic<bool> interrupted = false;

Outcome run(const Job& facts, const std::vector<Job>& jobs, std::vector<std::string> arguments = {},
            const char* name = "samples.json") {
  const Folder folder;
  const auto file = folder.path / name;
  arguments.insert(arguments.begin(), {"gradway-probe", "-o", file.string()});
  std::vector<char*> pointers;
  for (auto& argument : arguments) pointers.push_back(argument.data());
  std::ostringstream messages;
  std::ostringstream results;
  interrupted = false;
  const auto libraries = [](const std::vector<files::path>& named) {
    return named.empty() ? std::vector<std::string>{} : std::vector{"looked below " + named.front().string()};
  };
  const Program program{.libraries = libraries,
                        .facts = facts,
                        .jobs = [&](int, int, const Options&) { return jobs; },
                        .version = "1",
                        .interrupted = &interrupted,
                        .messages = &messages,
                        .results = &results};
  Outcome outcome;
  outcome.status = run_program(program, static_cast<int>(pointers.size()), pointers.data());
  outcome.messages = messages.str();
  if (files::exists(file)) {
    for (const auto& row : Row::parse(unpacked(file))) outcome.rows.push_back(row);
  }
  CHECK_FALSE(files::exists(file.string() + ".part"));
  return outcome;
}

const auto emit_one = [](Context& context) { context.emit({{"kind", "launch"}, {"seconds", 1e-6}}); };

TEST_CASE("a run emits the node's row and those of each job, in order") {
  const auto outcome = run(facts_of(1), {job("links", emit_one), job("kernels", [](Context& context) {
                                           context.emit({{"kind", "sync"}, {"seconds", 2e-6}});
                                           context.remark("it was warm");
                                         })});
  CHECK(outcome.status == Status::done);
  REQUIRE(outcome.rows.size() == 4);
  CHECK(outcome.rows[0]["kind"] == "node");
  CHECK(outcome.rows[1]["kind"] == "launch");
  CHECK(outcome.rows[2]["kind"] == "sync");
  CHECK(outcome.rows[3].dump() == R"({"kind":"note","section":"the kernels","what":"it was warm"})");
  CHECK_THAT(outcome.messages, Catch::Contains("wrote 2 measurements to "));
  CHECK_THAT(outcome.messages, Catch::Contains("next: gradway calibrate fit "));
}

TEST_CASE("a run for adapt passes this to its jobs and prints the next command") {
  const auto emit = [](Context& context) {
    CHECK(context.quick);
    CHECK(context.adapt);
    emit_one(context);
  };
  const auto outcome = run(facts_of(1), {job("links", emit)}, {"--adapt"});
  CHECK(outcome.rows.size() == 2);
  CHECK_THAT(outcome.messages, Catch::Contains("next: gradway calibrate adapt CALIBRATION "));
  CHECK_THAT(run(facts_of(1), {}, {"--adapt", "--quick"}).messages,
             Catch::Contains("error: --quick excludes --adapt"));
}

TEST_CASE("libraries are searched below the given folders before measuring") {
  const auto outcome = run(facts_of(1), {job("links", emit_one)}, {"--libraries", "/"});
  CHECK(outcome.status == Status::done);
  CHECK_THAT(outcome.messages, Catch::StartsWith("looked below /\n"));
  const auto wrong = run(facts_of(1), {}, {"--libraries", "/no/such/folder"});
  CHECK(wrong.status == Status::wrong_input);
  CHECK_THAT(wrong.messages, Catch::Contains("Directory does not exist: /no/such/folder"));
}

TEST_CASE("the file is compressed if its name ends in .gz, and its bytes do not depend on the clock") {
  const Folder folder;
  const auto outcome = run(facts_of(1), {job("links", emit_one)}, {}, "samples.json.gz");
  CHECK(outcome.rows.size() == 2);
}

TEST_CASE("a job has a process for each GPU, with synchronised measurements") {
  const auto outcome =
      run(facts_of(3), {job(
                           "collectives",
                           [](Context& context) {
                             auto& group = *context.group;
                             const auto all = group.gather(10.0 * group.rank() + context.gpu);
                             const auto largest = group.largest(group.rank() == 1 ? 7 : 1);
                             const auto value_of_rank_0 = group.value_of_rank_0(group.rank() == 0 ? 5 : 6);
                             if (largest != 7 || value_of_rank_0 != 5)
                               throw std::runtime_error{"out of step"};
                             Row row{{"kind", "launch"}};
                             row["seconds"] = all;
                             context.emit(row);
                           },
                           true)});
  CHECK(outcome.status == Status::done);
  REQUIRE(outcome.rows.size() == 2);
  CHECK(outcome.rows[1]["seconds"].dump() == "[0.0,11.0,22.0]");
}

TEST_CASE("each job has its own environment") {
  auto first = job("links", [](Context& context) {
    context.emit({{"kind", "launch"}, {"seconds", 1.0}, {"shm", std::getenv("NCCL_SHM_DISABLE") != nullptr}});
  });
  auto second = first;
  first.environment = {{"NCCL_SHM_DISABLE", "1"}};
  const auto outcome = run(facts_of(1), {first, second});
  REQUIRE(outcome.rows.size() == 3);
  CHECK(outcome.rows[1]["shm"] == true);
  CHECK(outcome.rows[2]["shm"] == false);
}

TEST_CASE("a failing probe keeps the rows of others and its earlier rows") {
  const auto fails = GENERATE(0, 1);
  const auto broken = job("links", [&](Context& context) {
    emit_one(context);
    if (fails == 0) throw std::runtime_error{"the GPU fell off the bus"};
    raise(SIGSEGV);
  });
  const auto outcome = run(facts_of(1), {broken, job("kernels", emit_one)});
  CHECK(outcome.status == Status::incomplete);
  REQUIRE(outcome.rows.size() == 4);
  CHECK(outcome.rows[1]["kind"] == "launch");
  CHECK(outcome.rows[2]["kind"] == "failed");
  CHECK(outcome.rows[2]["section"] == "the links");
  if (fails == 0) CHECK(outcome.rows[2]["what"] == "the GPU fell off the bus");
  if (fails == 1) CHECK(outcome.rows[2]["what"] == "a process was ended by signal 11 (Segmentation fault)");
  CHECK(outcome.rows[3]["kind"] == "launch");
  CHECK_THAT(outcome.messages, Catch::Contains("one probe failed; see the rows"));
}

TEST_CASE("when a rank fails the others end too, and the first cause is reported") {
  const auto broken = job(
      "collectives",
      [](Context& context) {
        if (context.group->rank() == 2) throw std::runtime_error{"rank 2 has no memory"};
        context.group->wait_for_all();
        context.group->wait_for_all();
      },
      true);
  const auto outcome = run(facts_of(3), {broken});
  CHECK(outcome.status == Status::incomplete);
  REQUIRE(outcome.rows.size() == 2);
  CHECK(outcome.rows[1]["what"] == "rank 2 has no memory");
}

TEST_CASE("an interrupted run keeps what was measured and starts nothing more") {
  const auto slow = job("links", [](Context& context) {
    emit_one(context);
    std::this_thread::sleep_for(std::chrono::minutes{2});
  });
  const auto begin = std::chrono::steady_clock::now();
  std::jthread user{[] {
    std::this_thread::sleep_for(std::chrono::milliseconds{500});
    interrupted = true;
  }};
  const auto outcome = run(facts_of(1), {slow, job("kernels", emit_one)});
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::minutes{1});
  CHECK(outcome.status == Status::interrupted);
  REQUIRE(outcome.rows.size() == 3);
  CHECK(outcome.rows[1]["kind"] == "launch");
  CHECK(outcome.rows[2]["what"] == "interrupted");
  CHECK_THAT(outcome.messages, Catch::Contains("interrupted: earlier measurements are kept"));
}

TEST_CASE("the option --only runs the given sections and the test of the instrument") {
  const auto outcome =
      run(facts_of(1), {job("instrument", emit_one), job("links", emit_one), job("kernels", emit_one)},
          {"--only", "links"});
  CHECK(outcome.rows.size() == 3);
}

TEST_CASE("a node without GPUs is refused in one line, and no file is left") {
  const auto outcome =
      run(job("facts", [](Context&) { throw std::runtime_error{"there is no GPU here"}; }), {});
  CHECK(outcome.status == Status::wrong_input);
  CHECK(outcome.messages == "gradway-probe: there is no GPU here\n");
  CHECK(outcome.rows.empty());
}

TEST_CASE("an invalid command line is refused before measuring") {
  const auto [arguments, text] = GENERATE(table<std::vector<std::string>, std::string>({
      {{"--only", "link"}, "error: unknown section 'link'\n  hint: did you mean 'links'?\n"},
      {{"--quik"},
       "error: The following argument was not expected: --quik\n  hint: gradway-probe --help lists the "
       "options\n"},
      {{"--gpus", "0"},
       "error: --gpus: Value 0 not in range 1 to 1024\n  hint: gradway-probe --help lists the options\n"},
  }));
  const auto outcome = run(facts_of(1), {job("links", emit_one)}, arguments);
  CHECK(outcome.status == Status::wrong_input);
  CHECK(outcome.messages == text);
  CHECK(outcome.rows.empty());
}

TEST_CASE("an output that cannot be written is refused before measuring") {
  const auto outcome =
      run(facts_of(1), {job("links", [](Context&) { std::this_thread::sleep_for(std::chrono::hours{1}); })},
          {}, "no-such-folder/samples.json");
  CHECK(outcome.status == Status::wrong_input);
  CHECK_THAT(outcome.messages, Catch::EndsWith("no-such-folder/samples.json' cannot be written\n"));
}

TEST_CASE("measurements that did not settle are counted") {
  const auto outcome =
      run(facts_of(1), {job("links", [](Context& context) {
            context.emit(measured({{"kind", "launch"}},
                                  {.median = Seconds{1.23456789e-6}, .repeats = 3, .noisy = true}));
          })});
  CHECK(outcome.rows[1].dump() ==
        R"({"kind":"launch","seconds":1.23457e-06,"low":0.0,"high":0.0,"repeats":3,"noisy":true})");
  CHECK_THAT(outcome.messages,
             Catch::StartsWith("[1 of 1] the links, about 0 s left\n1 of 1 measurements did not converge"));
}

}  // namespace
}  // namespace gradway::probe
