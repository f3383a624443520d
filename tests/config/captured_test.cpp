// SPDX-License-Identifier: Apache-2.0
// tests/config/captures contains a capture of a GPT with the shape of models/gpt_small.yaml, made with
// PyTorch 2.6: its operations must be those of the built-in architecture.
#include <algorithm>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "sim/config/config.hpp"
#include "sim/workload/captured/captured_step.hpp"
#include "sim/workload/eager/eager.hpp"
#include "sim/workload/launch_times.hpp"

using namespace gradway;

namespace {

const DataPath data{{GRADWAY_SOURCE_DIR}};

EagerSettings settings_at(int batch) {
  return {.batch = batch, .precision = Precision::bf16, .float_logits = true};
}

struct Sums {
  Flops flops{};
  int products = 0;
  int attention = 0;
  int norms = 0;
  int losses = 0;
};

Sums sums_of(const EagerStep& step) {
  Sums sums;
  for (const auto& layer : step.layers) {
    for (const auto* pass : {&layer.forward, &layer.backward, &layer.once}) {
      for (const auto& operation : *pass) {
        sums.flops += operation.flops;
        sums.products += operation.kind == OperationClass::product ? 1 : 0;
        sums.attention += operation.kind == OperationClass::attention ? 1 : 0;
        sums.norms += operation.kernel.find("layer_norm") != std::string::npos ? 1 : 0;
        sums.losses += operation.kernel.find("log_softmax") != std::string::npos ? 1 : 0;
      }
    }
  }
  return sums;
}

Bytes most_activations(const EagerStep& step) {
  return *std::ranges::max_element(step.memory.activations);
}

Model captured_model() {
  return load_model("gpt_small_captured", {{GRADWAY_SOURCE_DIR "/tests/config/captures"}});
}

}  // namespace

TEST_CASE("a captured GPT issues the products, attention, norms and loss of its architecture", "[config]") {
  const auto built_in = load_model("gpt_small", data);
  const auto captured = captured_model();
  REQUIRE(captured.captured);
  const auto batch = GENERATE(8, 16);
  const auto described = eager_step(built_in, settings_at(batch));
  const auto replayed = eager_step(captured, settings_at(batch));
  const auto expected = sums_of(described);
  const auto found = sums_of(replayed);

  CHECK(found.flops.value() == Approx(expected.flops.value()).epsilon(1e-9));
  CHECK(found.products == expected.products);
  CHECK(found.attention == expected.attention);
  CHECK(found.norms == expected.norms);
  CHECK(found.losses == expected.losses);
  CHECK(most_activations(replayed).value() == Approx(most_activations(described).value()).epsilon(1e-3));
}

TEST_CASE("a captured GPT has the parameters of its architecture, in the order of their gradients",
          "[config]") {
  const auto built_in = load_model("gpt_small", data);
  const auto captured = captured_model();

  CHECK(captured.parameter_count() == built_in.parameter_count());
  CHECK(captured.parameter_tensors() == built_in.parameter_tensors());
  REQUIRE_FALSE(captured.layers.empty());
  const auto with_parameters = [](const Layer& layer) { return !layer.parameters.empty(); };
  const auto first = std::ranges::find_if(captured.layers, with_parameters);
  const auto last = std::find_if(captured.layers.rbegin(), captured.layers.rend(), with_parameters);
  REQUIRE(first != captured.layers.end());
  CHECK(first->parameters.front().name == "emb.weight");
  CHECK(last->parameters.back().name == "head.weight");
}

TEST_CASE("all operations of a captured plain transformer have timed kernels", "[config]") {
  CHECK(captured_model().captured->unknown.empty());
}

TEST_CASE("a captured step is replayed at the batch of the settings", "[config]") {
  const auto model = captured_model();
  const auto once = sums_of(eager_step(model, settings_at(8)));
  const auto twice = sums_of(eager_step(model, settings_at(16)));
  CHECK(twice.flops.value() == Approx(2 * once.flops.value()).epsilon(1e-12));
  CHECK(twice.products == once.products);
  const auto of_one = most_activations(eager_step(model, settings_at(8)));
  const auto of_two = most_activations(eager_step(model, settings_at(16)));
  CHECK(of_two.value() < 2 * of_one.value());
  CHECK(of_two.value() > 1.8 * of_one.value());
}

