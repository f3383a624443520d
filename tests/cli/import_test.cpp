// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "tests/cli/program.hpp"
#include "tests/readers/trace_builder.hpp"

using namespace gradway::testing;
using Catch::Matchers::Contains;

namespace {

/// A folder with a trace in it, and gradway run there.
struct Desk {
  TemporaryFolder folder;

  Desk() { folder.write("trace.json", trace_of(small_step()).json()); }

  Outcome import(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "import");
    return run_gradway(arguments, {.folder = folder.path()});
  }
  bool has(const std::string& file) const { return std::filesystem::exists(folder.path() / file); }
  std::string content(const std::string& file) const { return content_of(folder.path() / file); }
  std::ptrdiff_t files() const {
    return std::distance(std::filesystem::directory_iterator{folder.path()}, {});
  }
};

}  // namespace

TEST_CASE("a trace becomes a model that can be shown", "[cli][import]") {
  const Desk desk;

  const auto outcome = desk.import({"kineto", "trace.json", "-o", "models/mine.yaml"});

  CHECK(outcome.status == 0);
  CHECK(outcome.errors.empty());
  CHECK_THAT(outcome.output, Contains("models/mine.yaml\n"));
  CHECK_THAT(outcome.output, Contains("h200, fp32, batch 4, sgd"));
  CHECK_THAT(outcome.output, Contains("3, 396 us each under the profiler"));
  CHECK_THAT(outcome.output, Contains("1 tensor, 128 elements, 512 B"));
  CHECK_THAT(desk.content("models/mine.yaml"),
             Contains("source: >-\n  PyTorch profiler trace trace.json, 3 steps\n"));
  CHECK_THAT(desk.content("models/mine.yaml"), !Contains("step_time"));
  const auto shown = run_gradway({"show", "model", "models/mine.yaml"}, {.folder = desk.folder.path()});
  CHECK(shown.status == 0);
  CHECK_THAT(shown.output, Contains("forward    matrix          1  280 us   25 us  1.024 kFLOP"));
}

TEST_CASE("the time without the profiler can be written with or without a blank", "[cli][import]") {
  const Desk desk;
  using Row = std::vector<std::string>;
  const auto words = GENERATE(values<Row>({{"trace.json", "-o", "x.yaml", "--step-time", "0.39", "ms"},
                                           {"trace.json", "--step-time", "0.39", "ms", "-o", "x.yaml"},
                                           {"--step-time", "0.39", "ms", "trace.json", "-o", "x.yaml"},
                                           {"trace.json", "-o", "x.yaml", "--step-time", "0.39 ms"},
                                           {"trace.json", "-o", "x.yaml", "--step-time=390us"}}));
  auto arguments = words;
  arguments.insert(arguments.begin(), "kineto");

  const auto outcome = desk.import(arguments);

  CHECK(outcome.errors.empty());
  CHECK(outcome.status == 0);
  CHECK_THAT(desk.content("x.yaml"), Contains("\nstep_time: 0.39 ms\n"));
}

TEST_CASE("what the user gives stands in the file", "[cli][import]") {
  const Desk desk;

  const auto outcome = desk.import(
      {"kineto", "trace.json", "-o", "x.yml", "--gpu", "l40s", "--precision", "tf32", "--batch", "2"});

  CHECK(outcome.status == 0);
  CHECK_THAT(desk.content("x.yml"), Contains("\ngpu: l40s\nprecision: tf32\nbatch: 2\n"));
}

TEST_CASE("a model that is there is replaced only by force", "[cli][import]") {
  const Desk desk;
  desk.folder.write("x.yaml", "mine");

  const auto refused = desk.import({"kineto", "trace.json", "-o", "x.yaml"});
  CHECK(refused.status == 2);
  CHECK(refused.errors ==
        "error: 'x.yaml' already exists\n  hint: choose another name, or give --force to replace it\n");
  CHECK(desk.content("x.yaml") == "mine");

  CHECK(desk.import({"kineto", "trace.json", "-o", "x.yaml", "--force"}).status == 0);
  CHECK_THAT(desk.content("x.yaml"), Contains("kind: profile"));
}

