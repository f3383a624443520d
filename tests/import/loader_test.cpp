// SPDX-License-Identifier: Apache-2.0
// Runs of a DataLoader with several numbers of workers, to what a sample takes and what is the limit.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "sim/files/text_file.hpp"
#include "sim/import/loader/loader_costs.hpp"
#include "tests/support/config_files.hpp"

using namespace gradway;
using Catch::Matchers::Contains;

namespace {

std::vector<LoaderRun> runs_of(const std::vector<int>& workers, double each, double most) {
  std::vector<LoaderRun> runs;
  for (const auto count : workers) {
    LoaderRun run{.workers = count, .batch = 64, .batches = 100, .seconds = {}, .samples = 5000};
    run.seconds = Seconds{6400 / std::min(count / each, most)};
    run.first_batch = Seconds{64 * each + 0.1 + 0.02 * count};
    runs.push_back(run);
  }
  return runs;
}

std::vector<LoaderRun> read(const std::string& text) {
  return read_loader_log({"loader.log", text});
}

std::string problems_of(const std::string& text) {
  try {
    read(text);
  } catch (const ConfigError& error) {
    std::string all;
    for (const auto& problem : error.problems()) all += to_text(problem);
    return all;
  }
  return "";
}

const std::string good =
    R"({"workers": 2, "batch": 64, "batches": 10, "seconds": 1.5, "samples": 1000, "bytes": 110000, "threads": 8})";

}  // namespace

TEST_CASE("runs that follow the rule exactly give its costs back without error", "[import]") {
  const auto costs = fit_loader(runs_of({1, 2, 4, 8, 16, 32}, 4e-3, 1500));
  CHECK(costs.each.value() == Approx(4e-3).epsilon(1e-12));
  REQUIRE(costs.most);
  CHECK(*costs.most == Approx(1500).epsilon(1e-12));
  CHECK(costs.mean_error() < 1e-12);
  REQUIRE(costs.start);
  CHECK(costs.start->value() == Approx(0.02).epsilon(1e-9));
  CHECK(costs.start_error.value() < 1e-9);
}

TEST_CASE("where workers are the limit in all runs no other one is seen", "[import]") {
  const auto costs = fit_loader(runs_of({1, 2, 4, 8}, 4e-3, 1e9));
  CHECK_FALSE(costs.most);
  CHECK(costs.each.value() == Approx(4e-3).epsilon(1e-12));
  // Nor where runs differ by a few percent.
  auto runs = runs_of({1, 2, 4, 8}, 4e-3, 1e9);
  runs[3].seconds = runs[3].seconds * 1.03;
  runs[1].seconds = runs[1].seconds * 0.98;
  CHECK_FALSE(fit_loader(runs).most);
  // One number of workers tells what a sample takes, and no error of it.
  const auto single = fit_loader(runs_of({4}, 4e-3, 1e9));
  CHECK(single.each.value() == Approx(4e-3).epsilon(1e-12));
  CHECK(single.each_error == 0);
}

TEST_CASE("the error of what a sample takes is that of the mean of its logarithms", "[import]") {
  auto runs = runs_of({1, 2, 4}, 4e-3, 1e9);
  runs[0].seconds = runs[0].seconds * std::exp(0.03);
  runs[2].seconds = runs[2].seconds * std::exp(-0.03);
  const auto costs = fit_loader(runs);
  CHECK(costs.each.value() == Approx(4e-3).epsilon(1e-9));
  CHECK(costs.each_error == Approx(0.03 / std::sqrt(3)).epsilon(1e-9));
}

// JPEG files of 500x375 that PIL decodes, 32 threads on a virtual machine with an H200, 2026-11-22.
TEST_CASE("our own loader is fitted within 8 %, by one number for a sample", "[import][validation]") {
  const auto runs =
      read_loader_log(read_text_file(GRADWAY_SOURCE_DIR "/tests/import/data/loader-files.jsonl"));
  REQUIRE(runs.size() == 8);
  const auto costs = fit_loader(runs);
  // Timed by itself: 2.55 ms an item and 22 ms to collate 64.
  CHECK(costs.each.value() * 1e3 == Approx(2.549 + 22.02 / 64).epsilon(0.02));
  CHECK_FALSE(costs.most);  // its files were in the page cache
  for (const auto error : costs.errors) CHECK(std::abs(error) < 0.08);
  CHECK(costs.mean_error() < 0.035);
}

TEST_CASE("runs may stand among other lines of a log", "[import]") {
  const auto runs =
      read("loading ...\n" + good + "\nUserWarning: this DataLoader will create 16 worker processes\n");
  REQUIRE(runs.size() == 1);
  CHECK(runs[0].workers == 2);
  CHECK(runs[0].samples_per_s() == Approx(640 / 1.5));
  CHECK(runs[0].sample_size == 110000_B);
}

TEST_CASE("all that is wrong with runs is told at its place", "[import]") {
  CHECK(problems_of("nothing\n") ==
        "loader.log: error: there are no runs in it\n  hint: docs/data-path.md has a script that prints "
        "them\n");
  CHECK_THAT(problems_of(R"({"workers": 2,)"), Contains("loader.log:1:14: error: this is not JSON"));
  CHECK_THAT(
      problems_of("\n{\"worker\": 2, \"batch\": 64, \"batches\": 10, \"seconds\": 0, \"samples\": 1000}\n"),
      Contains("loader.log:2:3: error: unknown key 'worker'") && Contains("did you mean 'workers'?") &&
          Contains("loader.log:2:44: error: 'seconds' is a number from 1e-06 to 1e+07") &&
          Contains("loader.log:2:1: error: the key 'workers' is missing"));
  CHECK_THAT(problems_of(good + "\n" + good), Contains("loader.log:2:1: error: a second run with 2 workers"));
  auto other = good;
  other.replace(other.find("64"), 2, "32").replace(other.find(": 2"), 3, ": 4");
  CHECK_THAT(problems_of(good + "\n" + other),
             Contains("loader.log:2:1: error: samples, bytes, batch or threads are others"));
  CHECK_THAT(problems_of(R"({"workers": 2.5, "batch": "64", "batches": 1e400})"), Contains("too large"));
  CHECK_THAT(problems_of(R"({"workers": 2.5, "batch": "64"})"),
             Contains("'workers' is a whole number from 0 to 4096") &&
                 Contains("'batch' is a whole number from 1 to 1e+06"));
  CHECK_THAT(problems_of("{" + std::string(5000, '[')), Contains("this is not JSON"));
}