namespace {

/// The text of a capture. @param head lines that differ between the tests, with formats
std::string capture_of(const std::string& head, const std::string& parameters, const std::string& forward,
                       const std::string& backward) {
  return fmt::format(
      "schema: 1\nkind: captured\nsource: a test\nframework: PyTorch\nbatch: 2\noptimizer: sgd\n"
      "input_per_sample: 4 B\n{}parameters: |\n  fp32 4x4 {}\noperations:\n  - pass: forward\n    list: |\n"
      "{}  - pass: backward\n    list: |\n{}",
      head, parameters, forward, backward);
}

const std::string in_fp32 = "precision: fp32\nstate_dtype: fp32\n";

/// Messages of the errors of a capture with these backward operations, in a scenario with these lines.
std::string wrong_with(const std::string& rows, const std::string& scenario =
                                                    "platform: h200-1x\njob: { gpus: 1, batch_per_gpu: 2 }\n"
                                                    "strategy: { kind: none }\n") {
  const auto model = capture_of(in_fp32, "a.weight", "      a mm fp32[2x4] fp32[4x4]:t -> fp32[2x4]\n",
                                "      " + rows + "\n      a gradient a.weight\n");
  std::string messages;
  try {
    load_scenario_text("schema: 1\nmodel: it\n" + scenario, "a test", data, model);
  } catch (const ConfigError& error) {
    for (const auto& problem : error.problems()) messages += problem.what + "\n";
  }
  return messages;
}

}  // namespace

TEST_CASE("invalid operations of a capture are reported", "[config]") {
  CHECK(wrong_with("a mm fp32[4x2]:t fp32[2x4] -> fp32[4x4] weight").empty());
  CHECK(wrong_with("a mm fp32[4x2]:t -> fp32[4x4]") == "'mm' needs at least 2 input tensors\n");
  CHECK(wrong_with("a mm fp32[4x2]:t fp32[2] -> fp32[4x4]") ==
        "'mm' needs input tensors of 2 dimensions, not 1\n");
  CHECK(wrong_with("a add") == "'add' has neither input nor output tensors\n");
  CHECK(wrong_with("a add fp32[2x0] -> fp32[2x0]").empty());
  CHECK(wrong_with("a add fp31[2] -> fp32[2]") == "invalid element type 'fp31'\n");
  CHECK(wrong_with("a add fp32[2]:x -> fp32[2]") == "invalid layout ':x'\n");
  CHECK(wrong_with("a add fp32[2] -> fp32[2] fast") == "'fast' is neither a tensor nor a note\n");
  CHECK(wrong_with("a gradient b.weight") ==
        "the gradient of 'b.weight' is ready, but 'parameters' does not list it\n");
}

namespace {

/// The job of a scenario with these lines, of a capture with these: parameters in `state`, computed in bf16.
Job job_of(const std::string& captured, const std::string& scenario, const std::string& state = "fp32") {
  const auto model =
      capture_of(fmt::format("precision: bf16\nstate_dtype: {}\n{}", state, captured), "a.weight",
                 "      a mm bf16[2x4] bf16[4x4]:t -> bf16[2x4]\n",
                 "      a mm bf16[4x2]:t bf16[2x4] -> bf16[4x4] weight\n      a gradient a.weight\n");
  const auto text = "schema: 1\nmodel: it\nplatform: aws-p5.48xlarge\n" + scenario;
  return load_scenario_text(text, "a test", data, model).job;
}

}  // namespace

TEST_CASE("a capture gives its strategy to scenarios that name none, or its kind", "[config]") {
  const std::string captured =
      "strategy: { kind: fsdp, wrap: whole, param_dtype: bf16, reduce_dtype: fp32 }\n";
  const std::string gpus = "job: { gpus: 8, batch_per_gpu: 2 }\n";
  for (const std::string strategy : {"", "strategy: { kind: fsdp }\n"}) {
    const auto job = job_of(captured, gpus + strategy);
    const auto& fsdp = std::get<Fsdp>(job.strategy);
    CHECK(fsdp.param_dtype == Number::bf16);
    CHECK(fsdp.wrap.blocks == 0);
    CHECK(job.state_dtype == Number::fp32);
    CHECK(job.precision == Precision::bf16);
  }
  CHECK(std::holds_alternative<Ddp>(job_of(captured, gpus + "strategy: { kind: ddp }\n").strategy));
  CHECK(std::holds_alternative<Ddp>(job_of("", gpus).strategy));
  const auto other = job_of(captured, gpus + "strategy: { kind: fsdp, wrap: whole }\n");
  CHECK_FALSE(std::get<Fsdp>(other.strategy).param_dtype.has_value());
}

