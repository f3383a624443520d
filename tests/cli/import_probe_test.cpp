// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "tests/cli/program.hpp"
#include "tests/samples/nodes.hpp"

using namespace gradway::test;
using namespace gradway::testing;
using Catch::Matchers::Contains;

namespace {

struct Desk {
  TemporaryFolder folder;

  Outcome run(const std::vector<std::string>& arguments) const {
    return run_gradway(arguments, {.folder = folder.path()});
  }
  Outcome import(const std::string& file, std::vector<std::string> more = {}) const {
    more.insert(more.begin(), {"import", "probe", file});
    return run(more);
  }
  bool has(const std::string& file) const { return std::filesystem::exists(folder.path() / file); }
  std::string content(const std::string& file) const { return content_of(folder.path() / file); }
  std::ptrdiff_t files() const {
    return std::distance(std::filesystem::directory_iterator{folder.path()}, {});
  }
};

/// A node with a GPU that gradway has no file of, measured enough to write one.
std::string new_gpu_box() {
  return samples_of(
      {.gpu = "NVIDIA B9000",
       .gpu_keys = R"(, "memory_bytes": 1048576000, "compute_capability": "12.0",)"
                   R"( "memory_clock_hz": 1e9, "memory_bus_bits": 4096)"},
      pinned_rows(1, 50, 49) +
          std::vector<std::string>{both_ways_row({0}, 40),
                                   R"({"kind": "gemm", "dtype": "fp32", "m": 4096, "n": 4096, "k": 4096,)"
                                   R"( "seconds": 0.002})"});
}

}  // namespace

TEST_CASE("samples of a probe become a platform that can be shown", "[cli][import]") {
  const Desk desk;
  desk.folder.write("s.json", switch_box());

  const auto outcome =
      desk.import("s.json", {"-o", "platforms/mine.yaml", "--calibration", "h200-4x-tables"});

  CHECK(outcome.errors.empty());
  CHECK(outcome.status == 0);
  CHECK_THAT(outcome.output, Contains("platforms/mine.yaml\n"));
  const auto shown =
      run_gradway({"show", "platform", "mine"}, {.folder = desk.folder.path(), .gradway_path = "."});
  CHECK(shown.status == 0);
  CHECK_THAT(shown.output, Contains("4 x h200 on 1 node") && Contains("GPU0  X     NV18  NV18  NV18") &&
                               Contains("gpu0 <-> nvswitch  18 x nvlink  388 GB/s each way") &&
                               Contains("own measurement, 2026-11-21, 4 H200"));
  CHECK_THAT(outcome.output, Contains(shown.output));

  const auto first = desk.content("platforms/mine.yaml");
  CHECK(desk.import("s.json", {"-o", "platforms/mine.yaml", "--calibration", "h200-4x-tables", "--force"})
            .status == 0);
  CHECK(desk.content("platforms/mine.yaml") == first);
  CHECK(desk.import("s.json", {"--calibration", "h200-4x-tables"}).output == first);
}

TEST_CASE("a platform shows the matrix that it was made of", "[cli][import]") {
  const Desk desk;
  desk.folder.write("s.json", socket_box());
  CHECK(desk.import("s.json", {"-o", "mine.yaml"}).errors.empty());
  CHECK_THAT(desk.run({"show", "platform", "mine.yaml"}).output,
             Contains("GPU0  X     PIX   SYS   SYS   cpu0\n"
                      "GPU1  PIX   X     SYS   SYS   cpu0\n"
                      "GPU2  SYS   SYS   X     PIX   cpu1\n"
                      "GPU3  SYS   SYS   PIX   X     cpu1\n"));
}

TEST_CASE("a GPU without a file gets one beside the platform, once", "[cli][import]") {
  const Desk desk;
  desk.folder.write("s.json", new_gpu_box());

  const auto outcome = desk.import("s.json", {"-o", "here/mine.yaml"});

  CHECK(outcome.status == 0);
  CHECK_THAT(
      outcome.errors,
      Contains("warning: a file for the GPU was written; complete these keys from its datasheet: peak, "
               "matrix_efficiency, memory_efficiency, widen_efficiency, kernel_latency, launch_cost\n"));
  CHECK_THAT(outcome.output, Contains("here/mine.yaml\nhere/gpus/b9000.yaml\n"));
  CHECK(desk.run({"show", "platform", "here/mine.yaml"}).status == 0);

  const auto completed = desk.content("here/gpus/b9000.yaml") + "# completed\n";
  desk.folder.write("here/gpus/b9000.yaml", completed);
  CHECK(desk.import("s.json", {"-o", "here/mine.yaml", "--force"}).status == 0);
  CHECK(desk.content("here/gpus/b9000.yaml") == completed);

  const auto printed = desk.import("s.json");
  CHECK_THAT(printed.errors,
             Contains("warning: no file of platforms/gpus describes 'b9000': give --out to write one\n"));
  CHECK_THAT(printed.output, Catch::Matchers::StartsWith("schema: 1\n") && Contains("\ngpu: b9000\n"));
}

