// SPDX-License-Identifier: Apache-2.0
// Every bad/NAME.expected holds the whole message that bad/NAME.yaml must give. The first word of NAME says
// what kind of file it is. On a difference the real message is written to NAME.new beside it, to be looked at
// and then renamed.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "sim/config/find/document.hpp"
#include "sim/config/read/read.hpp"
#include "sim/config/yaml/source_file.hpp"
#include "tests/support/config_files.hpp"

using namespace gradway;

namespace {

const std::filesystem::path folder{GRADWAY_SOURCE_DIR "/tests/errors/bad"};

/// Reads a file that `config.hpp` only reads through a platform.
template <class Read>
void read_alone(const std::string& file, const Read& read) {
  config::Problems problems;
  const auto root = config::load_document({file, file}, problems);
  config::Reader reader{root, config::in_file(file), problems};
  read(reader, file);
  problems.raise();
}

using Load = void (*)(const std::string& file);

const std::map<std::string, Load> loaders = {
    {"scenario", [](const std::string& file) { load_scenario(file, {}, {}); }},
    {"platform",
     [](const std::string& file) {
       Calibration calibration;
       load_platform(file, 2, {}, &calibration);
     }},
    {"model", [](const std::string& file) { load_model(file, {}); }},
    {"prices", [](const std::string& file) { load_source_of_prices(file, {}); }},
    {"cases", [](const std::string& file) { load_cases(file, {}); }},
    {"gpu", [](const std::string& file) { read_alone(file, config::read_gpu); }},
    {"calibration", [](const std::string& file) { read_alone(file, config::read_calibration); }},
    {"storage", [](const std::string& file) { load_storage(file, {}); }},
    {"dataset", [](const std::string& file) { load_dataset(file, {}); }},
};

std::vector<std::string> bad_names() {
  std::vector<std::string> names;
  for (const auto& file : std::filesystem::directory_iterator{folder}) {
    if (file.path().extension() == ".expected") names.push_back(file.path().stem().string());
  }
  std::ranges::sort(names);
  return names;
}

std::string content(const std::filesystem::path& path) {
  std::ifstream stream{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{stream}, {}};
}

}  // namespace

TEST_CASE("every bad file gives exactly its message", "[errors]") {
  const test::WorkingFolder here{folder};
  const auto names = bad_names();
  REQUIRE(names.size() >= 80);  // a wrong folder must not pass

  for (const auto& name : names) {
    const auto load = loaders.at(name.substr(0, name.find('-')));
    const auto message = test::message_of([&] { return load(name + ".yaml"), 0; });

    if (message != content(folder / (name + ".expected"))) {
      std::ofstream{folder / (name + ".new")} << message;
      FAIL_CHECK("expected " << folder / (name + ".expected") << "\ngot      " << folder / (name + ".new")
                             << "\n"
                             << message);
    }
    CHECK(message.find(GRADWAY_SOURCE_DIR) == std::string::npos);
  }
}

TEST_CASE("every bad file has a message to compare with", "[errors]") {
  for (const auto& file : std::filesystem::directory_iterator{folder}) {
    const auto name = file.path().stem().string();
    if (file.path().extension() != ".yaml" || !loaders.contains(name.substr(0, name.find('-')))) continue;

    INFO(name);
    CHECK(std::filesystem::exists(folder / (name + ".expected")));
  }
}
