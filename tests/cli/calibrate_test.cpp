// SPDX-License-Identifier: Apache-2.0
#include <zlib.h>

#include <algorithm>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/cli/program.hpp"

using namespace gradway::testing;
using Catch::Matchers::Contains;

namespace {

const std::string samples = GRADWAY_SOURCE_DIR "/calibration/results/h200-4x-tables/samples/";

constexpr const char* three_rows = R"([
  {"op": "all_reduce", "bytes": 1024, "seconds": 20e-6, "world": 4, "tag": "p2p"},
  {"op": "all_reduce", "bytes": 1048576, "seconds": 30e-6, "world": 4, "tag": "p2p"},
  {"op": "gather", "bytes": 1048576, "seconds": 30e-6, "world": 4, "tag": "p2p"}
])";

std::vector<std::string> fit_of(const std::string& file, const std::vector<std::string>& more = {}) {
  std::vector<std::string> arguments{"calibrate", "fit", file, "-o", "out.yaml", "--date", "2026-11-21"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

/// All-reduces of 20 us and 100 GB/s, a copy and a product; and what the probe says of itself.
constexpr const char* probed = R"([
  {"kind": "node", "probe": "1", "gpus": []},
  {"kind": "note", "section": "copies", "what": "the clock was throttled"},
  {"op": "all_reduce", "bytes": 1024, "seconds": 2.001024e-05, "low": 2e-05, "high": 2.1e-05, "world": 4, "tag": "p2p"},
  {"op": "all_reduce", "bytes": 100000, "seconds": 2.1e-05, "world": 4, "tag": "p2p"},
  {"op": "all_reduce", "bytes": 1000000, "seconds": 3e-05, "world": 4, "tag": "p2p", "noisy": true},
  {"op": "all_reduce", "bytes": 10000000, "seconds": 12e-05, "world": 4, "tag": "p2p"},
  {"kind": "h2d_pinned", "gpus": [0], "bytes": 1000000, "seconds": 22e-06},
  {"kind": "h2d_pinned", "gpus": [0], "bytes": 100000000, "seconds": 2002e-06},
  {"kind": "gemm", "dtype": "bf16", "m": 8192, "n": 8192, "k": 8192, "seconds": 1.5e-3}
])";

void write_packed(const std::filesystem::path& file, const std::string& text) {
  gzFile out = gzopen(file.c_str(), "wb");
  gzwrite(out, text.data(), static_cast<unsigned>(text.size()));
  gzclose(out);
}

}  // namespace

TEST_CASE("samples become a calibration that a platform can name and a person can read", "[cli][calibrate]") {
  const TemporaryFolder folder;
  const auto out = (folder.path() / "calibration/results/mine/calibration.yaml").string();
  const auto fitted =
      run_gradway({"calibrate", "fit", samples + "collectives.json", samples + "copies.json", "-o", out,
                   "--date", "2026-11-21", "--source", "four \"H200\"", "--platform", "h200-4x"});
  CHECK(fitted.status == 0);
  CHECK_THAT(fitted.output, Contains("P2P all-to-all"));
  CHECK_THAT(fitted.output, Contains("P2P all-reduce") && Contains("outlier of") && Contains("host_memory"));

  const auto shown = run_gradway({"show", "calibration", "mine"}, {.gradway_path = folder.path()});
  CHECK(shown.status == 0);
  CHECK(shown.errors.empty());
  CHECK_THAT(shown.output, Contains("four \"H200\"") && Contains("ring LL128"));

  folder.write("platforms/my-node.yaml", "schema: 1\nsource: mine\nbased_on: h200-4x\ncalibration: mine\n");
  folder.write("job.yaml",
               "schema: 1\nmodel: vit_l_32\nplatform: my-node\njob: { gpus: 4, batch_per_gpu: 32 }\n"
               "nccl: { NCCL_P2P_DISABLE: 1, NCCL_SHM_DISABLE: 1 }\n");
  const auto run =
      run_gradway({"run", "job.yaml", "--verbose"}, {.folder = folder.path(), .gradway_path = folder.path()});
  CHECK(run.status == 0);
  CHECK_THAT(run.output, Contains("NET all-reduce: calibration mine of 2026-11-21, 4 ranks"));
  CHECK_THAT(run.output, Contains("calibration mine, median error for samples that its fit did not"));
}

