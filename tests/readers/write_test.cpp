// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "readers/kineto/write_profile.hpp"
#include "sim/config/config.hpp"
#include "tests/readers/trace_builder.hpp"

using namespace gradway;
using namespace gradway::testing;

namespace {

/// Writes a profile and reads the file as a model.
Model read_back(const Profile& profile, const ProfileNotes& notes) {
  const TraceFile file{profile_yaml(profile, notes), "model.yaml"};
  return load_model(file.path(), DataPath{{GRADWAY_SOURCE_DIR}});
}

void check_same(const Launch& one, const Launch& other) {
  CHECK(one.phase == other.phase);
  CHECK(one.kind == other.kind);
  CHECK(one.cpu.value() == Approx(other.cpu.value()).epsilon(1e-12));
  CHECK(one.gpu.value() == Approx(other.gpu.value()).epsilon(1e-12));
  CHECK(one.host_waits == other.host_waits);
  CHECK(one.blocks == other.blocks);
  CHECK(one.blocks_per_sm == other.blocks_per_sm);
  CHECK(one.precision == other.precision);
  CHECK(one.flops.value() == Approx(other.flops.value()).epsilon(1e-12));
  CHECK(one.bytes.value() == Approx(other.bytes.value()).epsilon(1e-12));
  CHECK(one.grows == other.grows);
  CHECK(one.stream == other.stream);
  CHECK(one.name == other.name);
}

}  // namespace

TEST_CASE("only profiles of text models contain the tokens of a sample", "[import]") {
  Profile profile;
  profile.gpu = "h200";
  profile.batch = profile.steps = 1;
  profile.traced_step = 1_ms;
  const auto tokens_in_text = [&](int sequence) {
    return profile_yaml(profile, {.source = "made up", .input_per_sample = {}, .sequence = sequence});
  };
  CHECK(tokens_in_text(1024).find("\nsequence: 1024\n") != std::string::npos);
  CHECK(tokens_in_text(0).find("sequence") == std::string::npos);
}

