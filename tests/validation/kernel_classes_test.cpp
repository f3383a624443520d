// SPDX-License-Identifier: Apache-2.0
// What the architectures say that PyTorch issues, class by class, against our own traces of the same models
// on an H200 (models/*-h200.yaml). data/kernel-classes.txt holds the table as it is now: on a difference the
// real one is written beside it as .new, to be looked at and then renamed.
#include <array>
#include <fstream>
#include <sstream>
#include <string>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "sim/compute/compute_costs.hpp"
#include "sim/config/config.hpp"
#include "sim/cost/operation_cost.hpp"

using namespace gradway;

namespace {

const std::string root = GRADWAY_SOURCE_DIR;

enum Class { products, convolutions, attention, memory_bound, optimizer, copies };
constexpr std::array<std::string_view, 6> class_names{"products",     "convolutions", "attention",
                                                      "memory-bound", "optimizer",    "copies"};

struct Sum {
  int launches = 0;
  double gflop = 0;
  double gb = 0;
  double ms = 0;

  void add(int count, Flops flops, Bytes bytes, Seconds time) {
    launches += count;
    gflop += flops.value() / 1e9;
    gb += bytes.value() / 1e9;
    ms += time.value() * 1e3;
  }
};
using Sums = std::array<Sum, class_names.size()>;

/// The operation that issued it: what helps it (a memset, a sum of parts) bears another word.
std::string_view operation_of(const Launch& launch) {
  return std::string_view{launch.name}.substr(0, launch.name.find(' '));
}

Class class_of(const Launch& launch) {
  if (launch.kind == KernelClass::copy_in || launch.kind == KernelClass::copy_out) return copies;
  if (launch.phase == ProfiledPhase::optimizer) return optimizer;
  const auto of = operation_of(launch);
  if (of.find("attention") != std::string::npos) return attention;
  if (of.find("conv") != std::string::npos) return convolutions;
  return of == "mm" || of == "addmm" || of == "bmm" ? products : memory_bound;
}

Class class_of(const Operation& operation) {
  if (operation.kind == OperationClass::product) return products;
  if (operation.kind == OperationClass::attention) return attention;
  return operation.kind == OperationClass::convolution ? convolutions : memory_bound;
}

/// Helpers count with their operation: their time, not their launches and bytes.
Sums traced(const Profile& profile) {
  Sums sums;
  for (const auto& launch : profile.launches) {
    const bool is_helper = operation_of(launch).size() < launch.name.size();
    sums[class_of(launch)].add(is_helper ? 0 : 1, launch.flops, is_helper ? 0_B : launch.bytes, launch.gpu);
  }
  return sums;
}

Sums by_architecture(const Scenario& scenario) {
  const auto& gpu = scenario.platform.gpu_models.front();
  const auto batch = scenario.job.batch_per_gpu;
  const auto step = eager_step(scenario.model, eager_settings(scenario, batch));
  Sums sums;
  const auto add = [&](const Operation& operation, int count, Class to) {
    sums[to].add(count, operation.flops, operation.bytes,
                 datasheet_time(operation, gpu) * scenario.kernel_costs->factor(operation));
  };
  for (const auto& layer : step.layers) {
    for (const auto* direction : {&layer.forward, &layer.backward}) {
      for (const auto& operation : *direction) add(operation, 1, class_of(operation));
    }
  }
  sums[optimizer].add(0, {}, {}, compute_costs(scenario).optimizer);
  sums[copies].add(1, {}, scenario.model.input_per_sample * batch, input_copy_time(scenario, batch));
  return sums;
}

std::string table_of(const std::string& architecture, const std::string& profiled) {
  const DataPath data{{root}};
  const auto profile = *load_model(profiled, data).profile;
  const auto scenario = load_scenario(root + "/scenarios/unmeasured/h200.yaml",
                                      {{"model", architecture},
                                       {"job.batch_per_gpu", std::to_string(profile.batch)},
                                       {"job.precision", std::string{name_of(profile.precision)}},
                                       {"optimizer", std::string{name_of(profile.optimizer)}}},
                                      data);
  const auto theirs = traced(profile);
  const auto ours = by_architecture(scenario);
  auto text = fmt::format("{}, {}, batch {}: traced, by the architecture, their ratio\n", architecture,
                          name_of(profile.precision), profile.batch);
  text += fmt::format("  {:<13} {:^20} {:^26} {:^23} {:^23}\n", "", "launches", "GFLOP", "GB", "ms");
  const auto pair = [](double one, double other, int digits, int width) {
    const auto ratio = one > 0 && other > 0 ? fmt::format("{:.2f}", other / one) : "-";
    return fmt::format(" {:>{}.{}f} {:>{}.{}f} {:>5}", one, width, digits, other, width, digits, ratio);
  };
  for (std::size_t i = 0; i < class_names.size(); ++i) {
    const auto& [a, b] = std::pair{theirs[i], ours[i]};
    if (a.launches + b.launches == 0) continue;
    text += fmt::format("  {:<13}", class_names[i]);
    text += pair(a.launches, b.launches, 0, 6) + " " + pair(a.gflop, b.gflop, 1, 9) + " " +
            pair(a.gb, b.gb, 3, 7) + " " + pair(a.ms, b.ms, 3, 7) + "\n";
  }
  return text;
}

std::string content_of(const std::string& file) {
  std::ifstream in{file};
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

}  // namespace

TEST_CASE("kernels by class are those of the traces, as far as the table says", "[validation]") {
  std::string table;
  for (const auto& [architecture, profiled] : {std::pair{"gpt_small", "gpt_small-h200"},
                                               {"gpt_350m", "gpt_medium-h200"},
                                               {"vit_l_32", "vit_l_32-h200"},
                                               {"vit_b_16", "vit_b_16-h200"},
                                               {"resnet50", "resnet50-h200"}})
    table += table_of(architecture, profiled) + "\n";
  const auto file = root + "/tests/validation/data/kernel-classes.txt";
  const auto expected = content_of(file);
  if (table != expected) std::ofstream{file + ".new"} << table;
  CHECK(table == expected);
}
