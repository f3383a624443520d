// SPDX-License-Identifier: Apache-2.0
// `explain` names the stage that limits a loader, and what it promises comes true when it is done.
#include <catch2/catch.hpp>

#include <algorithm>
#include <string>
#include <vector>

#include "sim/config/config.hpp"
#include "sim/report/format/words.hpp"
#include "sim/study/explain/explain.hpp"

using namespace gradway;

namespace {

const DataPath data{{GRADWAY_SOURCE_DIR}};

struct Remedy {
  std::string scenario;
  std::vector<Override> set;
  std::string resource;  ///< that limits it
  std::string why;       ///< a part of the sentence
  std::string remedy;    ///< name of the answer
};

/// Explains the scenario, then runs it with the remedy.
void check(const Remedy& row) {
  CAPTURE(row.scenario, row.remedy);
  const auto explanation = explain(load_scenario(row.scenario, row.set, data), "fluid", 2);
  const auto words = report::describe(explanation.run.measured.bottleneck);
  CHECK(words.resource == row.resource);
  CHECK_THAT(words.why, Catch::Contains(row.why));
  const auto found = std::ranges::find(explanation.helps, row.remedy, &Counterfactual::name);
  REQUIRE(found != explanation.helps.end());
  const auto step = explanation.run.measured.metrics.step_time;
  CHECK(found->gain(step) > 0.05);
  if (found->is_bound) return;
  auto again = row.set;
  for (const auto& [key, value] : found->set) again.push_back({key, value});
  const auto run = simulate(load_scenario(row.scenario, again, data), "fluid");
  CHECK(run.measured.metrics.step_time.value() == Approx(found->step_time.value()).epsilon(0.02));
}

}  // namespace

TEST_CASE("the remedy that explain names has the gain that it promises", "[loading]") {
  const std::vector<Remedy> rows{
      {"loading/resnet50",
       {{"input.loader_workers", "2"}},
       "loader workers",
       "to decode samples",
       "decode_gpu"},
      {"loading/dali",
       {{"input.decode", "cpu"}, {"input.loader_workers", "2"}},
       "loader",
       "the 2 CPU threads of DALI need",
       "decode_gpu"},
      {"loading/dali",
       {{"input.dataset",
         "{ samples: 1e6, sample_size: 500 kB, format: shards, request: 8 MiB, pixels: 1e6, "
         "delivered: 602112 B }"},
        {"input.loader_workers", "1"},
        {"input.hw_decoder_load", "0.1"}},
       "loader",
       "DALI's CPU thread needs",
       "hw_decoder_load_1"},
      {"loading/dali",
       {{"input.dataset", "imagenet-1k"}, {"input.storage", "s3-standard"}},
       "loader",
       "DALI's reader, one thread, needs",
       "ready_samples"},
      {"loading/tf-data",
       {{"input.loader_workers", "2"}},
       "loader",
       "the 2 threads of tf.data need",
       "loader_workers_4"},
      {"loading/csv", {}, "loader workers", "to parse lines", "csv_parser_pyarrow"},
      {"loading/parquet-predicate", {}, "loader workers", "to read samples", "predicate_rows_clustered"},
      {"loading/mapped",
       {{"input.storage", "lustre-hpc"}, {"input.read_ahead", "0 B"}},
       "loader workers",
       "to wait for page faults",
       "access_sequential"}};
  for (const auto& row : rows) check(row);
}

TEST_CASE("AUTOTUNE takes the node's hardware threads", "[loading]") {
  const auto scenario = load_scenario("loading/tf-data", {}, data);
  CHECK(scenario.job.input.loader_workers == 2 * scenario.platform.cores_per_node / 8);
  CHECK(load_scenario("loading/tf-data", {{"input.loader_workers", "3"}}, data).job.input.loader_workers ==
        3);
}

TEST_CASE("decoding that takes a large part of the GPU is the bottleneck", "[loading]") {
  const auto explanation = explain(load_scenario("loading/dali",
                                                 {{"input.dataset",
                                                   "{ samples: 1e6, sample_size: 500 kB, format: shards, "
                                                   "request: 8 MiB, pixels: 2e6, delivered: 602112 B }"}},
                                                 data),
                                   "fluid", 2);
  CHECK(report::describe(explanation.run.measured.bottleneck).resource == "decoding on the GPU");
}