TEST_CASE("every figure of a shipped calibration can be shown", "[cli][calibrate]") {
  const auto shown = run_gradway({"show", "calibration", "h200-4x-tables"});
  CHECK(shown.status == 0);
  CHECK_THAT(shown.output,
             Contains("NET all-reduce") && Contains("98.05 us") && Contains("slow-down of kernels"));
  const auto single = run_gradway({"show", "calibration", "aws-g6e.48xlarge"});
  CHECK(single.status == 0);
  CHECK_THAT(single.output, Contains("SHM all-reduce of 1.226 GB on 8 ranks in 587 ms"));
  CHECK_THAT(run_gradway({"show", "calibration", "h200-4"}).errors,
             Contains("did you mean 'h200-4x' or 'h200-4x-tables'?"));
}

TEST_CASE("a calibration is overwritten only with --force", "[cli][calibrate]") {
  const TemporaryFolder folder;
  folder.write("s.json", three_rows);
  folder.write("out.yaml", "mine\n");

  const auto refused = run_gradway(fit_of("s.json"), {.folder = folder.path()});
  CHECK(refused.status == 2);
  CHECK(refused.output.empty());
  CHECK(refused.errors ==
        "error: 'out.yaml' already exists\n  hint: choose another name, or give --force to replace it\n");
  CHECK(content_of(folder.path() / "out.yaml") == "mine\n");

  CHECK(run_gradway(fit_of("s.json", {"--force"}), {.folder = folder.path()}).status == 0);
  const auto first = content_of(folder.path() / "out.yaml");
  CHECK_THAT(first, Contains("source: \"gradway calibrate fit of s.json\"\ndate: 2026-11-21\n"));
  CHECK(run_gradway(fit_of("s.json", {"--force"}), {.folder = folder.path()}).status == 0);
  CHECK(content_of(folder.path() / "out.yaml") == first);
}

TEST_CASE("wrong samples or arguments leave no file", "[cli][calibrate]") {
  const TemporaryFolder folder;
  folder.write("s.json", three_rows);
  folder.write("bad.json",
               "[{\"op\": \"all_reduce\", \"tag\": \"p2p\", \"world\": 4, \"bytes\": 8, \"seconds\": -1}]");
  using Row = std::pair<std::vector<std::string>, std::string>;
  const auto [arguments, errors] = GENERATE(values<Row>({
      {fit_of("bad.json"),
       "bad.json:1:72: error: a time must be from 1e-09 to 100000000 s, got '-1'\n"
       "    1 | [{\"op\": \"all_reduce\", \"tag\": \"p2p\", \"world\": 4, \"bytes\": 8, \"seconds\": -1}]\n"
       "      |                                                                        ^~\n"
       "  hint: remove the rows of failed probes\n"},
      {fit_of("none.json"), "none.json: error: there is no such file\n"},
      {fit_of("."), ".: error: this is a folder, not a file\n"},
      {{"calibrate", "fit", "s.json", "--date", "2026-11-21"},
       "error: 'gradway calibrate fit' needs --out FILE\n"
       "  hint: give the calibration file to write (see 'gradway calibrate --help')\n"},
      {{"calibrate", "fit", "s.json", "-o", "out.yaml", "--date", "21.11.2026"},
       "error: '--date 21.11.2026': '21.11.2026' is not a date\n"
       "  hint: write year-month-day, for example 2026-01-24\n"},
      {{"calibrate", "fti", "s.json", "-o", "out.yaml", "--date", "2026-11-21"},
       "error: 'gradway calibrate' does not have the action 'fti'\n  hint: did you mean 'fit'?\n"},
      {{"calibrate", "fit", "s.json", "-o", ".", "--date", "2026-11-21"},
       "error: '--out .' is a folder\n  hint: write '--out ./calibration.yaml'\n"},
  }));
  CAPTURE(arguments);

  const auto outcome = run_gradway(arguments, {.folder = folder.path()});

  CHECK(outcome.status == 2);
  CHECK(outcome.output.empty());
  CHECK(outcome.errors == errors);
  CHECK_FALSE(std::filesystem::exists(folder.path() / "out.yaml"));
  std::size_t files = 0;
  for (const auto& file : std::filesystem::directory_iterator{folder.path()}) files += file.is_regular_file();
  CHECK(files == 2);
}

