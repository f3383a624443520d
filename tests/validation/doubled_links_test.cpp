// SPDX-License-Identifier: Apache-2.0
// A platform with every bandwidth doubled and the calibration of the old one: what was measured stays, so
// nothing may take longer. NCCL must not be thought to see twice the rate where it looks at the kind of link.
#include <fstream>
#include <iterator>
#include <regex>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "sim/config/config.hpp"
#include "sim/run/simulate.hpp"
#include "tests/support/config_files.hpp"

using namespace gradway;

namespace {

const std::string root = GRADWAY_SOURCE_DIR;

/// Every "N GB/s" of the file times two.
std::string with_doubled_links(const std::string& platform) {
  std::ifstream file{root + "/platforms/" + platform + ".yaml"};
  const std::string text{std::istreambuf_iterator<char>{file}, {}};
  const std::regex rate{R"(([0-9.]+) GB/s)"};
  std::string doubled;
  auto rest = text.cbegin();
  for (std::sregex_iterator match{text.begin(), text.end(), rate}, end; match != end; ++match) {
    doubled.append(rest, (*match)[0].first);
    doubled += fmt::format("{} GB/s", 2 * std::stod((*match)[1]));
    rest = (*match)[0].second;
  }
  return doubled.append(rest, text.cend());
}

Seconds time_of(const std::string& platform, int gpus, const std::string& operation, const std::string& size,
                const DataPath& data) {
  return simulate(load_scenario(root + "/scenarios/published/all-reduce.yaml",
                                {{"platform", platform, {}},
                                 {"job.gpus", std::to_string(gpus), {}},
                                 {"strategy.operation", operation, {}},
                                 {"strategy.size", size, {}}},
                                data))
      .measured.metrics.step_time;
}

}  // namespace

TEST_CASE("twice the bandwidth never takes longer where one collective was measured", "[validation]") {
  const std::string platform = GENERATE("aws-g6e.12xlarge", "aws-g6e.48xlarge", "azure-nd40rs-v2",
                                        "azure-nc96ads-a100-v4", "pcie-2x-rtx-a6000");
  const test::TemporaryFolder folder;
  folder.write("platforms/doubled.yaml", with_doubled_links(platform));
  const DataPath data{{folder.path(), root}};
  for (const auto gpus : {2, 4, 7, 8, 13}) {
    if (platform == "pcie-2x-rtx-a6000" && gpus > 2) continue;
    for (const auto* operation : {"all_reduce", "reduce_scatter"}) {
      for (const auto* size : {"100 kB", "700 kB", "1000 kB", "2 MB", "1 GiB"}) {
        CAPTURE(platform, gpus, operation, size);
        CHECK(time_of("doubled", gpus, operation, size, data) <=
              time_of(platform, gpus, operation, size, data) * (1 + 1e-9));
      }
    }
  }
}

TEST_CASE("several nodes are not faster than one where one node was measured", "[validation]") {
  const DataPath data{{root}};
  for (const auto* platform : {"aws-g6e.12xlarge", "azure-nc96ads-a100-v4"}) {
    for (const auto gpus : {7, 8, 12}) {
      CAPTURE(platform, gpus);
      CHECK(time_of(platform, gpus, "all_reduce", "1 GiB", data) >=
            time_of(platform, 4, "all_reduce", "1 GiB", data));
    }
  }
}