TEST_CASE("a calibration that does not exist yet is announced", "[cli][import]") {
  const Desk desk;
  desk.folder.write("s.json", pair_box());
  const auto outcome = desk.import("s.json", {"-o", "mine.yaml", "--calibration", "mine"});
  CHECK(outcome.status == 0);
  CHECK(outcome.output == "mine.yaml\n");
  CHECK(outcome.errors ==
        "warning: there is no calibration 'mine' yet: make it with 'gradway calibrate fit'\n");
}

TEST_CASE("samples that cannot be imported leave no file", "[cli][import][errors]") {
  const Desk desk;
  desk.folder.write("good.json", pair_box());
  desk.folder.write("empty.json", "");
  desk.folder.write("cut.json", "[\n{\"kind\": ");
  desk.folder.write("cut.json.gz", std::string{"\x1f\x8b\x08\0\0\0\0\0\0\x03\x8b\x8e", 12});
  desk.folder.write("bare.json", "[" + copy_row("h2d_pinned", "0", 26) + "]");
  const auto before = desk.files();
  using Row = std::pair<std::vector<std::string>, std::string>;
  const auto [arguments, errors] = GENERATE(values<Row>({
      {{"nope.json", "-o", "x.yaml"}, "nope.json: error: there is no such file\n"},
      {{"empty.json", "-o", "x.yaml"},
       "empty.json: error: the file is empty\n  hint: expected one list of rows: [ {...}, {...} ]\n"},
      {{"cut.json", "-o", "x.yaml"},
       "cut.json:2:10: error: this is not valid JSON\n    2 | {\"kind\": \n"
       "      |          ^\n  hint: check whether the file is truncated or was edited by hand\n"},
      {{"cut.json.gz", "-o", "x.yaml"},
       "cut.json.gz: error: the gzip data is truncated\n  hint: copy it again, or record it "
       "again\n"},
      {{"bare.json", "-o", "x/y.yaml"},
       "bare.json: error: no row describes the measured node\n"
       "  hint: expected a row of kind 'node', as written by gradway-probe, with the GPUs and their "
       "topology\n"},
      {{"good.json", "-o", "x.json"},
       "error: '--out x.json' does not end in .yaml\n  hint: platforms are YAML files\n"},
      {{"good.json", "-o", "x.yaml", "--gpu", "h200"},
       "error: 'gradway import probe' does not have '--gpu'\n  hint: it is an option of kineto, nsys, "
       "chakra, "
       "topo, "
       "nccl-topo\n"},
      {{"good.json", "-o", "x.yaml", "--calibration", "a: b"},
       "error: '--calibration a: b' is not the name of a calibration\n"
       "  hint: write NAME of calibration/results/NAME/calibration.yaml\n"},
  }));
  CAPTURE(arguments);

  const auto outcome = desk.import(arguments.front(), {arguments.begin() + 1, arguments.end()});

  CHECK(outcome.status == 2);
  CHECK(outcome.output.empty());
  CHECK(outcome.errors == errors);
  CHECK(desk.files() == before);
}

TEST_CASE("damaged gzip data is reported as such", "[cli][import][errors]") {
  const Desk desk;
  desk.folder.write("bad.json.gz",
                    std::string{"\x1f\x8b\x08\0\0\0\0\0\0\x03\xff\xff\xff\xff\xff\xff\xff\xff", 18});
  const auto outcome = desk.import("bad.json.gz", {"-o", "x.yaml"});
  CHECK(outcome.status == 2);
  CHECK_THAT(outcome.errors, Contains("bad.json.gz: error: the gzip data is damaged"));
  CHECK_FALSE(desk.has("x.yaml"));
}
