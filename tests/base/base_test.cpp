// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <cmath>

#include "sim/base/contract.hpp"
#include "sim/base/nearest.hpp"
#include "sim/base/problem.hpp"
#include "sim/base/random.hpp"
#include "sim/base/units.hpp"

using namespace gradway;

TEST_CASE("quantities convert only as physics allows") {
  CHECK((100_MB / 50_GBps).value() == Approx(2e-3));
  CHECK((1_GiB).value() == 1073741824);
  CHECK((Flops{3e12} / FlopsPerSecond{1e12}).value() == 3);
  STATIC_REQUIRE(!std::is_convertible_v<Bytes, Seconds>);
  STATIC_REQUIRE(!std::is_convertible_v<double, Bytes>);
}

TEST_CASE("gamma-distributed numbers have the mean 1, their standard deviation and their tail") {
  const auto deviation = GENERATE(0.1, 0.5, 1.0, 2.5);
  CAPTURE(deviation);
  Random random{7, RandomStream::batches};
  constexpr int count = 400'000;
  double sum = 0, squares = 0, above = 0;
  for (int i = 0; i < count; ++i) {
    const auto x = random.gamma(deviation);
    sum += x;
    squares += x * x;
    above += x > 3 ? 1 : 0;
  }
  CHECK(sum / count == Approx(1).epsilon(0.02));
  CHECK(std::sqrt(squares / count - 1) == Approx(deviation).epsilon(0.03));
  if (deviation == 1.0) CHECK(above / count == Approx(std::exp(-3)).epsilon(0.03));  // exponential
}

TEST_CASE("misspelt names get a suggestion, unrelated words do not") {
  const std::vector<std::string> names{"bandwidth", "latency", "count"};
  CHECK(nearest("bandwith", names) == "bandwidth");
  CHECK(nearest("latncy", names) == "latency");
  CHECK(nearest("coutn", names) == "count");
  CHECK(nearest("band", names) == "bandwidth");
  CHECK(nearest("ba", names).empty());
  CHECK(nearest("colour", names).empty());
  CHECK(suggestion("zzz", names) == "known: bandwidth, latency, count");
  CHECK(suggestion("zzz", {}).empty());
  std::vector<std::string> many;
  for (char first = 'a'; first <= 'm'; ++first) many.push_back(std::string(4, first));
  CHECK(suggestion("yyyklm", many) == "known: kkkk, llll, mmmm, aaaa, bbbb and 8 more");
  CHECK(suggestion(std::string(1'000'000, 'k'), many) == "known: kkkk, aaaa, bbbb, cccc, dddd and 8 more");
}

TEST_CASE("names that contain a name as a part are near", "[nearest]") {
  const std::vector<std::string> names{"h100-pcie",        "h100-sxm", "h200",     "aws-p5.48xlarge",
                                       "aws-p5e.48xlarge", "job.gpus", "NCCL_ALGO"};
  CHECK(suggestion("h100", names) == "did you mean 'h100-sxm' or 'h100-pcie'?");  // not h200, one letter away
  CHECK(suggestion("p5", names) == "did you mean 'aws-p5.48xlarge'?");
  CHECK(suggestion("gpus", names) == "did you mean 'job.gpus'?");
  CHECK(suggestion("h10", {"a10", "h100-sxm"}) == "did you mean 'h100-sxm'?");  // a10 is one letter away
  CHECK(nearest("MFUU", {"tied", "mfu"}) == "mfu");
  CHECK(nearest("H100-SXM", names) == "h100-sxm");
  CHECK(nearest("nccl_algo", names) == "NCCL_ALGO");
  CHECK(suggestion("Azure Blob", {"azure-blob-premium", "aws"}) == "did you mean 'azure-blob-premium'?");
  CHECK(suggestion("x", {"a_x"}) == "known: a_x");  // single letters match too much
  CHECK(near_names("a", {}).empty());
  CHECK(near_names("llama", {"llama_70b", "llama_8b", "llama_b", "llama_13b", "llama"}).size() == 4);
  CHECK(near_names("llam", {"llama_70b", "llama_8b"}) == std::vector<std::string>{"llama_8b", "llama_70b"});
}

TEST_CASE("a problem is printed with its place, the line, a caret, notes and a hint") {
  const Problem problem{{"a.yaml", 3, 8, 4, "  gpus: nine"},
                        "'nine' is not a whole number",
                        {{{"b.yaml", 1, 1, 0, ""}, "8 GPUs"}},
                        "write 8"};
  CHECK(to_text(problem) ==
        "a.yaml:3:8: error: 'nine' is not a whole number\n"
        "    3 |   gpus: nine\n"
        "      |        ^~~~\n"
        "  note: b.yaml:1:1: 8 GPUs\n"
        "  hint: write 8\n");
}

TEST_CASE("a user error carries all problems") {
  const ConfigError error{
      std::vector<Problem>{{{"a", 1, 1, 0, ""}, "one", {}, ""}, {{"a", 2, 1, 0, ""}, "two", {}, ""}}};
  CHECK(error.problems().size() == 2);
  CHECK(std::string{error.what()} == "a:1:1: error: one\na:2:1: error: two\n");
}

TEST_CASE("a contract violation names the condition and the place") {
  CHECK_THROWS_AS(expects(false, "two and two are four"), ContractViolation);
  CHECK_NOTHROW(expects(true, "two and two are four"));
}
