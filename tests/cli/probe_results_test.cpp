// SPDX-License-Identifier: Apache-2.0
#include <fstream>
#include <iterator>

#include <catch2/catch.hpp>

#include "tests/cli/program.hpp"

using namespace gradway::testing;

namespace {

const std::string root = GRADWAY_SOURCE_DIR;

std::string content(const std::filesystem::path& file) {
  std::ifstream stream{file};
  return {std::istreambuf_iterator<char>{stream}, {}};
}

/// A node that gradway-probe ran on, and the files that were made from it.
struct Probed {
  std::string calibration;
  std::string platform;
  std::vector<std::string> samples;
  std::vector<std::string> options{};
};

}  // namespace

TEST_CASE("the shipped calibrations and platforms are what the shipped samples give, byte for byte",
          "[cli][calibrate]") {
  const auto node = GENERATE(values<Probed>({{"h200-1x", "h200-1x", {"machine-1.json.gz"}},
                                             {"h200-2x", "h200-2x", {"machine-1.json.gz"}},
                                             {"h200-4x",
                                              "h200-4x-probe",
                                              {"machine-1.json.gz", "machine-2.json.gz", "machine-3.json.gz"},
                                              {"--source",
                                               "gradway-probe 0.1.0, 2026-11-21, on three machines of 4 H200 "
                                               "on NVSwitch: driver 580.159.04, NCCL 2.28.9, "
                                               "NVLink multicast off"}}}));
  const auto results = root + "/calibration/results/" + node.calibration;
  const TemporaryFolder folder;
  const auto calibration = (folder.path() / "calibration.yaml").string();
  const auto platform = (folder.path() / "platform.yaml").string();
  std::vector<std::string> arguments{"calibrate", "fit"};
  arguments.insert(arguments.end(), node.samples.begin(), node.samples.end());
  arguments.insert(arguments.end(), {"-o", calibration, "--platform", node.platform});
  arguments.insert(arguments.end(), node.options.begin(), node.options.end());
  const World at_samples{.folder = results + "/samples"};

  CHECK(run_gradway(arguments, at_samples).status == 0);
  CHECK(content(calibration) == content(results + "/calibration.yaml"));
  CHECK(run_gradway(
            {"import", "probe", node.samples.front(), "-o", platform, "--calibration", node.calibration},
            at_samples)
            .status == 0);
  CHECK(content(platform) == content(root + "/platforms/" + node.platform + ".yaml"));
}
