// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "tests/cli/program.hpp"

using namespace gradway::testing;
using Catch::Matchers::Contains;

TEST_CASE("a reader that has seen enough is no error", "[cli][streams]") {
  const auto outcome = run_gradway({"list", "platforms"}, {.output_broken = true});
  CHECK(outcome.status == 0);
  CHECK(outcome.errors.empty());
}

TEST_CASE("results that cannot be written are told", "[cli][streams]") {
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
  CHECK_THAT(content_of(folder.path() / "trace.json"), Catch::Matchers::EndsWith("]}\n"));
}

#ifndef __SANITIZE_ADDRESS__  // needs more address space than any limit leaves
TEST_CASE("a simulation without enough memory could not finish", "[cli][streams]") {
  const auto outcome = run_gradway({"run", "scale/ddp-24", "--no-folding", "--set", "steps=10000"},
                                   {.most_memory = std::size_t{400} << 20U});

  CHECK(outcome.status == 3);
  CHECK(outcome.output.empty());
  CHECK(outcome.errors ==
        "error: there is not enough memory for this simulation\n  hint: simulate fewer ranks or steps\n");
}
#endif
