// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include "tests/cli/program.hpp"

using namespace gradway::testing;
using Catch::Matchers::Contains;
namespace fs = std::filesystem;

namespace {

/// A sweep, some of whose points fail.
const std::vector<std::string> axes{"--vary", "job.gpus=1,2,4,5", "--vary",
                                    "strategy.bucket_cap=5 MiB,25 MiB,100 MiB"};

std::vector<std::string> command(std::vector<std::string> options,
                                 const std::vector<std::string>& vary = axes) {
  options.insert(options.begin(), {"sweep", "h200-4x/vit_l_32"});
  options.insert(options.end(), vary.begin(), vary.end());
  return options;
}

Outcome shard(const fs::path& out, const std::string& which, const std::vector<std::string>& vary = axes) {
  return run_gradway(command({"--shard", which, "--out", out.string()}, vary));
}

Outcome merge(const fs::path& folder, const std::vector<std::string>& more = {"--json"}) {
  std::vector<std::string> arguments{"sweep", "--merge", folder.string()};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return run_gradway(arguments);
}

}  // namespace

TEST_CASE("shards give the bytes of the sweep on one machine", "[cli][sweep]") {
  const TemporaryFolder folder;
  const auto [here, there, whole, made] = std::array{folder.path() / "here", folder.path() / "there",
                                                     folder.path() / "whole", folder.path() / "made"};
  const auto one = run_gradway(command({"--out", whole.string()}));
  REQUIRE(one.status == 2);  // 5 GPUs are more than there are
  for (const auto* which : {"1/5", "2/5", "4/5"}) shard(here, which);
  for (const auto* which : {"3/5", "5/5", "1/5"}) shard(there, which);  // one of them twice
  const auto merged =
      run_gradway({"sweep", "--merge", here.string(), there.string(), "--out", made.string()});
  CHECK(merged.status == one.status);
  CHECK(merged.output == one.output);
  CHECK_THAT(merged.errors, Contains("; merged of 5 shards\n"));
  for (const auto* name : {"sweep.json", "sweep.csv", "report.html"}) {
    if (!fs::exists(whole / name)) continue;  // gradway was built without its page
    CAPTURE(name);
    CHECK(content_of(made / name) == content_of(whole / name));
  }
  CHECK(merge(folder.path() / "here" / "shard-1-of-5").status == 2);
}

TEST_CASE("a shard that was interrupted continues", "[cli][sweep]") {
  const TemporaryFolder folder;
  const auto points = folder.path() / "shard-1-of-1" / "points";
  const std::vector<std::string> vary{"--vary", "job.batch_per_gpu=1..400"};
  const auto arguments = command({"--shard", "1/1", "--out", folder.path().string(), "--jobs", "1"}, vary);

  const auto worker = ::fork();
  REQUIRE(worker >= 0);
  if (worker == 0) {
    std::vector<char*> words{const_cast<char*>(GRADWAY_PROGRAM)};
    for (const auto& word : arguments) words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    if (::chdir(GRADWAY_SOURCE_DIR) == 0) ::execv(GRADWAY_PROGRAM, words.data());
    ::_exit(127);
  }
  const auto finished = [&] {
    std::error_code none_yet;
    return std::distance(fs::directory_iterator{points, none_yet}, fs::directory_iterator{});
  };
  for (int i = 0; i < 3000 && finished() < 20; ++i) std::this_thread::sleep_for(std::chrono::milliseconds{5});
  ::kill(worker, SIGKILL);
  int status = 0;
  ::waitpid(worker, &status, 0);
  REQUIRE(WIFSIGNALED(status));

  const auto unfinished = merge(folder.path());
  CHECK(unfinished.status == 2);
  CHECK(unfinished.errors == "error: there is no finished shard in '" + folder.path().string() +
                                 "'\n  hint: name the folders that '--shard' wrote into with '--out'\n");
  const auto again = run_gradway(arguments);
  CHECK(again.status == 0);
  CHECK_THAT(again.errors, !Contains("; 0 of 400 points were taken from an earlier run"));
  CHECK(merge(folder.path()).output == run_gradway(command({"--json"}, vary)).output);
}