TEST_CASE("compressed samples give the same bytes as plain ones", "[cli][calibrate]") {
  const TemporaryFolder folder;
  folder.write("s.json", probed);
  write_packed(folder.path() / "s.json.gz", probed);
  write_packed(folder.path() / "packed.json", probed);
  const World world{.folder = folder.path()};

  const auto plain = run_gradway({"calibrate", "fit", "s.json", "-o", "plain.yaml"}, world);
  REQUIRE(plain.status == 0);
  CHECK(plain.errors ==
        "remark of the probe: the clock was throttled (copies)\n1 row with repetitions that did not "
        "converge\n");
  CHECK_THAT(plain.output,
             Contains("held back: collectives 64 KiB to 1 MiB: median 0.0 %, worst 0.0 % (1 row)"));
  const auto packed = run_gradway({"calibrate", "fit", "s.json.gz", "-o", "packed.yaml"}, world);
  REQUIRE(packed.status == 0);
  CHECK(content_of(folder.path() / "packed.yaml") == content_of(folder.path() / "plain.yaml"));
  CHECK_THAT(content_of(folder.path() / "plain.yaml"), Contains("spread: 4.9 %"));
  // What a file holds tells whether it is packed, not its name.
  CHECK(run_gradway({"calibrate", "fit", "packed.json", "-o", "third.yaml"}, world).status == 0);

  const auto cut = content_of(folder.path() / "s.json.gz").substr(0, 60);
  folder.write("cut.json.gz", cut);
  const auto broken = run_gradway({"calibrate", "fit", "cut.json.gz", "-o", "fourth.yaml"}, world);
  CHECK(broken.status == 2);
  CHECK(broken.errors ==
        "cut.json.gz: error: the gzip data is truncated\n"
        "  hint: copy it again, or record it again\n");
  const auto twice = run_gradway({"calibrate", "fit", "s.json", "s.json.gz", "-o", "fifth.yaml"}, world);
  CHECK_THAT(twice.errors, Contains("the file has the same contents as 's.json'"));
}

TEST_CASE("a calibration is checked against samples, row by row and by groups", "[cli][calibrate]") {
  const TemporaryFolder folder;
  folder.write("s.json", probed);
  folder.write("other.json", R"([
    {"op": "all_reduce", "bytes": 1000000, "seconds": 2e-05, "world": 4, "tag": "p2p"},
    {"op": "all_reduce", "bytes": 10000000, "seconds": 24e-05, "world": 4, "tag": "p2p"},
    {"op": "all_reduce", "bytes": 10000000, "seconds": 24e-05, "world": 2, "tag": "p2p"},
    {"kind": "gemm", "dtype": "bf16", "m": 8192, "n": 8192, "k": 8192, "seconds": 1.5e-3}])");
  const World world{.folder = folder.path()};
  REQUIRE(run_gradway({"calibrate", "fit", "s.json", "-o", "mine.yaml"}, world).status == 0);

  const auto own = run_gradway({"calibrate", "check", "mine.yaml", "s.json"}, world);
  CHECK(own.status == 0);
  CHECK_THAT(own.output, Contains("p2p all_reduce on 4 ranks") && Contains("products"));

  const auto table = run_gradway({"calibrate", "check", "mine.yaml", "other.json"}, world);
  CHECK(table.status == 0);
  CHECK_THAT(table.output, Contains("+50.00 %") && Contains("-50.00 %"));
  CHECK_THAT(table.output, Contains("1 row without a prediction by the calibration"));
  const auto json = run_gradway({"calibrate", "check", "mine.yaml", "other.json", "--json"}, world);
  REQUIRE(json.status == 0);
  const auto document = nlohmann::json::parse(json.output);
  REQUIRE(document["rows"].size() == 4);
  CHECK(document["rows"][0]["error"].get<double>() == Approx(0.5));
  CHECK(document["rows"][2]["predicted_s"].is_null());
  CHECK(document["not_predicted"] == 1);
  CHECK(document["groups"][0]["group"] == "collectives 64 KiB to 1 MiB");
  CHECK(document["groups"][1]["bias"].get<double>() == Approx(-0.5));
  CHECK(document["groups"][2]["max_abs_error"].get<double>() == Approx(0).margin(1e-3));

  const auto far = run_gradway({"calibrate", "check", "h200-4x-tables", samples + "collectives.json"});
  CHECK_THAT(far.output, Contains("rows with smaller errors; --all shows them"));
  CHECK_THAT(far.output, Contains("12 rows without a prediction by the calibration"));  // without --platform
  const auto all =
      run_gradway({"calibrate", "check", "h200-4x-tables", samples + "collectives.json", "--all"});
  CHECK(std::ranges::count(all.output, '\n') > 200);
}

