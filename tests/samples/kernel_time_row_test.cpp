// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "tests/support/config_files.hpp"
#include "tests/support/samples.hpp"

using namespace gradway;
using namespace gradway::test;

TEST_CASE("a timed kernel is read with its words, its size and its time", "[fit]") {
  const auto samples = read_samples({{"a.json", R"([
    {"kind": "node", "torch": "2.11.0+cu130", "date": "2026-11-22", "cuda_runtime": "13.0", "cudnn": "9.19.0",
     "gpus": [{"name": "NVIDIA H200"}]},
    {"kind": "kernel_time", "kernel": "product bf16 nt", "size": [4096, 768, 3072], "seconds": 5e-5},
    {"kind": "kernel_time", "kernel": "convolution_input tf32 nhwc", "size": [64, 64, 64, 1, 1, 0, 56, 1],
     "seconds": 1e-4},
    {"kind": "kernel_time", "kernel": "optimizer adamw", "size": [1048576, 64], "seconds": 1e-3,
     "cpu_seconds": 2e-3},
    {"kind": "kernel_time", "kernel": "embedding", "size": [8, 100, 16], "seconds": 2e-6}])"}});
  REQUIRE(samples.kernel_times.size() == 4);
  CHECK(samples.kernel_times[0].kernel == "product bf16 nt");
  CHECK(samples.kernel_times[0].size == std::vector<double>{4096, 768, 3072});
  CHECK(samples.kernel_times[0].time == 50_us);
  CHECK(samples.kernel_times[1].size[5] == 0);
  CHECK(samples.kernel_times[3].kernel == "embedding");
  REQUIRE(samples.nodes.size() == 1);
  CHECK(source_text(samples.nodes[0]) ==
        "measure_kernels.py, 2026-11-22: 1 x NVIDIA H200, PyTorch 2.11.0+cu130, CUDA 13.0, cuDNN 9.19.0");
}

TEST_CASE("an invalid timed kernel is refused with its place", "[fit][errors]") {
  using Row = std::tuple<std::string, std::string, std::string, std::string>;  // keys, marked, error, hint
  const auto [keys, marked, error, hint] = GENERATE(values<Row>({
      {R"("kernel": "prodct bf16 nt")", R"("prodct bf16 nt")", "'prodct' is not a kind of timed kernel",
       "did you mean 'product'?"},
      {R"("kernel": "product bf16")", R"("product bf16")", "'product bf16' has 2 words instead of 3",
       "expected: product number layout"},
      {R"("kernel": "embedding bf16")", R"("embedding bf16")", "'embedding bf16' has 2 words instead of 1",
       "expected: embedding"},
      {R"("kernel": "product  nt")", R"("product  nt")", "'' is not a number format of product",
       "known: fp32, tf32, bf16, fp16, fp8, nvfp4"},
      {R"("kernel": "product bf16 nnt")", R"("product bf16 nnt")", "'nnt' is not a layout of product",
       "did you mean 'nt'?"},
      {R"("kernel": "rows layer_nrm bf16")", R"("rows layer_nrm bf16")",
       "'layer_nrm' is not a kernel of rows", "did you mean 'layer_norm'?"},
      {R"("kernel": 3)", "3", "'kernel' must be a text, not '3'", ""},
      {R"("kernel": "product bf16 nt", "seconds": 1)", "{", "row 1 has no key 'size'", ""},
      {R"("kernel": "product bf16 nt", "size": 3)", "3", "'size' must be a list of whole numbers, not '3'",
       ""},
      {R"("kernel": "product bf16 nt", "size": [1, 2.5, 3])", "[1, 2.5, 3]",
       "'size' must contain whole numbers, not '2.5'", ""},
      {R"("kernel": "product bf16 nt", "size": [1, 2])", "[1, 2]",
       "'size' has 2 numbers, but a size of product has 3", "expected: m, n, k"},
      {R"("kernel": "product bf16 nt", "size": [1, 0, 2])", "[1, 0, 2]", "n of product must be above zero",
       ""},
      {R"("kernel": "product bf16 nt", "size": [1, 1, 2], "seconds": -1)", "-1",
       "a time must be from 1e-09 to 100000000 s, got '-1'", "remove the rows of failed probes"},
  }));
  const auto line = R"([{"kind": "kernel_time", )" + keys + "}]";
  const auto column = line.find(marked, marked == "{" ? 0 : line.find("\"kernel\":"));
  REQUIRE(column != std::string::npos);
  const auto expected = "a.json:1:" + std::to_string(column + 1) + ": error: " + error + "\n    1 | " + line +
                        "\n      | " + std::string(column, ' ') + "^" +
                        (marked == "{" ? "" : std::string(marked.size() - 1, '~')) + "\n" +
                        (hint.empty() ? "" : "  hint: " + hint + "\n");
  CHECK(message_of([&, &content = line] { return read_samples({{"a.json", content}}); }) == expected);
}