TEST_CASE("the sharded group of a captured HSDP has as many ranks on any number of GPUs", "[config]") {
  const std::string captured =
      "ranks: 16\nstrategy: { kind: fsdp, wrap: whole }\nparallel: { replicate: 4 }\n";  // 4 groups of 4
  for (const auto& [gpus, replicas] : {std::pair{4, 1}, std::pair{8, 2}, std::pair{16, 4}, std::pair{64, 16}})
    CHECK(replicas_of(
              job_of(captured, fmt::format("job: {{ gpus: {}, batch_per_gpu: 2 }}\n", gpus)).strategy) ==
          replicas);
}

TEST_CASE("shards in fp32 can be said of the capture of a model in 16 bits", "[config]") {
  const std::string fp32 = "job: { gpus: 8, batch_per_gpu: 2, state_dtype: fp32 }\n";
  const auto sharded = fp32 + "strategy: { kind: fsdp, wrap: whole, param_dtype: bf16 }\n";
  CHECK(job_of("", sharded, "bf16").state_dtype == Number::fp32);
  CHECK_THROWS_AS(job_of("", fp32 + "strategy: { kind: ddp }\n", "bf16"), ConfigError);
  CHECK_THROWS_AS(job_of("", fp32 + "strategy: { kind: fsdp, wrap: whole }\n", "bf16"), ConfigError);
}

TEST_CASE("parallelism that splits the layers of a capture is one error", "[config]") {
  const std::string step = "a mm fp32[4x2]:t fp32[2x4] -> fp32[4x4] weight";
  const std::string rest =
      "' is a capture of one rank: how layers are split follows from a model's shape (its config.json)\n";
  for (const std::string key : {"tensor", "context", "expert"})
    CHECK(wrong_with(step, fmt::format("platform: h200-4x\njob: {{ gpus: 2, batch_per_gpu: 2 }}\n"
                                       "strategy: {{ kind: ddp }}\nparallel: {{ {}: 2 }}\n",
                                       key)) == "parallel." + key + " is 2, but 'it" + rest);
}

// timm's attention reaches its q_norm, which does nothing, only in the backward pass of the views before it.
TEST_CASE("a pass enters each block of a capture once, with modules that only its backward pass reaches",
          "[config]") {
  std::string forward;
  std::string backward;
  for (int i = 0; i < 3; ++i) {
    forward += fmt::format("      h.{}.fc mm fp32[2x4] fp32[4x4]:t -> fp32[2x4]\n", i);
    backward += fmt::format(
        "      h.{0}.norm add fp32[2x4] -> fp32[2x4]\n      h.{0}.fc mm fp32[4x2]:t fp32[2x4] -> fp32[4x4] "
        "weight\n      h.{0}.fc gradient h.{0}.fc.weight\n",
        2 - i);
  }
  forward += "      head mm fp32[2x4] fp32[4x4]:t -> fp32[2x4]\n";
  const auto scenario = load_scenario_text(
      "schema: 1\nmodel: it\nplatform: aws-p5.48xlarge\njob: { gpus: 8, batch_per_gpu: 2 }\n"
      "strategy: { kind: fsdp }\n",
      "a test", data, capture_of(in_fp32, "h.[0..2].fc.weight", forward, backward));
  std::vector<std::string> names;
  for (const auto& layer : scenario.model.captured->layers) names.push_back(layer.name);
  CHECK(names ==
        std::vector<std::string>{"h.0.fc", "h.0.norm", "h.1.fc", "h.1.norm", "h.2.fc", "h.2.norm", "head"});
}

TEST_CASE("the CPU time of a captured step is that of its operations and gradients", "[config]") {
  const auto model = captured_model();
  double operations = 0;
  std::size_t parameters = 0;
  for (const auto& layer : model.captured->layers) {
    parameters += layer.parameters.size();
    for (const auto& [pass, is_backward] : {std::pair{&layer.forward, false}, {&layer.backward, true}})
      for (const auto& operation : *pass)
        if (!kernels_of(operation, 1, 90).kernels.empty()) operations += host_share(operation, is_backward);
  }
  double issued = 0;
  for (const auto& layer : eager_step(model, settings_at(8)).layers)
    for (const auto* pass : {&layer.forward, &layer.backward})
      for (const auto& operation : *pass) issued += operation.host;
  CHECK(issued ==
        Approx(operations + host_share_of_gradient * static_cast<double>(parameters)).epsilon(1e-12));
}