TEST_CASE("a calibration is adapted to a machine and says so", "[cli][calibrate]") {
  const TemporaryFolder folder;
  folder.write("s.json", probed);
  // Latency as there, each byte 1.5 times as long.
  folder.write("mine.json", R"([
    {"op": "all_reduce", "bytes": 1024, "seconds": 2.0015e-05, "world": 4, "tag": "p2p"},
    {"op": "all_reduce", "bytes": 1000000, "seconds": 3.5e-05, "world": 4, "tag": "p2p"},
    {"op": "all_reduce", "bytes": 10000000, "seconds": 17e-05, "world": 4, "tag": "p2p"},
    {"op": "all_reduce", "bytes": 10000000, "seconds": 17e-05, "world": 8, "tag": "p2p"}])");
  const World world{.folder = folder.path()};
  REQUIRE(run_gradway({"calibrate", "fit", "s.json", "-o", "theirs.yaml"}, world).status == 0);

  const auto adapted = run_gradway({"calibrate", "adapt", "theirs.yaml", "mine.json", "-o",
                                    "calibration/results/mine/calibration.yaml", "--date", "2026-11-24"},
                                   world);
  CHECK(adapted.status == 0);
  CHECK(adapted.errors == "left out: 1 row without a table or link in calibration theirs\n");
  CHECK_THAT(adapted.output, Contains("x 1.500") && Contains("theirs"));
  const auto written = content_of(folder.path() / "calibration/results/mine/calibration.yaml");
  CHECK_THAT(written, Contains("adapted:\n  from: \"theirs\"\n  digest: \""));
  CHECK_THAT(written, Contains("  parts:\n    - { what: \"P2P on 4 ranks\", rows: 3, fixed: "));
  CHECK_THAT(written, Contains("adapted to: rows of mine.json\"\ndate: 2026-11-24\n"));
  const auto checked = run_gradway(
      {"calibrate", "check", "calibration/results/mine/calibration.yaml", "mine.json", "--json"}, world);
  REQUIRE(checked.status == 0);
  const auto document = nlohmann::json::parse(checked.output);
  for (const auto& row : document["rows"])
    if (!row["error"].is_null()) CHECK(row["error"].get<double>() == Approx(0).margin(0.01));

  folder.write("platforms/node.yaml", "schema: 1\nsource: mine\nbased_on: h200-4x\ncalibration: mine\n");
  folder.write("job.yaml",
               "schema: 1\nmodel: vit_l_32\nplatform: node\njob: { gpus: 4, batch_per_gpu: 32 }\n");
  const auto run =
      run_gradway({"run", "job.yaml", "--verbose"}, {.folder = folder.path(), .gradway_path = folder.path()});
  CHECK(run.status == 0);
  CHECK_THAT(run.output, Contains("calibration mine is theirs, adapted by measurements of another"));
}

TEST_CASE("options of one action are refused by the others", "[cli][calibrate]") {
  const TemporaryFolder folder;
  folder.write("s.json", three_rows);
  const auto errors = [&](const std::vector<std::string>& arguments) {
    const auto outcome = run_gradway(arguments, {.folder = folder.path()});
    CHECK(outcome.status == 2);
    CHECK(outcome.output.empty());
    return outcome.errors;
  };
  CHECK(errors({"calibrate", "check", "h200-4x-tables"}) ==
        "error: 'gradway calibrate check' needs a calibration and files of samples\n"
        "  hint: such as 'gradway calibrate check h200-4x samples.json'\n");
  CHECK(errors({"calibrate", "check", "h200-4x-tables", "s.json", "--out", "x.yaml"}) ==
        "error: 'gradway calibrate check' does not have '--out'\n"
        "  hint: it is an option of 'fit'\n");
  CHECK(errors({"calibrate", "adapt", "h200-4x-tables", "-o", "x.yaml"}) ==
        "error: 'gradway calibrate adapt' needs a calibration and files of samples\n"
        "  hint: such as 'gradway calibrate adapt h200-4x samples.json -o mine.yaml'\n");
  CHECK(errors({"calibrate", "adapt", "h200-4x-tables", "s.json"}) ==
        "error: 'gradway calibrate adapt' needs --out FILE\n"
        "  hint: give the calibration file to write (see 'gradway calibrate --help')\n");
  CHECK(errors({"calibrate", "adapt", "h200-4x-table", "s.json", "-o", "x.yaml"}) ==
        "h200-4x-table: error: there is no such file\n  hint: did you mean 'h200-4x-tables'?\n");
  CHECK(errors({"calibrate", "adpat", "h200-4x", "s.json", "-o", "x.yaml"}) ==
        "error: 'gradway calibrate' does not have the action 'adpat'\n  hint: did you mean 'adapt'?\n");
  CHECK(errors({"calibrate", "adapt", "aws-g6e.48xlarge", "s.json", "-o", "x.yaml"}) ==
        "not used by gradway: gather (1 row)\n"
        "error: calibration 'aws-g6e.48xlarge' has single collectives instead of tables by size, which "
        "cannot be scaled\n"
        "  hint: make a calibration from the samples with 'gradway calibrate fit'\n");
  CHECK_FALSE(std::filesystem::exists(folder.path() / "x.yaml"));
  CHECK(errors({"calibrate", "fit", "s.json", "-o", "x.yaml", "--json"}) ==
        "error: 'gradway calibrate fit' does not have '--json'\n"
        "  hint: it is an option of 'check'\n");
}
