// SPDX-License-Identifier: Apache-2.0
// What a person sees: colours and the whole width on a terminal, neither anywhere else.
#include <algorithm>
#include <sstream>

#include <catch2/catch.hpp>

#include "sim/report/format/text.hpp"
#include "tests/cli/program.hpp"

using namespace gradway::testing;

namespace {

std::size_t widest_line(const std::string& text) {
  std::istringstream lines{text};
  std::size_t widest = 0;
  for (std::string line; std::getline(lines, line);)
    widest = std::max(widest, gradway::report::columns_of(line));
  return widest;
}

const std::vector<std::vector<std::string>> commands{
    {"run", "article/g6e"},
    {"sweep", "article/p4d", "--vary", "strategy.bucket_cap=25 MiB,50 MiB,100 MiB,200 MiB", "--vary",
     "strategy.comm_hook=none,bf16,powersgd"},
    {"sweep", "article/p4d", "--vary", "platform=aws-p4d.24xlarge,aws-g6e.48xlarge", "--vary",
     "strategy.gradient_as_bucket_view=true,false", "--vary", "strategy.comm_hook=none,bf16,powersgd"},
    {"compare", "article/p4d", "--platforms", "aws-g6e.48xlarge,aws-p4d.24xlarge", "--samples", "1e9"},
    {"validate", "scenarios/article/cases.yaml"},
    {"optimize", "article/g6e"},
    {"optimize", "article/g6e", "--lossy", "--over", "comm_hook,bucket_cap,powersgd_rank", "--over",
     "nccl.NCCL_PROTO=Simple,LL"}};

}  // namespace

TEST_CASE("results fit a terminal of 80 columns, and nothing is cut in a pipe", "[cli][terminal]") {
  std::size_t alike = 0;
  for (const auto& command : commands) {
    CAPTURE(command);
    const auto on_terminal = run_gradway(command, {.terminal = 80});
    CHECK(on_terminal.status == 0);
    CHECK(widest_line(on_terminal.output) <= 80);
    CHECK(on_terminal.output.find('\x1b') != std::string::npos);
    const auto without_colours = run_gradway(command, {.terminal = 80, .no_color = true});
    CHECK(widest_line(without_colours.output) <= 80);
    CHECK(without_colours.output.find('\x1b') == std::string::npos);
    const auto piped = run_gradway(command);
    CHECK(piped.output.find('\x1b') == std::string::npos);
    CHECK(piped.output.find("…") == std::string::npos);
    CHECK(piped.errors.empty());
    // A table that is wider than the terminal is cut there alone.
    if (widest_line(piped.output) > 80) continue;
    ++alike;
    CHECK(without_colours.output == piped.output);
  }
  CHECK(alike >= 3);
}

TEST_CASE("tables use a wide terminal, running text does not", "[cli][terminal]") {
  const auto sweep = run_gradway(commands[2], {.terminal = 160, .no_color = true});
  CHECK(sweep.output.find("gradient_as_bucket_view  comm_hook") != std::string::npos);
  CHECK(sweep.output.find("USD/M samples") != std::string::npos);
  CHECK(sweep.output.find("aws-p4d.24xlarge") != std::string::npos);
  CHECK(widest_line(sweep.output) > 80);
  CHECK(widest_line(run_gradway({"run", "article/g6e"}, {.terminal = 160}).output) <= 100);
}