TEST_CASE("captured products and grouped convolutions take more CPU time than casts and plain ones",
          "[config]") {
  const auto of = [](const char* name) {
    CapturedOperation operation;
    operation.name = name;
    return host_share(operation, false);
  };
  CHECK(of("mm") > 2 * of("_to_copy"));
  CHECK(of("addmm") == of("mm"));
  CapturedOperation convolution;
  convolution.name = "convolution";
  convolution.inputs = {{.shape = {8, 64, 56, 56}}, {.shape = {64, 64, 3, 3}}};
  const auto plain = host_share(convolution, false);
  convolution.groups = 64;
  CHECK(host_share(convolution, false) == plain);
  convolution.groups = 4;
  CHECK(host_share(convolution, false) > 3 * plain);
}

TEST_CASE("products in fp8 are known by their scales", "[config]") {
  const auto kernel_of = [](std::vector<std::int64_t> scale, CapturedType type, bool of_parameters) {
    CapturedOperation operation;
    operation.name = "_scaled_mm";
    operation.of_parameters = of_parameters;
    operation.inputs = {{.type = CapturedType::fp8, .shape = {512, 256}},
                        {.type = CapturedType::fp8, .shape = {256, 1024}},
                        {.type = type, .shape = std::move(scale)},
                        {.type = type, .shape = {}}};
    operation.outputs = {{.type = CapturedType::bf16, .shape = {512, 1024}}};
    const auto kernels = kernels_of(operation, 2, 90);
    REQUIRE(kernels.kernels.size() == 1);
    CHECK(kernels.is_known);
    CHECK(kernels.kernels.front().flops.value() == 2.0 * 512 * 256 * 1024 * 2);  // at twice the batch
    CapturedOperation plain;
    plain.name = "mm";
    CHECK(host_share(operation, false) == host_share(plain, false));
    return kernels.kernels.front().kernel;
  };
  CHECK(kernel_of({}, CapturedType::fp32, false) == "product fp8 nt_fast");
  CHECK(kernel_of({}, CapturedType::fp32, true) == "product fp8 nt");
  CHECK(kernel_of({512, 1}, CapturedType::fp32, false) == "product fp8 nt_rows");
  CHECK(kernel_of({512, 2}, CapturedType::fp32, false) == "product fp8 nt_blocks");
  CHECK(kernel_of({4096}, CapturedType::fp8, false) == "product fp8 nt_mx");
}

TEST_CASE("a compiled capture reads and writes each tensor of a run of operations once", "[config]") {
  const CapturedTensor wide{.type = CapturedType::bf16, .shape = {8, 64}};
  const CapturedTensor row{.type = CapturedType::fp32, .shape = {8, 1}};
  const CapturedTensor loss{.shape = {}};
  std::int64_t order = 0;
  const auto issue = [&](const char* name, std::vector<CapturedTensor> inputs,
                         std::vector<CapturedTensor> outputs) {
    CapturedOperation operation;
    operation.name = name;
    operation.inputs = std::move(inputs);
    operation.outputs = std::move(outputs);
    operation.order = order++;
    return operation;
  };
  CapturedStep step;
  step.layers.resize(2);
  auto& first = step.layers[0].forward;
  auto& second = step.layers[1].forward;
  first.push_back(issue("add", {wide, wide}, {wide}));
  second.push_back(issue("mean", {wide}, {row}));  // of another module, but next in the program
  first.push_back(issue("mul", {wide, row}, {wide}));
  first.push_back(issue("mm", {wide, wide}, {wide}));
  second.push_back(issue("exp", {wide}, {wide}));
  second.push_back(issue("sum", {wide}, {loss}));
  const auto fused = fused_step(step);
  REQUIRE(fused.layers[0].forward.size() == 2);
  const auto& norm = fused.layers[0].forward[0];
  CHECK(norm.name == "compiled");
  CHECK(norm.inputs.size() == 2);   // both operands of the sum
  CHECK(norm.outputs.size() == 2);  // the mean and the product
  CHECK(fused.layers[0].forward[1].name == "mm");
  REQUIRE(fused.layers[1].forward.size() == 1);
  CHECK(fused.layers[1].forward[0].inputs.size() == 1);
  REQUIRE(fused.layers[1].forward[0].outputs.size() == 1);  // what only a sum reads is not written
  CHECK(fused.layers[1].forward[0].outputs[0].shape.empty());
}
