// SPDX-License-Identifier: Apache-2.0
// What is wrong with `--set key=value` is reported at the option, with the key and the value as they were
// typed.
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "sim/config/config.hpp"
#include "tests/support/config_files.hpp"

using namespace gradway;

namespace {

std::string message_of_set(const std::vector<Override>& overrides, const std::string& file = "good.yaml") {
  const test::WorkingFolder here{GRADWAY_SOURCE_DIR "/tests/errors/bad"};
  return test::message_of([&] { return load_scenario(file, overrides, {}); });
}

struct Row {
  std::string key, value, message;
};

}  // namespace

TEST_CASE("a wrong --set is reported at the option", "[errors][set]") {
  const std::vector<Row> rows = {
      {"job.gpu", "4", "--set job.gpu=4: error: unknown key 'job.gpu'\n  hint: did you mean 'job.gpus'?\n"},
      {"gpus", "4", "--set gpus=4: error: unknown key 'gpus'\n  hint: did you mean 'job.gpus'?\n"},
      {"bucket_cap", "25 MiB",
       "--set bucket_cap=25 MiB: error: unknown key 'bucket_cap'\n"
       "  hint: did you mean 'strategy.bucket_cap'?\n"},
      {"nccl.NCCL_P2P_DISABEL", "1",
       "--set nccl.NCCL_P2P_DISABEL=1: error: unknown key 'nccl.NCCL_P2P_DISABEL'\n"
       "  hint: did you mean 'nccl.NCCL_P2P_DISABLE'?\n"},
      {"", "1",
       "--set =1: error: unknown key ''\n"
       "  hint: known: job, nccl, model, input, steps and 9 more; 'gradway list keys' describes them\n"},
      {"parallel.tables", "row_wise",
       "--set parallel.tables=row_wise: error: parallel.tables has no effect: the model 'tiny' has no "
       "embedding "
       "tables\n"
       "  note: models/tiny.yaml:3:7: the model is here\n"
       "  hint: leave it out, or choose a recommendation model such as dlrm\n"},
      {"parallel.tables", "columns",
       "--set parallel.tables=columns: error: invalid sharding of tables 'columns'\n"
       "  hint: known: table_wise, row_wise\n"},
      {"parallel.tensr", "1",
       "--set parallel.tensr=1: error: unknown key 'parallel.tensr'\n"
       "  hint: did you mean 'parallel.tensor'?\n"},
      {"job.gpus", "two", "--set job.gpus=two: error: 'two' is not a whole number\n"},
      {"job.gpus", "", "--set job.gpus=: error: 'gpus' has no value\n"},
      {"job.gpus", "9",
       "--set job.gpus=9: error: job.gpus 9 is more than the 2 GPUs of the platform\n"
       "  note: platforms/small.yaml:5:9: 1 node of 2 GPUs\n"
       "  hint: job.gpus 2 would fit\n"},
      {"job", "8", "--set job=8: error: expected a map of keys and values, found '8'\n"},
      {"strategy.bucket_cap", "25",
       "--set strategy.bucket_cap=25: error: '25' has no unit\n  hint: add a unit such as 'MB' or 'MiB'\n"},
      {"strategy.bucket_cap", "200 Mb",
       "--set strategy.bucket_cap=200 Mb: error: 'Mb' is not a unit of data\n"
       "  hint: 200 Mb is 25 MB: gradway counts bytes\n"},
      {"model", "tinny",
       "--set model=tinny: error: unknown model 'tinny': there is no 'models/tinny.yaml' next to your "
       "file or "
       "in the data folders\n  hint: did you mean 'tiny'?\n"},
      {"job.precision", "fp16",
       "--set job.precision=fp16: error: the GPU 'fast' has no peak compute rate for fp16\n"
       "  note: platforms/gpus/fast.yaml:6:1: its peaks are here\n  hint: supported: fp32, bf16\n"},
      {"steps", "[1",
       "--set steps=[1: error: invalid YAML: a '[' is not closed\n"
       "  hint: add the missing ']', and ',' between items\n"},
      {"steps", "*x",
       "--set steps=*x: error: invalid YAML: aliases ('*name') are not allowed\n"
       "  hint: repeat the value; 'based_on' reuses a whole file\n"},
      {"strategy", "{kind: ddp, kind: none}",
       "--set strategy={kind: ddp, kind: none}: error: duplicate key 'kind'\n"
       "  note: --set strategy={kind: ddp, kind: none}: the first one is here\n  hint: remove one of them\n"},
  };

  for (const auto& [key, value, message] : rows) {
    CAPTURE(key, value);
    CHECK(message_of_set({{key, value}}) == message);
  }
}

TEST_CASE("problems of several --set and of the file are reported together", "[errors][set]") {
  const auto message = message_of_set({{"job.gpus", "x"}, {"stepps", "2"}}, "scenario-bucket-cap.yaml");

  CHECK(message ==
        "--set stepps=2: error: unknown key 'stepps'\n"
        "  hint: did you mean 'steps'?\n"
        "--set job.gpus=x: error: 'x' is not a whole number\n"
        "scenario-bucket-cap.yaml:5:25: error: an amount of data must be above zero, found '0 MB'\n"
        "    5 | strategy: { bucket_cap: 0 MB }\n"
        "      |                         ^~~~\n");
}

TEST_CASE("keys of DDP that are set beside strategy.kind=none are refused", "[errors][set]") {
  const auto message =
      message_of_set({{"job.gpus", "1"}, {"strategy.kind", "none"}, {"strategy.comm_hook", "fp16"}});

  CHECK(message ==
        "--set strategy.comm_hook=fp16: error: strategy none has no 'comm_hook'\n"
        "  note: --set strategy.kind=none: the strategy is here\n"
        "  hint: leave it out, or set strategy.kind=ddp\n");
}

TEST_CASE("an error in a row of cases points into the file of cases", "[errors][set]") {
  const test::WorkingFolder here{GRADWAY_SOURCE_DIR "/tests/errors/bad"};
  const auto cases = load_cases("wrong-rows.yaml", {});

  CHECK(
      test::message_of([&] { return load_scenario(cases.cases[0].scenario_file, cases.cases[0].set, {}); }) ==
      "wrong-rows.yaml:5:32: error: job.gpus 9 is more than the 2 GPUs of the platform\n"
      "    5 |   - { name: a, set: {job.gpus: 9}, step_time: 5 ms }\n"
      "      |                                ^\n"
      "  note: platforms/small.yaml:5:9: 1 node of 2 GPUs\n"
      "  hint: job.gpus 2 would fit\n");
}

TEST_CASE("a missing file is an error of the command line", "[errors]") {
  const DataPath data{{GRADWAY_SOURCE_DIR "/tests/errors/bad"}};

  CHECK(test::message_of([&] { return load_model("tinny", data); }) ==
        "tinny: error: there is no such file\n  hint: did you mean 'tiny'?\n");
  CHECK(test::message_of([&] { return load_platform("nothing/like/it.yaml", 2, data); }) ==
        "nothing/like/it.yaml: error: there is no such file\n  hint: write a path, or a name from 'gradway "
        "list platforms'\n");
}
