// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <filesystem>
#include <string>

#include <catch2/catch.hpp>

#include "sim/config/config.hpp"
#include "sim/config/find/lookup.hpp"
#include "tests/support/config_files.hpp"

using namespace gradway;
using test::TemporaryFolder;
namespace fs = std::filesystem;

namespace {

const std::string good = GRADWAY_SOURCE_DIR "/tests/config/good";

std::string model_of(int parameters) {
  return "schema: 1\nsource: made up\nkind: synthetic\noptimizer_time: 0 s\n"
         "layers: [{ name: a, forward: 1 ms, backward: 1 ms, parameters: " +
         std::to_string(parameters) + " }]\n";
}

}  // namespace

TEST_CASE("a name is looked up beside the scenario, then in the data folders in their order",
          "[config][lookup]") {
  const TemporaryFolder here, first, second;
  here.write("run.yaml", "schema: 1\nmodel: m\nplatform: lab\njob: { gpus: 1, batch_per_gpu: 1 }\n");
  const DataPath data{{first.path(), second.path(), good}};
  const auto parameters = [&] {
    return load_scenario((here.path() / "run.yaml").string(), {}, data).model.parameter_count();
  };

  second.write("models/m.yaml", model_of(4));
  CHECK(parameters() == 4);
  first.write("models/m.yaml", model_of(3));
  CHECK(parameters() == 3);
  here.write("m.yaml", model_of(2));
  CHECK(parameters() == 2);
  here.write("models/m.yaml", model_of(1));
  CHECK(parameters() == 1);
}

TEST_CASE("a file is read as it stands each time, and its text counts each time", "[config][lookup]") {
  const TemporaryFolder here;
  here.write("run.yaml", "schema: 1\nmodel: m\nplatform: lab\njob: { gpus: 1, batch_per_gpu: 1 }\n");
  const auto read = [&] { return load_scenario((here.path() / "run.yaml").string(), {}, DataPath{{good}}); };
  here.write("m.yaml", model_of(4));
  const auto first = read();
  CHECK(read().digest == first.digest);
  here.write("m.yaml", model_of(3));
  CHECK(read().model.parameter_count() == 3);
  CHECK(read().digest != first.digest);
  here.write("m.yaml", "schema: 1\nsource: made up\nkind: none\n");
  const auto message = test::message_of(read);
  CHECK(message.find("invalid model kind 'none'") != std::string::npos);
  CHECK(test::message_of(read) == message);
  here.write("m.yaml", model_of(4));
  CHECK(read().digest == first.digest);
}

TEST_CASE("what needs the same files often reads each once, unless something is wrong with it",
          "[config][lookup]") {
  const TemporaryFolder here;
  here.write("run.yaml", "schema: 1\nmodel: m\nplatform: lab\njob: { gpus: 1, batch_per_gpu: 1 }\n");
  const auto data = with_file_cache(DataPath{{good}});
  const auto read = [&] { return load_scenario((here.path() / "run.yaml").string(), {}, data); };
  here.write("m.yaml", "schema: 1\nsource: made up\nkind: none\n");
  CHECK(test::message_of(read).find("invalid model kind 'none'") != std::string::npos);
  here.write("m.yaml", model_of(4));
  const auto first = read();
  CHECK(first.model.parameter_count() == 4);
  CHECK(first.digest == load_scenario((here.path() / "run.yaml").string(), {}, DataPath{{good}}).digest);
  here.write("m.yaml", model_of(3));
  CHECK(read().model.parameter_count() == 4);
  CHECK(read().digest == first.digest);
}

TEST_CASE("a program that runs for long reads a file again once it has changed", "[config][lookup]") {
  const TemporaryFolder here;
  here.write("run.yaml", "schema: 1\nmodel: m\nplatform: lab\njob: { gpus: 1, batch_per_gpu: 1 }\n");
  const auto model = here.path() / "m.yaml";
  const auto before = std::filesystem::file_time_type::clock::now() - std::chrono::hours{1};
  const auto write = [&](int parameters, std::filesystem::file_time_type when) {
    here.write("m.yaml", model_of(parameters));
    std::filesystem::last_write_time(model, when);
  };
  const auto data = with_refreshing_file_cache(DataPath{{good}});
  const auto read = [&] {
    return load_scenario((here.path() / "run.yaml").string(), {}, data).model.parameter_count();
  };

  write(4, before);
  CHECK(read() == 4);
  write(3, before);  // nothing tells it from the other: it was not read again
  CHECK(read() == 4);
  write(3, before + std::chrono::seconds{1});
  CHECK(read() == 3);
  write(16, before + std::chrono::seconds{1});  // is longer
  CHECK(read() == 16);
  here.write("m.yaml", model_of(4));  // just now: its time would not tell it from the next
  const auto now = std::filesystem::last_write_time(model);
  CHECK(read() == 4);
  write(3, now);
  CHECK(read() == 3);
}