TEST_CASE("a wrong import is refused and leaves no file", "[cli][import]") {
  const Desk desk;
  desk.folder.write("cut.json", "{\"traceEvents\": [");
  using Row = std::pair<std::vector<std::string>, std::string>;
  const auto [arguments, errors] = GENERATE(values<Row>({
      {{"kinetto", "trace.json", "-o", "x.yaml"},
       "error: there is no import format 'kinetto'\n  hint: did you mean 'kineto'?\n"},
      {{"pprof", "trace.json", "-o", "x.yaml"},
       "error: there is no import format 'pprof'\n  hint: known: probe, hf, topo, nsys, prices and 12 "
       "more\n"},
      {{"kineto", "nope.json", "-o", "x.yaml"}, "nope.json: error: there is no such file\n"},
      {{"kineto", "cut.json", "-o", "x.yaml"},
       "cut.json:1:18: error: the file is cut here, before the end of the first whole step\n  hint: copy it "
       "again, or record it again\n"},
      {{"kineto", "trace.json", "-o", "x.json"},
       "error: '--out x.json' does not end in .yaml\n  hint: models are YAML files\n"},
      {{"kineto", "trace.json", "other.json", "-o", "x.yaml"},
       "error: unexpected argument 'other.json' of 'gradway import'\n  hint: see 'gradway import --help'\n"},
      {{"kineto", "-o", "x.yaml"},
       "error: 'gradway import' needs FILE\n"
       "  hint: file to import, plain or compressed by gzip; several for nccl-tests, rccl-tests, nccl-log "
       "and trainer (see "
       "'gradway import "
       "--help')\n"},
      {{"kineto", "trace.json", "-o", "x.yaml", "--step-time", "39"},
       "--step-time: error: '39' has no unit\n  hint: add a unit such as 'us' or 'ms'\n"},
      {{"kineto", "trace.json", "-o", "x.yaml", "--step-time", "39", "parsecs"},
       "error: unexpected argument 'parsecs' of 'gradway import'\n  hint: see 'gradway import --help'\n"},
      {{"kineto", "trace.json", "-o", "x.yaml", "--precision", "fp8"},
       "--precision: error: invalid precision 'fp8'\n  hint: known: fp32, tf32, bf16, fp16\n"},
      {{"kineto", "trace.json", "-o", "x.yaml", "--batch", "many"},
       "--batch: error: 'many' is not a whole number\n"},
      {{"kineto", "trace.json", "-o", "x.yaml", "--gpu", "h2000"},
       "error: unknown GPU in '--gpu h2000'\n  hint: did you mean 'h200'?\n"},
      {{"kineto", "trace.json", "-o", "trace.json/x.yaml"},
       "error: cannot write to 'trace.json': Not a directory\n  hint: choose another place for --out\n"},
  }));
  CAPTURE(arguments);

  const auto outcome = desk.import(arguments);

  CHECK(outcome.status == 2);
  CHECK(outcome.output.empty());
  CHECK(outcome.errors == errors);
  CHECK(desk.files() == 2);
}

TEST_CASE("warnings go to standard error, the summary to standard output", "[cli][import]") {
  const Desk desk;
  desk.folder.write("one.json", trace_of(small_step(), {.steps = 1}).json());

  const auto outcome = desk.import({"kineto", "one.json", "-o", "x.yaml"});

  CHECK(outcome.status == 0);
  CHECK(outcome.errors ==
        "warning: the trace has only one complete step: record several to see whether it is typical\n");
  CHECK_THAT(outcome.output, Contains("limited by"));
}

TEST_CASE("without --out the model is printed, and the same is written with it", "[cli][import]") {
  const Desk desk;
  const auto printed = desk.import({"kineto", "trace.json"});
  CHECK(printed.status == 0);
  CHECK_THAT(printed.output, Catch::Matchers::StartsWith("schema: 1\nkind: profile\n"));
  desk.import({"kineto", "trace.json", "-o", "mine.yaml"});
  CHECK(desk.content("mine.yaml") == printed.output);
}
