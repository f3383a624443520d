// SPDX-License-Identifier: Apache-2.0
// tests/config/good/models/measured.yaml uses every key, word and flag; what comes out is written here by
// hand.
#include <fstream>

#include <catch2/catch.hpp>

#include "sim/config/config.hpp"
#include "sim/config/find/document.hpp"

using namespace gradway;

namespace {

const DataPath data{{GRADWAY_SOURCE_DIR "/tests/config/good"}};

}  // namespace

TEST_CASE("a profile with every key is read to its values", "[config]") {
  const auto model = load_model("measured", data);

  CHECK(model.input_per_sample == Bytes{12});
  CHECK(model.anchors.empty());
  REQUIRE(model.profile);
  const auto& profile = *model.profile;
  CHECK(profile.gpu == "fast");
  CHECK(profile.precision == Precision::bf16);
  CHECK(profile.batch == 8);
  CHECK(profile.optimizer == Optimizer::adamw);
  CHECK(profile.steps == 5);
  CHECK(profile.traced_step.value() == Approx(1.5e-3));
  CHECK(profile.step_time->value() == Approx(1.25e-3));
  CHECK(profile.gap.value() == Approx(1.4e-6));
}

TEST_CASE("the launches of a profile keep their order and every column", "[config]") {
  using enum ProfiledPhase;
  using enum KernelClass;
  const auto launches = load_model("measured", data).profile->launches;

  REQUIRE(launches.size() == 5);
  CHECK(launches[0].kind == copy_in);
  CHECK(launches[0].cpu.value() == Approx(10.5e-6));
  CHECK(launches[0].gpu.value() == Approx(6.5e-6));
  CHECK(launches[0].blocks == 0);
  CHECK(launches[0].bytes.value() == Approx(96));
  CHECK(launches[0].grows);
  CHECK(launches[0].stream == 0);
  CHECK(launches[1].phase == forward);
  CHECK(launches[1].kind == matrix);
  CHECK(launches[1].blocks == 1568);
  CHECK(launches[1].blocks_per_sm == 8);
  CHECK(launches[1].precision == Precision::tf32);
  CHECK(launches[1].flops.value() == Approx(1.5e9));
  CHECK(launches[1].host_waits);
  CHECK(launches[2].phase == backward);
  CHECK(launches[2].kind == attention);
  CHECK(launches[2].host_waits);
  CHECK_FALSE(launches[2].grows);
  CHECK(launches[2].stream == 2);
  CHECK(launches[2].name == "a name  with blanks");
  CHECK(launches[3].kind == memory);
  CHECK_FALSE(launches[3].host_waits);
  CHECK_FALSE(launches[3].grows);
  CHECK(launches[4].phase == optimizer);
  CHECK(launches[4].name == "add_");
}

TEST_CASE("the gradients and buffers of a profile keep types and shapes", "[config]") {
  const auto model = load_model("measured", data);
  const auto& profile = *model.profile;

  REQUIRE(profile.gradients.size() == 3);
  CHECK(profile.gradients[0].after == 2);
  CHECK(profile.gradients[0].element_bytes == 2);
  CHECK(profile.gradients[1].shape.empty());
  CHECK(profile.gradients[2].shape == std::vector<std::int64_t>{16, 4, 3, 3});
  REQUIRE(profile.buffers.size() == 2);
  CHECK(profile.buffers[0].shape == std::vector<std::int64_t>{16});
  CHECK(profile.buffers[1].element_bytes == 8);
  CHECK(model.parameter_count() == 16 + 1 + 16 * 4 * 3 * 3);
  CHECK(model.layers.front().name == "gradient 3");
  CHECK(model.layers.back().name == "gradient 1");
}

TEST_CASE("literal texts are cut out and stand where they stood", "[config]") {
  using namespace gradway::config;
  const SourceText source{
      "x.yaml",
      "first: |\n    a\n      b\n\n    c\nsecond: [1]\nthird: |  # a table\n  d\n   \nfourth: |-\n  e\n"
      "fifth: |\nsixth: 'x: |'\n"};
  Problems problems;

  const auto root = parse_yaml(source, problems);

  CHECK(problems.empty());
  REQUIRE(root.entries.size() == 6);
  CHECK(root.entries[0].value.text == "a\n  b\n\nc\n");
  CHECK(root.entries[0].value.block_indent == 4);
  CHECK(root.entries[0].value.where.line == 1);
  CHECK(root.entries[1].value.where.line == 6);
  CHECK(root.entries[2].value.text == "d\n\n");
  CHECK(root.entries[3].value.text == "e");
  CHECK(root.entries[3].value.block_indent == -1);  // written in another way: no table
  CHECK(root.entries[4].value.text.empty());
  CHECK(root.entries[5].value.text == "x: |");
}

TEST_CASE("a profile of 3,000 launches is read whole", "[config]") {
  const auto folder = std::filesystem::temp_directory_path() / "gradway-test-long-profile";
  std::filesystem::create_directories(folder);
  const auto file = folder / "long.yaml";
  {
    std::ofstream out{file};
    out << "schema: 1\nkind: profile\nsource: made up\ngpu: fast\nprecision: bf16\nbatch: 8\noptimizer: "
           "adamw\n"
           "steps: 5\ntraced_step: 1 ms\ngap: 1 us\ninput_per_sample: 0 B\ngradients: |\n";
    for (int i = 0; i < 300; ++i) out << "  " << 1500 + i << " fp32 1024x1024\n";
    out << "launches: |\n";
    for (int i = 0; i < 3000; ++i)
      out << (i < 1000 ? "  forward " : "  backward ")
          << "matrix 12.345 123.456 1568 8 bf16 123.456789 12.345678 - a name of an operation\n";
  }

  const auto model = load_model(file, data);
  std::filesystem::remove_all(folder);

  CHECK(model.profile->launches.size() == 3000);
  CHECK(model.profile->gradients.size() == 300);
}