TEST_CASE("a program that runs for long reads a file again once what it is based on has changed",
          "[config][lookup]") {
  const TemporaryFolder here;
  here.write("run.yaml", "schema: 1\nmodel: m\nplatform: lab\njob: { gpus: 1, batch_per_gpu: 1 }\n");
  here.write("m.yaml", "schema: 1\nsource: made up\nbased_on: base\n");
  const auto data = with_refreshing_file_cache(DataPath{{good}});
  auto when = std::filesystem::file_time_type::clock::now() - std::chrono::hours{1};
  std::filesystem::last_write_time(here.path() / "m.yaml", when);
  for (const int parameters : {4, 3}) {
    here.write("base.yaml", model_of(parameters));
    std::filesystem::last_write_time(here.path() / "base.yaml", when += std::chrono::seconds{1});
    const auto scenario = load_scenario((here.path() / "run.yaml").string(), {}, data);
    CHECK(scenario.model.parameter_count() == parameters);
  }
}

TEST_CASE("a text can stand for a scenario", "[config][lookup]") {
  DataPath data{{good}};
  data.texts["made up"] = "schema: 1\nmodel: words\nplatform: lab\njob: { gpus: 2, batch_per_gpu: 1x }\n";
  CHECK(test::message_of([&] {
          return load_scenario("made up", {}, data);
        }).starts_with("made up:4:32: error: '1x' is not a whole number"));
  const std::vector<Override> mended{{"job.batch_per_gpu", "3"}};
  CHECK(load_scenario("made up", mended, data).job.batch_per_gpu == 3);
}

TEST_CASE("a text can stand for a file that the scenario names", "[config][lookup]") {
  const TemporaryFolder here;
  here.write("based.yaml", "schema: 1\nsource: made up\nbased_on: base\n");
  auto data = with_refreshing_file_cache(DataPath{{good}});
  const auto name = GENERATE(as<std::string>{}, "mine.yaml", "models/mine.yaml");
  const auto parameters_of = [&](const std::string& model) {
    const auto file = (here.path() / "run.yaml").string();
    data.texts[file] = "schema: 1\nmodel: " + model + "\nplatform: lab\njob: { gpus: 1, batch_per_gpu: 1 }\n";
    return load_scenario(file, {}, data).model.parameter_count();
  };
  CAPTURE(name);
  CHECK(test::message_of([&] { parameters_of("mine"); }).find("unknown model 'mine'") != std::string::npos);
  for (const int parameters : {4, 3}) {
    data.texts[name] = model_of(parameters);
    CHECK(parameters_of("mine") == parameters);
    // What a file is based on may be another text at the next call.
    data.texts["base.yaml"] = model_of(parameters + 4);
    CHECK(parameters_of("based") == parameters + 4);
  }
}

TEST_CASE("a text of a scenario does not stand for its model of the same name", "[config][lookup]") {
  DataPath data{{good}};
  data.texts["words.yaml"] = "schema: 1\nmodel: words\nplatform: lab\njob: { gpus: 2, batch_per_gpu: 1 }\n";
  CHECK(load_scenario("words.yaml", {}, data).model.name == "words");
}

TEST_CASE("the scenarios in a folder are those that have keys of scenarios", "[config][lookup]") {
  const TemporaryFolder here;
  here.write("run.yaml", "schema: 1\nmodel: m\nplatform: lab\njob: { gpus: 1, batch_per_gpu: 1 }\n");
  here.write("a.yaml", "schema: 1\nbased_on: run\njob: { gpus: 2 }\n");
  here.write("m.yaml", model_of(4));
  here.write("cases.yaml", "schema: 1\nsource: made up\ncases: []\n");
  here.write("notes.yaml", "bread: 1\n");
  here.write("below/run.yaml", "schema: 1\nmodel: m\nplatform: lab\n");
  here.write("run.txt", "schema: 1\nmodel: m\n");
  CHECK(config::scenario_files(here.path()) == std::vector<std::string>{"a.yaml", "run.yaml"});
  CHECK(config::scenario_files(here.path() / "none").empty());
}

TEST_CASE("the GPU of a platform is looked up in gpus/ beside it", "[config][lookup]") {
  const TemporaryFolder here;
  here.write("mine.yaml", "schema: 1\nsource: made up\ngpu: new\nnode: { gpus: 1 }\n");
  here.write("gpus/new.yaml", "schema: 1\nsource: made up\nideal: true\n");
  CHECK(load_platform((here.path() / "mine.yaml").string(), 1, DataPath{{good}}).gpu_models.front().name ==
        "new");
}

