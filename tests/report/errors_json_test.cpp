// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "sim/report/format/errors_json.hpp"

using namespace gradway;

TEST_CASE("errors of every part of a step survive a round trip through JSON", "[report][json]") {
  std::vector<PossibleError> errors;
  for (std::size_t part = 0; part < part_words.size(); ++part)
    errors.push_back({.cause = {static_cast<PartOfStep>(part), "cause"}, .time = 3_ms, .uncertainty = 0.1});
  errors.back().spare = 0.7_ms;
  errors.back().saves = 1.1_ms;
  const auto text = report::errors_json(errors).dump();
  const auto again = report::errors_of(nlohmann::ordered_json::parse(text));
  REQUIRE(again.size() == errors.size());
  for (std::size_t i = 0; i < errors.size(); ++i) {
    CHECK(again[i].cause == errors[i].cause);
    CHECK(again[i].time == errors[i].time);
    CHECK(again[i].uncertainty == errors[i].uncertainty);
    CHECK(again[i].spare == errors[i].spare);
    CHECK(again[i].saves == errors[i].saves);
  }
}

TEST_CASE("sources of errors are worded", "[report][json]") {
  using namespace error_source;
  const auto of = [](ErrorSource source) {
    const auto json =
        report::errors_json({{.cause = {}, .source = std::move(source), .time = 3_ms, .uncertainty = 0.1}});
    return json[0]["of"].get<std::string>();
  };
  const Compute compute{"gpt2", "a100-sxm", Precision::bf16, AnchorReference{91.93_ms, 32}};
  CHECK(of(compute) == "gpt2 on a100-sxm in bf16 by a step of 91.93 ms at batch 32");
  CHECK(of(OtherOptimizer{gradway::Optimizer::adamw, compute}) ==
        "adamw of gpt2 on a100-sxm in bf16 by a step of 91.93 ms at batch 32");
  CHECK(of(OtherBatch{OtherBatch::Batch::larger, 64, compute}) ==
        "larger batches of gpt2 on a100-sxm in bf16 by a step of 91.93 ms at batch 32");
  CHECK(of(CalibratedCollectives{Transport::shm, "h200-4x", 8}) == "SHM by h200-4x of 8 ranks");
}