TEST_CASE("shards that are missing, of another sweep or damaged are named", "[cli][sweep]") {
  const TemporaryFolder folder;
  const auto out = folder.path() / "out";
  const auto refused = [&] {
    const auto outcome = merge(out);
    CHECK(outcome.status == 2);
    CHECK(outcome.output.empty());
    return outcome.errors;
  };
  shard(out, "2/4");
  CHECK(refused() ==
        "error: 3 of 4 shards are missing or not finished: 1, 3, 4\n"
        "  hint: run it again with '--shard 1/4': finished points are not simulated again\n");
  for (const auto* which : {"1/4", "4/4"}) shard(out, which);
  CHECK(refused() ==
        "error: 1 of 4 shards is missing or not finished: 3\n"
        "  hint: run it again with '--shard 3/4': finished points are not simulated again\n");
  shard(out, "3/4");
  REQUIRE(merge(out).status == 2);
  REQUIRE_FALSE(merge(out).output.empty());

  const auto foreign = [&](const std::string& name, const std::string& why) {
    const auto text = "error: '" + (out / name).string() + "' belongs to another sweep than '" +
                      (out / "shard-1-of-4").string() + "': " + why +
                      "\n  hint: leave it out, or move it to another folder\n";
    CHECK(refused() == text);
    fs::remove_all(out / name);
  };
  shard(out, "1/5");
  foreign("shard-1-of-5", "it is one of 5 shards instead of 4");
  shard(out, "1/6", {"--vary", "job.gpus=1,2"});
  foreign("shard-1-of-6", "it varies other values");
  auto other = axes;
  other.insert(other.end(), {"--set", "job.batch_per_gpu=16"});
  shard(out, "1/7", other);
  foreign("shard-1-of-7", "its settings or files differ");
  run_gradway({"sweep", "article/g6e", "--vary", "job.gpus=1,2", "--shard", "1/8", "--out", out.string()});
  foreign("shard-1-of-8", "its scenario is 'g6e', not 'vit_l_32'");

  const auto summary = out / "shard-2-of-4" / "shard.json";
  const auto whole = content_of(summary);
  for (const auto& damaged :
       {std::string{}, std::string{"{}"}, whole.substr(0, whole.size() - 2), whole + " "}) {
    std::ofstream{summary, std::ios::binary} << damaged;
    CHECK(refused() == "error: '" + summary.string() +
                           "' is damaged, or is not a shard\n  hint: run this shard again: finished points "
                           "are not simulated again\n");
  }
  std::ofstream{summary, std::ios::binary} << whole;
  const auto points = out / "shard-2-of-4" / "points";
  REQUIRE(std::distance(fs::directory_iterator{points}, fs::directory_iterator{}) > 0);
  fs::remove(fs::directory_iterator { points } -> path());
  CHECK(refused() == "error: 1 of the 3 points of shard 2 of 4 in '" + (out / "shard-2-of-4").string() +
                         "' are missing or damaged\n  hint: run it again with '--shard 2/4': finished points "
                         "are not simulated again\n");
  shard(out, "2/4");
  CHECK_FALSE(merge(out).output.empty());
}

TEST_CASE("wrong arguments of shards and merges are refused with a hint", "[cli][sweep]") {
  const TemporaryFolder folder;
  const auto out = (folder.path() / "out").string();
  const auto errors = [](const std::vector<std::string>& arguments) {
    const auto outcome = run_gradway(arguments);
    CHECK(outcome.status == 2);
    CHECK(outcome.output.empty());
    return outcome.errors;
  };
  CHECK(errors({"sweep"}) ==
        "error: 'gradway sweep' needs SCENARIO\n"
        "  hint: scenario: a file, or a name from 'gradway list scenarios' (see 'gradway sweep --help')\n");
  CHECK(errors(command({"--shard", "1/2"})) ==
        "error: '--shard' needs '--out'\n  hint: give a folder for 'gradway sweep --merge'\n");
  CHECK(errors(command({"--shard", "1/2", "--out", out, "--csv"})) ==
        "error: a shard is not printed, so '--shard' does not go with '--json' or '--csv'\n"
        "  hint: give them to 'gradway sweep --merge' instead\n");
  CHECK_THAT(errors(command({"--shard", "3/2", "--out", out})), Contains("does not exist"));
  CHECK(errors({"sweep", "article/g6e", "--merge", out}) ==
        "error: '--merge' does not go with SCENARIO\n  hint: leave it out: shards have their settings\n");
  CHECK(errors({"sweep", "--merge", out, "--set", "job.gpus=2"}) ==
        "error: '--merge' does not go with '--set'\n  hint: leave it out: shards have their settings\n");
  CHECK(errors({"sweep", "--merge", out}) == "error: cannot read '" + out +
                                                 "': No such file or directory\n"
                                                 "  hint: name the folders that '--shard' wrote into\n");
}

TEST_CASE("a merge reports points that all fail like the sweep", "[cli][sweep]") {
  const TemporaryFolder folder;
  const std::vector<std::string> vary{"--vary", "job.gpus=9,10"};
  for (const auto* which : {"1/2", "2/2"}) CHECK(shard(folder.path(), which, vary).status == 2);
  const auto one = run_gradway(command({}, vary));
  const auto merged = merge(folder.path());
  CHECK(merged.status == one.status);
  CHECK(merged.output.empty());
  CHECK(merged.errors == one.errors);
}