TEST_CASE("a scenario may have the name of its model", "[config][lookup]") {
  CHECK(load_scenario(good + "/words.yaml", {}, {}).model.name == "words");
}

TEST_CASE("a model may stand beside the scenario without a folder", "[config][lookup]") {
  CHECK(load_scenario(good + "/small.yaml", {{"model", "alone"}}, {}).model.layers.size() == 1);
}

TEST_CASE("a scenario of a data folder can be named instead of given by path", "[config][lookup]") {
  const TemporaryFolder data;
  data.write("scenarios/group/run.yaml",
             "schema: 1\nmodel: words\nplatform: lab\njob: { gpus: 2, batch_per_gpu: 1 }\n");

  for (const std::string name : {"group/run", "group/run.yaml"}) {
    CHECK(load_scenario(name, {}, DataPath{{data.path(), good}}).job.gpus == 2);
  }
}

TEST_CASE("cases find their scenario in the data folders too", "[config][lookup]") {
  const TemporaryFolder here, data;
  here.write("cases.yaml",
             "schema: 1\nsource: made up\nscenario: group/run\ncases: [{ name: a, step_time: 1 ms }]\n");
  data.write("scenarios/group/run.yaml",
             "schema: 1\nmodel: words\nplatform: lab\njob: { gpus: 2, batch_per_gpu: 1 }\n");
  const DataPath path{{data.path(), good}};

  const auto cases = load_cases((here.path() / "cases.yaml").string(), path);

  CHECK(cases.cases[0].scenario_file == "group/run");
  CHECK(load_scenario(cases.cases[0].scenario_file, {}, path).job.gpus == 2);
}

TEST_CASE("messages name files without the absolute path of a data folder", "[config][lookup]") {
  const TemporaryFolder data;
  data.write("models/m.yaml", "schema: 1\nsource: made up\nkind: dekoder\n");
  data.write("scenarios/run.yaml",
             "schema: 1\nmodel: m\nplatform: lab\njob: { gpus: 1, batch_per_gpu: 1 }\n");

  const auto message = test::message_of([&] {
    return load_scenario("run", {}, DataPath{{data.path(), good}});
  });

  CHECK(message ==
        "models/m.yaml:3:7: error: invalid model kind 'dekoder'\n"
        "    3 | kind: dekoder\n"
        "      |       ^~~~~~~\n"
        "  hint: did you mean 'decoder'?\n");
}

TEST_CASE("names are listed sorted and once, without cases", "[config][lookup]") {
  const TemporaryFolder extra;
  extra.write("models/words.yaml", model_of(1));
  extra.write("models/z.yaml", model_of(1));
  extra.write("models/README.md", "not a model");
  extra.write("scenarios/b/run.yaml", "schema: 1\nmodel: words\n");
  extra.write("scenarios/a.yaml", "schema: 1\nmodel: words\n");
  extra.write("scenarios/cases.yaml", "schema: 1\ncases: []\n");
  const DataPath data{{good, extra.path(), extra.path() / "nowhere"}};
  using Names = std::vector<std::string>;

  CHECK(list_names(DataKind::model, data) == Names{"convolutions", "measured", "picture", "reader",
                                                   "shortcuts", "timed", "words", "words-tied", "z"});
  CHECK(list_names(DataKind::platform, data) == Names{"cheap-lab", "lab", "leaves"});
  CHECK(list_names(DataKind::gpu, data) == Names{"fast", "ideal"});
  CHECK(list_names(DataKind::calibration, data) == Names{"lab"});
  CHECK(list_names(DataKind::scenario, data) == Names{"a", "b/run"});
  CHECK(list_names(DataKind::model, {}).empty());
}

TEST_CASE("a file that is based on another has its keys but for its own", "[config][based_on]") {
  const auto platform = load_platform("cheap-lab", 1, DataPath{{good}});
  const auto job = load_scenario(good + "/small-fp16.yaml", {}, {}).job;

  CHECK(platform.name == "cheap-lab");
  CHECK(platform.price->per_node == UsdPerHour{3});
  CHECK_FALSE(platform.amd_cpu);
  CHECK(platform.gpus.size() == 4);
  CHECK(job.gpus == 2);
  CHECK(std::get<Ddp>(job.strategy).comm_hook == CommHook::fp16);
}

TEST_CASE("every shipped file is sound", "[config][shipped]") {
  const DataPath data{{GRADWAY_SOURCE_DIR}};

  for (const auto& name : list_names(DataKind::platform, data)) CHECK_NOTHROW(load_platform(name, 8, data));
  for (const auto& name : list_names(DataKind::model, data)) CHECK_NOTHROW(load_model(name, data));
  for (const auto& name : list_names(DataKind::scenario, data)) CHECK_NOTHROW(load_scenario(name, {}, data));
}
