// SPDX-License-Identifier: Apache-2.0
#include "readers/samples/sample_rows.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "sim/cost/calibration_words.hpp"

namespace gradway {
namespace {

namespace words = calibration_words;

constexpr int most_tensors = 1 << 30;

/// Names of PyTorch.
struct TorchName {
  std::string_view name;
  Arithmetic arithmetic;
};
constexpr std::array torch_names{TorchName{"torch.float32", Arithmetic::fp32},
                                 TorchName{"torch.bfloat16", Arithmetic::bf16},
                                 TorchName{"torch.float16", Arithmetic::fp16}};

Arithmetic read_arithmetic(const JsonRow& row) {
  const auto torch = std::ranges::find(torch_names, row.text("dtype"), &TorchName::name);
  if (torch != torch_names.end()) return torch->arithmetic;
  return static_cast<Arithmetic>(row.one_of("dtype", "a precision", words::arithmetics));
}

}  // namespace

void add_product(const JsonRow& row, Samples& samples) {
  MatrixRow product;
  product.arithmetic = read_arithmetic(row);
  product.m = row.count("m");
  product.n = row.count("n");
  product.k = row.count("k");
  product.time = row.time("seconds");
  samples.matrix.push_back(product);
}

void add_memory(const JsonRow& row, Samples& samples) {
  const auto kernel = row.one_of("op", "a memory-bound kernel", words::memory_kernels);
  samples.memory.push_back({static_cast<MemoryKernel>(kernel), row.bytes("bytes"), row.time("seconds")});
}

void add_optimizer(const JsonRow& row, Samples& samples) {
  OptimizerRow step;
  step.optimizer = static_cast<Optimizer>(row.one_of("op", "an optimizer", words::optimizers));
  step.parameters = row.count("params");
  step.tensors = row.whole("tensors", 1, most_tensors);
  step.time = row.time("seconds");
  samples.optimizers.push_back(step);
}

void add_attention(const JsonRow& row, Samples& samples) {
  AttentionRow attention;
  attention.arithmetic = read_arithmetic(row);
  attention.batch = row.count("batch");
  attention.heads = row.count("heads");
  attention.length = row.count("seq");
  attention.head = row.count("head_dim");
  attention.causal = row.has("causal") && row.boolean("causal");
  attention.time = row.time("seconds");
  samples.attention.push_back(attention);
}

void add_load(const JsonRow& row, Samples& samples) {
  constexpr int most_gpus = 1024;
  samples.loads.push_back({row.whole("gpu", 0, most_gpus), row.time("seconds"), row.count("clock_hz"),
                           row.count("celsius"), row.count("watts")});
}

void add_host_memory(const JsonRow& row, Samples& samples) {
  samples.host.push_back({"host memory", row.bytes("bytes"), row.time("seconds")});
}

void add_disk(const JsonRow& row, Samples& samples) {
  constexpr std::array<std::string_view, 2> operations{"write", "read"};
  const auto operation = operations[row.one_of("op", "an operation", operations)];
  samples.host.push_back({"disk " + std::string{operation}, row.bytes("bytes"), row.time("seconds")});
}

void add_launch(const JsonRow& row, LaunchCost kind, Samples& samples) {
  samples.launches[static_cast<std::size_t>(kind)].push_back(row.time("seconds"));
}

}  // namespace gradway
