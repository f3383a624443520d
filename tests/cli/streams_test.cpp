// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <cstdlib>
#include <filesystem>

#include "sim/files/text_file.hpp"
#include "tests/cli/program.hpp"

using namespace gradway::testing;
using Catch::Matchers::Contains;

TEST_CASE("a reader that stops early is not an error", "[cli][streams]") {
  const auto outcome = run_gradway({"list", "platforms"}, {.output_broken = true});
  CHECK(outcome.status == 0);
  CHECK(outcome.errors.empty());
}

TEST_CASE("results that cannot be written are an error", "[cli][streams]") {
  const auto closed = run_gradway({"list", "platforms"}, {.output_closed = true});
  CHECK(closed.status == 2);
  CHECK_THAT(closed.errors, Contains("error: cannot write to standard output: "));

  const auto full = run_gradway({"list", "platforms"}, {.output_to = "/dev/full"});
  CHECK(full.status == 2);
  CHECK(full.errors == "error: cannot write to standard output: No space left on device\n");
}

TEST_CASE("results never land in a file that took the place of standard output", "[cli][streams]") {
  const TemporaryFolder folder;
  const auto outcome = run_gradway({"run", "article/g6e", "--out", folder.path()}, {.output_closed = true});

  CHECK(outcome.status == 2);
  CHECK_THAT(content_of(folder.path() / "report.json"), Catch::Matchers::StartsWith("{\n  \"schema\": 1"));
  CHECK_THAT(gradway::read_text_file((folder.path() / "trace.json.gz").string()).content,
             Catch::Matchers::EndsWith("]}\n"));
}

#ifndef __SANITIZE_ADDRESS__  // needs more address space than any limit leaves
TEST_CASE("a simulation without enough memory could not finish", "[cli][streams]") {
  const auto outcome =
      run_gradway({"run", "scale/ddp-24", "--no-folding", "--set", "job.gpus=16384", "--set", "steps=2"},
                  {.most_memory = std::size_t{400} << 20U});

  CHECK(outcome.status == 3);
  CHECK(outcome.output.empty());
  CHECK(outcome.errors ==
        "error: there is not enough memory for this simulation\n  hint: simulate fewer ranks or steps\n");
}

TEST_CASE("too many steps for the memory are refused before they are simulated", "[cli][streams]") {
  const auto outcome = run_gradway({"run", "scale/ddp-24", "--no-folding", "--set", "steps=10000"},
                                   {.most_memory = std::size_t{400} << 20U});

  CHECK(outcome.status == 3);
  CHECK(outcome.output.empty());
  CHECK_THAT(outcome.errors, Catch::Matchers::StartsWith("error: 10000 steps take about ") &&
                                 Catch::Matchers::Contains(
                                     " GB of memory, and there are 0.42 GB; simulate fewer steps (steps: "));
}

TEST_CASE("too little memory is not reported as a bug in any command", "[cli][streams]") {
  auto arguments = GENERATE(
      std::vector<std::string>{"sweep", "scale/ddp-24", "--vary", "job.gpus=4096,8192", "--no-folding"},
      std::vector<std::string>{"compare", "scale/ddp-24", "--platforms", "synthetic-star,synthetic-ring"},
      std::vector<std::string>{"explain", "scale/ddp-24"},
      std::vector<std::string>{"optimize", "scale/ddp-24"});
  CAPTURE(arguments.front());
  arguments.insert(arguments.end(), {"--set", "steps=10000", "--jobs", "2"});
  const auto outcome = run_gradway(arguments, {.most_memory = std::size_t{400} << 20U});

  CHECK(outcome.status == 3);
  CHECK(outcome.output.empty());
  CHECK_THAT(outcome.errors, Catch::Matchers::StartsWith("error: ") && Catch::Matchers::Contains(" memory") &&
                                 Catch::Matchers::Contains("simulate fewer "));
}
#endif

TEST_CASE("files that may not get as large as they must leave nothing behind", "[cli][streams]") {
  const TemporaryFolder folder;
  const auto out = folder.path() / "out";
  const auto outcome = run_gradway({"run", "article/g6e", "--out", out}, {.largest_file = 100 << 10U});

  CHECK(outcome.status == 2);
  CHECK(outcome.output.empty());
  CHECK(outcome.errors == "error: cannot write to '" + out.string() +
                              "': File too large\n  hint: choose another place for --out\n");
  CHECK_FALSE(std::filesystem::exists(out));
}

TEST_CASE("a symbolic link with the name of a temporary file is not followed", "[cli][streams]") {
  const TemporaryFolder folder;
  folder.write("victim", "precious\n");
  folder.write("out/kept", "");
  const auto command = "cd '" + folder.path().string() +
                       "' && for name in report.json trace.json.gz report.html; do ln -s ../victim "
                       "out/.$name.$$; done && exec '" +
                       GRADWAY_PROGRAM + "' run article/g6e --out out >output 2>&1";
  CHECK(std::system(command.c_str()) == 0);
  CHECK(content_of(folder.path() / "victim") == "precious\n");
}
