// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "tests/support/config_files.hpp"
#include "tests/support/samples.hpp"

using namespace gradway;
using namespace gradway::test;

namespace {

std::string message(const std::string& content) {
  return message_of([&] { return read_samples({{"samples.json", content}}); });
}

constexpr const char* good_row =
    R"({"op": "all_reduce", "bytes": 1024, "seconds": 1e-5, "world": 4, "tag": "p2p"})";

}  // namespace

TEST_CASE("each row of a probe is read by its keys", "[fit]") {
  const auto samples = read_samples({{"folder/a.json", R"([
    {"op": "all_reduce", "bytes": 1024, "seconds": 1e-5, "world": 4, "tag": "p2p", "algbw_gbps": 1},
    {"op": "broadcast", "bytes": 2048, "seconds": 2e-5, "world": 2, "tag": "p2p-Tree-LL128"},
    {"op": "all_to_all", "bytes": 2048, "seconds": 2e-5, "world": 2, "tag": "net"},
    {"op": "gather", "bytes": 2048, "seconds": 2e-5, "world": 2, "tag": "net"},
    {"op": "contention", "gemm": "bf16_8192", "together": true, "gemm_seconds": 0.001, "gemm_reps": 24,
     "allreduce_seconds": 0.002, "allreduce_reps": 20, "bytes": 268435456, "world": 4, "tag": "shm"}])"},
                                     {"b.json", R"([
    {"kind": "h2d_pinned", "gpus": [0], "bytes": 4096, "seconds": 3e-6},
    {"kind": "d2d_same", "gpus": [0], "bytes": 4096, "seconds": 3e-6},
    {"kind": "pattern", "name": "h2d+d2h_x2", "bytes": 4096, "seconds": [1e-6, 2e-6, 3e-6, 4e-6], "wall": 5e-6},
    {"kind": "gemm", "dtype": "tf32", "m": 1, "n": 2, "k": 3, "seconds": 1e-6},
    {"kind": "memory", "op": "cast_bf16_fp32", "bytes": 6, "seconds": 1e-6},
    {"kind": "launch", "seconds": 5e-6},
    {"kind": "optimizer", "op": "sgd", "params": 10, "tensors": 3, "seconds": 1e-6}])"}});

  REQUIRE(samples.collectives.size() == 3);
  CHECK(samples.collectives[0].kind == CollectiveKind::all_reduce);
  CHECK(samples.collectives[0].ranks == 4);
  CHECK(samples.collectives[0].size == 1_KiB);
  CHECK(samples.collectives[0].time == 10_us);
  CHECK_FALSE(samples.collectives[0].algorithm);
  CHECK(samples.collectives[1].kind == CollectiveKind::broadcast);
  CHECK(samples.collectives[1].algorithm == Algorithm::tree);
  CHECK(samples.collectives[1].protocol == Protocol::ll128);
  CHECK(samples.collectives[2].kind == CollectiveKind::all_to_all);
  REQUIRE(samples.contention.size() == 1);
  CHECK(samples.contention[0].transport == Transport::shm);
  CHECK(samples.contention[0].precision == Precision::bf16);
  CHECK(samples.contention[0].side == 8192);
  CHECK(samples.contention[0].together);
  CHECK(samples.contention[0].kernels == 24);
  CHECK(samples.contention[0].collective_time == 2_ms);
  REQUIRE(samples.copies.size() == 2);
  CHECK(samples.copies[0].role == LinkRole::to_gpu);
  CHECK(samples.copies[1].role == LinkRole::same_gpu);
  REQUIRE(samples.patterns.size() == 1);
  CHECK(samples.patterns[0].copies.size() == 4);
  CHECK(samples.patterns[0].times.size() == 4);
  REQUIRE(samples.matrix.size() == 1);
  CHECK(samples.matrix[0].work().value() == 12);
  REQUIRE(samples.memory.size() == 1);
  CHECK(samples.memory[0].kernel == MemoryKernel::cast_bf16_fp32);
  CHECK(samples.launches[0] == std::vector{5_us});
  REQUIRE(samples.optimizers.size() == 1);
  CHECK(samples.optimizers[0].traffic() == 120_B);
  CHECK(samples.unused == std::map<std::string, int>{{"gather", 1}});
  CHECK(samples.origin.files == std::vector<std::string>{"a.json", "b.json"});
  CHECK(samples.origin.digest.size() == 16);
}