TEST_CASE("a profile is unchanged after writing and reading", "[import]") {
  Profile profile;
  profile.gpu = "h200";
  profile.precision = Precision::fp16;
  profile.batch = 32;
  profile.optimizer = Optimizer::adamw_fused;
  profile.steps = 7;
  profile.traced_step = Seconds{0.084374443};
  profile.step_time = 83.85_ms;
  profile.gap = Seconds{1.537e-6};
  profile.launches = {{.phase = ProfiledPhase::forward,
                       .kind = KernelClass::copy_in,
                       .cpu = Seconds{12.345e-6},
                       .gpu = Seconds{349.535e-6},
                       .bytes = Bytes{19267584},
                       .name = "copy_"},
                      {.phase = ProfiledPhase::forward,
                       .kind = KernelClass::attention,
                       .cpu = Seconds{},
                       .gpu = Seconds{1e-9},
                       .host_waits = true,
                       .blocks = 123456789012,
                       .blocks_per_sm = 32,
                       .precision = Precision::bf16,
                       .flops = Flops{123456789012345},
                       .bytes = Bytes{1},
                       .stream = 3,
                       .name = "a name with blanks"},
                      {.phase = ProfiledPhase::backward,
                       .kind = KernelClass::matrix,
                       .cpu = 1_us,
                       .gpu = Seconds{12.5},
                       .precision = Precision::tf32,
                       .name = "mm"},
                      {.phase = ProfiledPhase::optimizer,
                       .kind = KernelClass::memory,
                       .cpu = 1_us,
                       .gpu = 1_us,
                       .host_waits = true,
                       .grows = false,
                       .stream = 1,
                       .name = "# x"},
                      {.phase = ProfiledPhase::optimizer,
                       .kind = KernelClass::copy_out,
                       .cpu = 1_us,
                       .gpu = 1_us,
                       .name = "c"}};
  profile.gradients = {{{1000}, 4, 2}, {{}, 2, 3}, {{1024, 3, 32, 32}, 8, 3}};
  profile.buffers = {{{64}, 4}, {{}, 8}};
  profile.accumulate_grad = 6.4_us;
  profile.memory_from = MemorySource::shapes;
  profile.memory = {{.grows = Bytes{1234567}, .fixed = Bytes{1}},
                    {ProfiledPhase::backward, Bytes{1e9}, Bytes{2}, Bytes{3}, Bytes{4e6}}};
  profile.memory_lacks = {"mine::op", "void odd<int>(a: b) #"};

  const auto model = read_back(profile, {"a source: with 'quotes' and # signs", Bytes{602112.25}});

  CHECK(model.source == "a source: with 'quotes' and # signs");
  CHECK(model.input_per_sample == Bytes{602112.25});
  REQUIRE(model.profile);
  const auto& read = *model.profile;
  CHECK(read.gpu == profile.gpu);
  CHECK(read.precision == profile.precision);
  CHECK(read.batch == profile.batch);
  CHECK(read.optimizer == profile.optimizer);
  CHECK(read.steps == profile.steps);
  CHECK(read.traced_step.value() == Approx(profile.traced_step.value()).epsilon(1e-12));
  CHECK(read.step_time->value() == Approx(profile.step_time->value()).epsilon(1e-12));
  CHECK(read.accumulate_grad->value() == Approx(6.4e-6).epsilon(1e-12));
  CHECK(read.gap.value() == Approx(profile.gap.value()).epsilon(1e-12));
  REQUIRE(read.launches.size() == profile.launches.size());
  for (std::size_t i = 0; i < read.launches.size(); ++i) {
    CAPTURE(i);
    check_same(read.launches[i], profile.launches[i]);
  }
  REQUIRE(read.gradients.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(read.gradients[i].shape == profile.gradients[i].shape);
    CHECK(read.gradients[i].element_bytes == profile.gradients[i].element_bytes);
    CHECK(read.gradients[i].after == profile.gradients[i].after);
  }
  CHECK(read.memory_from == MemorySource::shapes);
  CHECK(read.memory_lacks == profile.memory_lacks);
  REQUIRE(read.memory.size() == 2);
  CHECK(read.memory[0].phase == ProfiledPhase::forward);
  CHECK(read.memory[0].grows == Bytes{1234567});
  CHECK(read.memory[0].fixed == Bytes{1});
  CHECK(read.memory[1].phase == ProfiledPhase::backward);
  CHECK(read.memory[1].grows == Bytes{1e9});
  CHECK(read.memory[1].gradients == Bytes{3});
  CHECK(read.memory[1].output == Bytes{4e6});
  REQUIRE(read.buffers.size() == 2);
  CHECK(read.buffers[0].shape == std::vector<std::int64_t>{64});
  CHECK(read.buffers[1].element_bytes == 8);
}

TEST_CASE("names stay on one line", "[import]") {
  auto profile = import_loop(small_step()).profile;
  profile.launches[1].name = "two\nlines";
  profile.launches[2].name = "";

  const auto read = read_back(profile, {"a\nsource", {}});

  CHECK(read.source == "a source");
  CHECK(read.profile->launches[1].name == "two lines");
  CHECK(read.profile->launches[2].name == "?");
}

TEST_CASE("the layers of a profile are its gradients, the last one ready first", "[import]") {
  auto step = small_step();
  step[3].gradient = "[16]";
  const auto imported = import_loop(step);

  const auto model = read_back(imported.profile, imported.notes);

  REQUIRE(model.layers.size() == 2);
  CHECK(model.layers[0].name == "gradient 2");
  CHECK(model.layers[0].parameters.front().shape == std::vector<std::int64_t>{8, 16});
  CHECK(model.layers[1].name == "gradient 1");
  CHECK(model.layers[1].forward.kernels == 0);
  CHECK(model.layers[1].backward.kernels == 0);
  CHECK(model.parameter_count() == 8 * 16 + 16);
  CHECK(model.parameter_tensors() == 2);
}
