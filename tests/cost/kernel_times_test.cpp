// SPDX-License-Identifier: Apache-2.0
#include "sim/cost/kernel_times.hpp"

#include <array>
#include <cstdio>
#include <memory>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <catch2/catch.hpp>

using namespace gradway;

namespace {

/// The output of a command. @throws std::runtime_error if it cannot be started or fails
std::string output_of(const std::string& command) {
  std::string output;
  auto* const pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error{"cannot start " + command};
  std::array<char, 4096> part{};
  while (const auto size = std::fread(part.data(), 1, part.size(), pipe)) output.append(part.data(), size);
  if (::pclose(pipe) != 0) throw std::runtime_error{"failed: " + command};
  return output;
}

const std::string script = "'" GRADWAY_SOURCE_DIR "/calibration/torch/measure_kernels.py'";

/// A kind as the script lists it: "product number=fp32|tf32 layout=nt|nn size=mxnxk".
std::string text_of(const TimedKind& kind) {
  auto text = std::string{kind.name};
  for (std::size_t word = 0; word < word_count(kind); ++word)
    text += fmt::format(" {}={}", kind.words[word], fmt::join(choices(kind, word), "|"));
  return text + fmt::format(" size={}\n", size_names(kind));
}

}  // namespace

TEST_CASE("the script times the kinds of kernels that gradway knows by the same names", "[cost]") {
  std::string known;
  for (const auto& kind : timed_kinds) known += text_of(kind);
  CHECK(output_of(script + " --list") == known);
}

TEST_CASE("the script prints its help without PyTorch and refuses unknown kinds", "[cost]") {
  const auto help = output_of(script + " --help");
  for (const auto* part : {"--out", "--only", "--quick", "--list", "gradway calibrate fit", "exit status"})
    CHECK_THAT(help, Catch::Contains(part));
  CHECK_THROWS(output_of(script + " 2> /dev/null"));
  CHECK_THROWS(output_of(script + " -o x.json --only gemm 2> /dev/null"));
}

TEST_CASE("a kind of kernels has words and dimensions, and every word has choices", "[cost]") {
  CHECK(size_count(*kind_of_name("product")) == 3);
  CHECK(size_count(*kind_of_name("convolution_weight")) == 8);
  CHECK(kind_of_name("gemm") == nullptr);
  CHECK(word_count(*kind_of_name("embedding")) == 0);
  CHECK(size_names(*kind_of_name("attention_forward")) == "batchxheadsxseqxhead_dim");
  CHECK(noun_of_word(*kind_of_name("product"), 1) == "a layout of product");
  for (const auto& kind : timed_kinds) {
    CAPTURE(kind.name);
    CHECK(size_count(kind) > 0);
    CHECK(size_count(kind) < kind.size.size());
    for (std::size_t word = 0; word < word_count(kind); ++word) CHECK_FALSE(choices(kind, word).empty());
  }
}

TEST_CASE("kernels are listed by kind, words and size", "[cost]") {
  const std::vector<KernelTime> in_order{
      {"product bf16 nn", {9, 9, 9}, 1_us},  {"product bf16 nt", {2, 1, 1}, 1_us},
      {"product bf16 nt", {10, 1, 1}, 1_us}, {"batched_product bf16 nt", {1, 1, 1, 1}, 1_us},
      {"elementwise add bf16", {1}, 1_us},   {"embedding", {1, 1, 1}, 1_us}};
  for (std::size_t i = 0; i < in_order.size(); ++i) {
    for (std::size_t j = 0; j < in_order.size(); ++j)
      CHECK(is_listed_before(in_order[i], in_order[j]) == (i < j));
  }
}
