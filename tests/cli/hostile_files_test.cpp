// SPDX-License-Identifier: Apache-2.0
// Small files that ask for much, or for what a terminal obeys: each is refused in few words, in little
// memory, and before a user loses patience.
#include <sys/stat.h>

#include <zlib.h>

#include <chrono>

#include <catch2/catch.hpp>

#include "sim/base/printable.hpp"
#include "tests/cli/program.hpp"
#include "tests/readers/trace_builder.hpp"

using namespace gradway;
using namespace gradway::testing;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;
using Words = std::vector<std::string>;

namespace {

constexpr std::size_t little_memory = 1'000'000'000;

std::string repeated(const std::string& text, std::size_t bytes) {
  std::string all;
  all.reserve(bytes);
  while (all.size() < bytes) all += text;
  return all;
}

/// Writes `head`, then `unit` until `bytes` are written, packed: some megabytes become some kilobytes.
void write_packed(const std::filesystem::path& file, const std::string& head, const std::string& unit,
                  std::size_t bytes) {
  const auto block = repeated(unit, 1 << 20);
  gzFile out = gzopen(file.c_str(), "wb1");
  gzwrite(out, head.data(), static_cast<unsigned>(head.size()));
  for (std::size_t done = 0; done < bytes; done += block.size())
    gzwrite(out, block.data(), static_cast<unsigned>(block.size()));
  gzclose(out);
}

/// Runs gradway on it in little memory; refused it must be, in few words. @return the words
std::string refusal_of(const Words& arguments, const TemporaryFolder& folder) {
  const auto outcome = run_gradway(arguments, {.folder = folder.path(), .most_memory = little_memory});
  CAPTURE(arguments, outcome.errors.substr(0, 1000));
  CHECK(outcome.status == 2);
  CHECK(outcome.output.empty());
  CHECK(outcome.errors.size() < 50'000);
  CHECK(first_control(outcome.errors, "\n\t") == std::string::npos);
  return outcome.errors;
}

}  // namespace

TEST_CASE("small packed files that unpack to one huge value, or to endless depth, are refused",
          "[cli][import]") {
  constexpr std::size_t much = 80'000'000;
  const TemporaryFolder folder;
  const auto refused = [&](const Words& arguments, const std::string& head, const std::string& unit) {
    write_packed(folder.path() / "f.gz", head, unit, much);
    return refusal_of(arguments, folder);
  };
  const Words kineto{"import", "kineto", "f.gz"};
  const Words probe{"import", "probe", "f.gz"};

  for (const auto* head : {"{\"traceEvents\": [", "{\"traceEvents\": [{\"name\": \""})
    CHECK_THAT(refused(kineto, head, " "),
               Contains("f.gz:1:") && Contains("a single value is longer than 16 MB\n  hint: "));
  CHECK_THAT(refused(kineto, "{\"traceEvents\": [{\"ts\": 1", "1"),
             Contains("f.gz:1:334: error: the number is too large\n  hint: "));
  CHECK_THAT(refused(kineto, "{\"traceEvents\": ", "["), Contains("nested deeper than 64 levels\n"));
  CHECK_THAT(refused(kineto, "{\"traceEvents\": ", "{\"a\":"), Contains("nested deeper than 64 levels\n"));
  CHECK_THAT(refused(probe, "[", " "), Contains("f.gz: error: the file has more than 64 MB\n  hint: "));
  CHECK_THAT(refused({"calibrate", "fit", "f.gz", "-o", "c.yaml"}, "", "["),
             Contains("the file has more than 64 MB\n"));
  write_packed(folder.path() / "f.gz", "", "[", 60'000'000);
  CHECK_THAT(refusal_of(probe, folder), Contains("nested deeper than 16 levels\n"));
}

TEST_CASE("a header of megabytes is not shown", "[cli][import]") {
  const TemporaryFolder folder;
  folder.write("t.txt", repeated("\tGPU0", 5'000'000) + "\n");
  CHECK_THAT(refusal_of({"import", "topo", "t.txt", "--gpu", "h200"}, folder),
             StartsWith("t.txt:1:7: error: 'GPU0' is not the next GPU\n") ||
                 StartsWith("t.txt:1:5122: error: the matrix has too many columns\n"));
}

TEST_CASE("long lines of YAML take no longer than short ones", "[cli]") {
  const TemporaryFolder folder;
  const auto start = std::chrono::steady_clock::now();
  folder.write("s.yaml", "schema: 1\na: [" + repeated("1,", 500'000) + "]\nmodel: x\n");
  CHECK_THAT(refusal_of({"run", "s.yaml"}, folder), Contains("s.yaml:2:1: error: unknown key 'a'\n"));
  folder.write("s.yaml", "schema: 1\na: [" + repeated("\"\xc3\xa4\",", 500'000) + "]\n");
  CHECK_THAT(refusal_of({"run", "s.yaml"}, folder), Contains("s.yaml:2:1: error: unknown key 'a'\n"));
  // Columns counted from the start of the line for each of its values took half a minute for each of these.
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds{20});

  folder.write("s.yaml", "schema: 1\na: [" + repeated("1,", 4'000'000) + "]\n");
  CHECK_THAT(refusal_of({"run", "s.yaml"}, folder),
             Contains("error: the file has more than 300000 values\n"));
}

TEST_CASE("each platform is read once for the hint of a name of many words", "[cli]") {
  const TemporaryFolder folder;
  // Read for each word, the platforms of these took hours.
  folder.write("prices.yaml", "schema: 1\nsource: x\nprices:\n  - { platform: oam" +
                                  repeated(" GPU0", 2'000'000) +
                                  ", per_node_hour: 68.8 USD/h, region: oci, date: 2026-09-18 }\n");
  CHECK_THAT(refusal_of({"run", "article/g6e", "--prices", "prices.yaml"}, folder),
             Contains("prices.yaml:4:17: error: invalid platform name 'oam GPU0") &&
                 Contains("\n  hint: write the name of its file in 'platforms' without '.yaml'\n"));
}

TEST_CASE("a value of megabytes is shown by its ends", "[cli]") {
  const TemporaryFolder folder;
  folder.write("s.yaml", "schema: 1\noptimizer: " + std::string(4'000'000, 'k') + "\n");
  CHECK_THAT(refusal_of({"run", "s.yaml"}, folder), Contains("s.yaml:2:12: error: invalid optimizer 'kkkk") &&
                                                        Contains(" more characters) ... kkk") &&
                                                        Contains("kkk'\n"));
}

TEST_CASE("thousands of cases without a scenario are reported in one message", "[cli][validate]") {
  const TemporaryFolder folder;
  std::string rows = "schema: 1\nsource: x\ncases:\n";
  for (int i = 0; i < 2000; ++i)
    rows += "  - { name: c" + std::to_string(i) + ", scenario: nope" + std::to_string(i) +
            ".yaml, step_time: 1 ms }\n";
  folder.write("c.yaml", rows);
  const auto start = std::chrono::steady_clock::now();
  CHECK_THAT(refusal_of({"validate", "c.yaml"}, folder), Contains("error: there is no file 'nope0.yaml'\n"));
  CHECK(std::chrono::steady_clock::now() - start <
        std::chrono::seconds{15});  // all data was read for each: 60 s
}

TEST_CASE("escape sequences are shown instead of sent to the terminal", "[cli]") {
  const TemporaryFolder folder;
  folder.write("e.yaml", "schema: 1\nmodel: \"x\\e]0;owned\\a\\e[2J\"\n");
  CHECK_THAT(refusal_of({"run", "e.yaml"}, folder),
             Contains("the text contains the control character U+001B\n"));
  CHECK_THAT(refusal_of({"run", "article/g6e", "--set", "model=\x1b[2Jx"}, folder), Contains("\\x1b[2Jx"));
  CHECK_THAT(refusal_of({"run", "no\x1b[31m\xe2\x80\xae.yaml"}, folder),
             StartsWith("no\\x1b[31m\\u202e.yaml: error: there is no such file\n"));
  CHECK_THAT(refusal_of({"run", "no\xff.yaml"}, folder),
             StartsWith("no\\xff.yaml: error: there is no such file\n"));
  CHECK_THAT(refusal_of({"ru\x1bn"}, folder), Contains("ru\\x1bn"));

  folder.write("t.log", "# a\x1b[2Jlog\n");
  CHECK_THAT(refusal_of({"import", "nccl-tests", "t.log"}, folder),
             Contains("t.log:1:4: error: unexpected control character U+001B\n"));
  folder.write("t.xml", "<system version=\"1\"><cpu numaid=\"0\" vendor=\"&#27;[2J\"/></system>\n");
  CHECK_THAT(refusal_of({"import", "nccl-topo", "t.xml"}, folder),
             Contains("error: the text has the control character U+001B\n"));
}

TEST_CASE("a long name with an escape in it does not break a table", "[cli][validate]") {
  const TemporaryFolder folder;
  folder.write("c.yaml", "schema: 1\nsource: x\ncases:\n  - { name: \"" + std::string(60, 'a') + "\\e[31m " +
                             std::string(60, 'b') + "\", scenario: article/g6e.yaml, step_time: 1 ms }\n");
  CHECK_THAT(refusal_of({"validate", "c.yaml"}, folder),
             Contains("the text contains the control character U+001B\n"));
}

TEST_CASE("a file whose name is no text can be simulated", "[cli]") {
  const TemporaryFolder folder;
  folder.write("a\x1b[2J\xff.yaml", content_of(GRADWAY_SOURCE_DIR "/scenarios/article/g6e.yaml"));
  const auto results = [&](Words arguments, const Words& more) {
    arguments.insert(arguments.begin() + 1, "a\x1b[2J\xff.yaml");
    arguments.insert(arguments.end(), more.begin(), more.end());
    const auto outcome = run_gradway(arguments, {.folder = folder.path()});
    CAPTURE(arguments, outcome.errors);
    CHECK(outcome.status == 0);
    CHECK(first_control(outcome.output + outcome.errors, "\n") == std::string::npos);
    CHECK(first_bad_byte(outcome.output + outcome.errors) == std::string::npos);
    return outcome.output;
  };
  for (const auto& more : {Words{}, Words{"--json"}, Words{"--out", "page"}}) {
    results({"run"}, more);
    results({"explain"}, more);
    results({"optimize", "--over", "static_graph"}, more);
    results({"sweep", "--vary", "job.gpus=1,2"}, more);
    results({"compare", "--platforms", "dgx-h100,dgx-a100"}, more);
  }
  CHECK_THAT(results({"explain"}, {}), Contains("    gradway run $'a\\x1b[2J\\xff.yaml' --set "));
  for (const auto* format : {"experiment", "chakra", "kineto"}) {
    const auto written =
        run_gradway({"export", format, "a\x1b[2J\xff.yaml", "-o", format}, {.folder = folder.path()});
    CAPTURE(format, written.errors);
    CHECK(written.status == 0);
    CHECK(first_control(written.output + written.errors, "\n") == std::string::npos);
  }
  folder.write("scenarios/\xff.yaml", content_of(GRADWAY_SOURCE_DIR "/scenarios/article/g6e.yaml"));
  CHECK(run_gradway({"list", "scenarios", "--json"}, {.gradway_path = folder.path()}).status == 0);
}

TEST_CASE("commands to try are quoted for a shell", "[cli][campaign]") {
  const TemporaryFolder folder;
  folder.write("my job;x.yaml", content_of(GRADWAY_SOURCE_DIR "/scenarios/campaign/llama2_7b-aws-p5.yaml"));
  const auto tried = run_gradway(
      {"compare", "my job;x.yaml", "--campaign", "--platforms", "aws-p5.48xlarge,aws-p4d.24xlarge", "--seeds",
       "2", "--set", "campaign.checkpoint.interval=2 h"},
      {.folder = folder.path()});
  CAPTURE(tried.errors);
  CHECK(tried.status == 0);
  CHECK_THAT(
      tried.output,
      Contains("        gradway campaign 'my job;x.yaml' --set 'campaign.checkpoint.interval=2 h' --set "
               "platform=aws-p"));
}

TEST_CASE("importers refuse what would become a file that gradway refuses", "[cli][import]") {
  const TemporaryFolder folder;
  const auto files = [&] { return std::distance(std::filesystem::directory_iterator{folder.path()}, {}); };
  const auto refused = [&](const Words& arguments) {
    const auto before = files();
    const auto message = refusal_of(arguments, folder);
    CHECK(files() == before);
    return message;
  };

  auto far = trace_of(small_step(), {.steps = 2}).json();
  const auto last = far.rfind("\"ts\":4377");
  folder.write("far.json", far.replace(last, 9, "\"ts\":3999"));
  CHECK_THAT(refused({"import", "kineto", "far.json", "-o", "m.yaml"}),
             Contains("begins more than a day from the first event\n"));

  folder.write("copies.json", R"([{"kind": "h2d_pinned", "gpus": [0], "bytes": 100000000, "seconds": 1e-2},
 {"kind": "h2d_pinned", "gpus": [1], "bytes": 100000000, "seconds": 1e-2},
 {"kind": "pattern", "name": "h2d_x2", "copies": [["host", 0], ["host", 1]], "bytes": 100000000, "seconds": [1e7, 1e7]}])");
  CHECK_THAT(
      refused({"calibrate", "fit", "copies.json", "-o", "c.yaml"}),
      StartsWith("copies.json:3:") && Contains("error: a time of 1e+07 s for 100000000 B is implausible\n"));

  folder.write("t\xff.json", trace_of(small_step()).json());
  const auto outcome =
      run_gradway({"import", "kineto", "t\xff.json", "-o", "m.yaml"}, {.folder = folder.path()});
  CHECK(outcome.status == 0);
  CHECK_THAT(content_of(folder.path() / "m.yaml"), Contains("PyTorch profiler trace t\\xff.json, 3 steps\n"));
  CHECK(run_gradway({"show", "model", "m.yaml"}, {.folder = folder.path()}).status == 0);
}

TEST_CASE("no import waits for a pipe that no program writes to", "[cli][hostile]") {
  const auto& [format, file, what] = GENERATE(table<const char*, const char*, const char*>(
      {{"dataset", "x.tar", "this is a pipe or a device, not a file"},
       {"dataset", "x.parquet", "this is a pipe or a device, not a file"},
       {"nsys", "x.sqlite", "this is a pipe or a device, not a file"},
       {"chakra", "x.et", "this is a pipe or a device, not a file"},
       {"kineto", "x.json", "the file is empty"},
       {"topo", "x.txt", "the file is empty"}}));
  const TemporaryFolder folder;
  REQUIRE(::mkfifo((folder.path() / file).c_str(), 0600) == 0);
  const auto outcome = run_gradway({"import", format, file}, {.folder = folder.path()});
  CHECK(outcome.status == 2);
  CHECK_THAT(outcome.errors, Contains(std::string{file} + ": error: " + what));
}

TEST_CASE("a GPU without a peak is refused in words", "[cli][hostile]") {
  const TemporaryFolder folder;
  auto gpu = content_of(std::filesystem::path{GRADWAY_SOURCE_DIR} / "platforms/gpus/h100-sxm.yaml");
  const auto peak = gpu.find("\npeak:");
  gpu.erase(peak, gpu.find('\n', peak + 1) - peak);
  folder.write("h100-sxm.yaml", gpu);
  folder.write("aws-p5.48xlarge.yaml",
               content_of(std::filesystem::path{GRADWAY_SOURCE_DIR} / "platforms/aws-p5.48xlarge.yaml"));
  folder.write("s.yaml",
               "schema: 1\nmodel: resnet50\nplatform: aws-p5.48xlarge\n"
               "job: { gpus: 2, batch_per_gpu: 32, precision: fp32 }\n");
  const auto outcome = run_gradway({"run", "s.yaml"}, {.folder = folder.path()});
  CHECK(outcome.status == 2);
  CHECK_THAT(outcome.errors, Contains("h100-sxm.yaml: error: the key 'peak' is missing"));
}

TEST_CASE("an own platform that is based on an unknown one with a known GPU ends in a hint",
          "[cli][hostile]") {
  const TemporaryFolder folder;
  folder.write("platforms/ours.yaml", "schema: 1\nsource: ours\nbased_on: crusoe-a100\n");
  const auto outcome = run_gradway({"show", "platform", "ours"}, {.folder = folder.path()});
  CHECK(outcome.status == 2);
  CHECK_THAT(outcome.errors, Contains("platforms/ours.yaml:3:11: error: unknown platform 'crusoe-a100'") &&
                                 Contains("\n  hint: platforms with such a GPU: ") &&
                                 Contains("aws-p4d.24xlarge"));
}