TEST_CASE("rows that only the probes write are read", "[fit]") {
  const auto samples = read_samples({{"a.json", R"([
    {"kind": "node", "probe": "1", "gpus": [{"name": "x"}], "nccl": null},
    {"kind": "instrument", "expected_seconds": 1e-3, "seconds": 1.001e-3},
    {"kind": "instrument", "expected_seconds": 1e-3, "seconds": 2e-3},
    {"kind": "note", "section": "copies", "what": "throttled\nagain"},
    {"kind": "note", "section": "copies", "what": "throttled\nagain"},
    {"kind": "failed", "section": "attention", "what": "no cuDNN"},
    {"op": "all_reduce", "bytes": 1024, "seconds": 1e-5, "low": 9e-6, "high": 2e-5, "repeats": 30, "world": 16,
     "nodes": 2, "tag": "net", "verified": true, "noisy": true},
    {"op": "all_reduce", "bytes": 1024, "seconds": 1e-5, "world": 4, "tag": "p2p", "channels": 8},
    {"op": "contention", "gemm": "bf16_8192", "together": true, "gemm_seconds": 0.001, "gemm_reps": 24,
     "allreduce_seconds": 0.002, "allreduce_reps": 20, "bytes": 268435456, "world": 4, "tag": "shm", "channels": 2},
    {"op": "copy_contention", "copy": "d2h_pinned", "copy_bytes": 4096, "together": false, "copy_seconds": 1e-6,
     "copy_reps": 3, "allreduce_seconds": 2e-6, "allreduce_reps": 4, "bytes": 1024, "world": 4, "tag": "shm"},
    {"op": "contention", "gemm": "fp8_8192"},
    {"kind": "d2h_pageable", "gpus": [0], "bytes": 4096, "seconds": 3e-6},
    {"kind": "pattern", "name": "mine", "copies": [["host", 0], [0, "host"], [0, 1]], "bytes": 4096,
     "seconds": [1e-6, 2e-6, 3e-6], "wall": 3e-6},
    {"kind": "pattern", "name": "whatever", "bytes": 4096, "seconds": [1e-6]},
    {"kind": "gemm", "dtype": "fp8", "m": 16, "n": 16, "k": 16, "seconds": 1e-6},
    {"kind": "attention", "dtype": "bf16", "batch": 1, "heads": 2, "seq": 3, "head_dim": 4, "causal": true,
     "by": "cudnn", "seconds": 1e-6},
    {"kind": "kernel_gap", "seconds": 1e-6}, {"kind": "launch_latency", "seconds": 2e-6},
    {"kind": "sync", "seconds": 3e-6}, {"kind": "event", "seconds": 4e-6}, {"kind": "eager_operation", "seconds": 2e-5}])"}});

  CHECK(samples.remarks ==
        std::vector<std::string>{
            "a test kernel of 1000 us was measured as 2000 us: the times of this probe are unreliable",
            "throttled again (copies)", "attention failed, its rows are missing: no cuDNN"});
  REQUIRE(samples.collectives.size() == 1);
  CHECK(samples.collectives[0].nodes == 2);
  CHECK(samples.collectives[0].spread->high == 20_us);
  CHECK(samples.noisy == 1);
  CHECK(samples.contention[0].channels == 2);
  CHECK(samples.copies[0].role == LinkRole::pageable_from_gpu);
  REQUIRE(samples.patterns.size() == 1);
  CHECK_FALSE(samples.patterns[0].copies[0].from);
  CHECK(samples.patterns[0].copies[2].role() == LinkRole::peer);
  CHECK(samples.matrix[0].arithmetic == Arithmetic::fp8);
  CHECK(samples.attention[0].work().value() == 2.0 * 1 * 2 * 3 * 3 * 4);
  for (std::size_t i = 1; i < launch_cost_count; ++i) CHECK(samples.launches[i].size() == 1);
  CHECK(samples.unused == std::map<std::string, int>{{"all_reduce with forced channels", 1},
                                                     {"contention with fp8 products", 1},
                                                     {"contention between copies and collectives", 1},
                                                     {"pattern whatever", 1}});
}

TEST_CASE("all rows of the shipped samples are read", "[fit]") {
  const auto samples = shipped_samples();
  CHECK(samples.collectives.size() == 244 - 12);
  CHECK(samples.contention.size() == 12);
  CHECK(samples.copies.size() == 7 * 5);
  CHECK(samples.patterns.size() == 11);
  CHECK(samples.matrix.size() == 54);
  CHECK(samples.memory.size() == 30);
}

TEST_CASE("a file that is not a list of rows is refused with its place", "[fit][errors]") {
  using Row = std::pair<std::string, std::string>;
  const auto [content, expected] = GENERATE(values<Row>({
      {"",
       "samples.json: error: the file is empty\n"
       "  hint: expected one list of rows: [ {...}, {...} ]\n"},
      {" \n\t\n",
       "samples.json: error: the file is empty\n"
       "  hint: expected one list of rows: [ {...}, {...} ]\n"},
      {"[]",
       "samples.json: error: the list has no rows\n"
       "  hint: expected one list of rows: [ {...}, {...} ]\n"},
      {"{\"op\": 1}\n{\"op\": 2}\n",
       "samples.json:1:1: error: this is not a list of rows\n"
       "    1 | {\"op\": 1}\n"
       "      | ^\n"
       "  hint: expected one list of rows: [ {...}, {...} ]\n"},
      {"\n  3",
       "samples.json:2:3: error: this is not a list of rows\n"
       "    2 |   3\n"
       "      |   ^\n"
       "  hint: expected one list of rows: [ {...}, {...} ]\n"},
      {"[\n  {\"kind\": \"launch\", \"seconds\": NaN}\n]",
       "samples.json:2:33: error: this is not valid JSON\n"
       "    2 |   {\"kind\": \"launch\", \"seconds\": NaN}\n"
       "      |                                 ^\n"
       "  hint: JSON has no NaN and Infinity: remove the rows of failed probes\n"},
      {"[{\"kind\": \"launch\",",
       "samples.json:1:20: error: this is not valid JSON\n"
       "    1 | [{\"kind\": \"launch\",\n"
       "      |                    ^\n"
       "  hint: check whether the file is truncated or was edited by hand\n"},
      {"[{\"kind\": \"launch\", \"seconds\": 1e999}]",
       "samples.json: error: a number in the file is too large\n"
       "  hint: remove the rows of failed probes\n"},
  }));
  CHECK(message(content) == expected);
}

TEST_CASE("each kind of invalid row is refused with its place", "[fit][errors]") {
  using Row =
      std::tuple<std::string, std::string, std::string, std::string>;  // row, marked text, error, hint
  const auto [row, marked, error, hint] = GENERATE(values<Row>({
      {"7", "7", "row 2 must be a map of keys and values, not '7'",
       "expected a list of rows such as {\"op\": \"all_reduce\", ...}"},
      {R"({"bytes": 1})", "{", "the row has neither 'op' nor 'kind', so what was measured is unknown",
       "collectives have an 'op'; copies and kernels a 'kind'"},
      {R"({"op": "allreduce"})", "\"allreduce\"", "'allreduce' is not an operation",
       "did you mean 'all_reduce'?"},
      {R"({"op": 4})", "4", "'op' must be a text, not '4'", ""},
      {R"({"kind": "h2d"})", "\"h2d\"", "'h2d' is not a kind of sample",
       "did you mean 'h2d_pinned' or 'h2d_pageable'?"},
      {R"({"op": "all_reduce", "tag": "pcie"})", "\"pcie\"", "'pcie' is not a tag",
       "write p2p, shm or net; if algorithm and protocol were forced, append -Ring or -Tree and -LL, -LL128 "
       "or -Simple"},
      {R"({"op": "all_reduce", "tag": "p2p-Ring"})", "\"p2p-Ring\"", "'p2p-Ring' is not a tag",
       "write p2p, shm or net; if algorithm and protocol were forced, append -Ring or -Tree and -LL, -LL128 "
       "or -Simple"},
      {R"({"op": "all_reduce", "tag": "none"})", "\"none\"", "'none' is not a tag",
       "write p2p, shm or net; if algorithm and protocol were forced, append -Ring or -Tree and -LL, -LL128 "
       "or -Simple"},
      {R"({"op": "all_reduce", "tag": "p2p", "bytes": 8, "seconds": 1})", "{", "row 2 has no key 'world'",
       ""},
      {R"({"op": "all_reduce", "tag": "p2p", "world": 1})", "1",
       "'world' must be a whole number from 2 to 1048576, not '1'", ""},
      {R"({"op": "all_reduce", "tag": "p2p", "world": 2, "bytes": 0})", "0",
       "'bytes' must be a whole number above zero, not '0'", ""},
      {R"({"op": "all_reduce", "tag": "p2p", "world": 2, "bytes": 8, "seconds": -1})", "-1",
       "a time must be from 1e-09 to 100000000 s, got '-1'", "remove the rows of failed probes"},
      {R"({"op": "all_reduce", "tag": "p2p", "world": 2, "bytes": 8, "seconds": null})", "null",
       "'seconds' must be a time in seconds, not 'null'", ""},
      {R"({"kind": "h2d_pinned", "bytes": 1000000000, "seconds": 1e-8})", "1e-8",
       "a time of 1e-08 s for 1000000000 B is implausible", "remove the rows of failed probes"},
      {R"({"op": "all_to_all", "tag": "p2p", "world": 2, "bytes": 8, "seconds": 0})", "0",
       "a time must be from 1e-09 to 100000000 s, got '0'", "remove the rows of failed probes"},
      {R"({"op": "contention", "tag": "p2p", "gemm": "8192"})", "\"8192\"",
       "'8192' is not a square matrix product", "write its precision and its side, as in bf16_8192"},
      {R"({"kind": "gemm", "dtype": "int8"})", "\"int8\"", "'int8' is not a precision",
       "known: fp32, tf32, bf16, fp16, fp8"},
      {R"({"kind": "pattern", "name": "h2d+d2h_x2", "bytes": 8, "seconds": [1, 2]})", "[1, 2]",
       "'h2d+d2h_x2' has 2 times instead of 4", "give one time per copy"},
      {R"({"kind": "pattern", "name": "x", "bytes": 8, "seconds": [1], "copies": [["host", "host"]]})",
       R"([["host", "host"]])", "'copies' must be a list of copies",
       "give source and destination of each, a GPU or host memory: [[\"host\", 0], [0, 1]]"},
      {R"({"op": "all_reduce", "tag": "p2p", "world": 2, "bytes": 8, "seconds": 1, "low": 2.5, "high": 1})",
       "2.5", "the 10th percentile is above the 90th", "'low' and 'high' are in seconds, like 'seconds'"},
      {R"({"kind": "pattern", "name": "x", "bytes": 8, "seconds": []})", "[]",
       "'seconds' must be a list of times in seconds, not a list", ""},
  }));
  const auto line = "  " + row;
  const auto content = "[\n  " + std::string{good_row} + ",\n" + line + "\n]\n";
  const auto column = line.find(marked);
  REQUIRE(column != std::string::npos);
  const auto expected = "samples.json:3:" + std::to_string(column + 1) + ": error: " + error + "\n    3 | " +
                        line + "\n      | " + std::string(column, ' ') + "^" +
                        (marked == "{" ? "" : std::string(marked.size() - 1, '~')) + "\n" +
                        (hint.empty() ? "" : "  hint: " + hint + "\n");
  CHECK(message(content) == expected);
}

TEST_CASE("all invalid rows of all files are reported at once", "[fit][errors]") {
  const auto all = message_of([] {
    return read_samples(
        {{"a.json", "[{\"op\": 1}, {\"op\": 2}]"}, {"b.json", ""}, {"c.json", "[{\"kind\": 3}]"}});
  });
  using Catch::Matchers::Contains;
  CHECK_THAT(all, Contains("a.json:1:9:") && Contains("a.json:1:20:") &&
                      Contains("b.json: error: the file is") && Contains("c.json:1:11:"));
}

TEST_CASE("of very many invalid rows only some are reported", "[fit][errors]") {
  std::string content = "[1";
  for (int i = 0; i < 5000; ++i) content += ",1";
  const auto all = message(content + "]");
  CHECK(std::ranges::count(all, '\n') < 500);
  CHECK_THAT(all, Catch::Contains("samples.json: error: only the first 50 invalid rows are shown\n"));
}

TEST_CASE("a file that is given twice is refused", "[fit][errors]") {
  const std::string content = "[" + std::string{good_row} + "]";
  CHECK(message_of([&] {
          return read_samples({{"a.json", content}, {"b.json", content}});
        }) ==
        "b.json: error: the file has the same contents as 'a.json'\n"
        "  hint: give each file once: samples must not count twice\n");
}

TEST_CASE("control characters of samples are refused at their place, also as escapes", "[fit][errors]") {
  const auto row = [](const std::string& tag) {
    return "[\n{\"op\": \"all_reduce\", \"tag\": \"" + tag + "\"}]";
  };
  CHECK_THAT(
      message(row("\\u001b[31m")),
      Catch::Matchers::StartsWith("samples.json:2:29: error: the text has the control character U+001B\n"));
  for (const auto* escape : {"\\b", "\\u009b", "\\u202E"})
    CHECK_THAT(message(row(escape)),
               Catch::Matchers::Contains("error: the text has the control character U+"));
  for (const auto* harmless : {"\\\\u001b", "\\n", "\\u00e4"})
    CHECK_THAT(message(row(harmless)), !Catch::Matchers::Contains("control character"));
}

TEST_CASE("samples that are nested deeply, or have too many values, are refused", "[fit][errors]") {
  CHECK_THAT(message(std::string(3'000'000, '[')),
             Catch::Matchers::Contains("error: lists and maps are nested deeper than 16 levels\n"));
  std::string many = "[1";
  for (int i = 0; i < 1'000'000; ++i) many += ",1";
  CHECK_THAT(message(many + "]"),
             Catch::Matchers::Contains("error: the file has more than 1000000 values\n"));
}

TEST_CASE("impossible times of a size are refused", "[fit][errors]") {
  const auto row = [](const std::string& bytes, const std::string& seconds) {
    return R"([{"op": "all_reduce", "bytes": )" + bytes + R"(, "seconds": )" + seconds +
           R"(, "world": 4, "tag": "p2p"}])";
  };
  CHECK_THAT(message(row("1", "100000000")),
             Catch::Matchers::Contains("error: a time of 1e+08 s for 1 B is implausible\n"));
  CHECK_THAT(message(row("1000000000", "1e-9")),
             Catch::Matchers::Contains("error: a time of 1e-09 s for 1000000000 B is implausible\n"));
  CHECK(message(row("1", "0.9")).empty());
  CHECK(message(row("1000000000", "900")).empty());
  CHECK_THAT(
      message(
          R"([{"kind": "pattern", "name": "h2d+d2h_x2", "bytes": 4096, "seconds": [1e-6, 2e-6, 3e3, 4e-6]}])"),
      Catch::Matchers::Contains("error: a time of 3000 s for 4096 B is implausible\n"));
}
