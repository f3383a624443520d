// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "calibration/harness/group.hpp"
#include "calibration/probe/attempt.hpp"
#include "calibration/probe/kernels/families.hpp"
#include "calibration/probe/kernels/product.hpp"
#include "calibration/probe/measure.hpp"
#include "calibration/probe/nvml.hpp"

namespace gradway::probe {
namespace {

// Tolerances: rounding of factors (tf32) or result (half an ulp of entries up to 4.5 sigma), with a margin; a
// wrong entry is off by about 1.
constexpr std::array arithmetics{
    Arithmetic{"fp32", Element::fp32, Element::fp32, CUBLAS_COMPUTE_32F, 0, 1e-4},
    Arithmetic{"tf32", Element::fp32, Element::fp32, CUBLAS_COMPUTE_32F_FAST_TF32, 80, 5e-3},
    Arithmetic{"bf16", Element::bf16, Element::bf16, CUBLAS_COMPUTE_32F, 80, 3e-2},
    Arithmetic{"fp16", Element::fp16, Element::fp16, CUBLAS_COMPUTE_32F, 0, 5e-3},
    Arithmetic{"fp8", Element::fp8, Element::bf16, CUBLAS_COMPUTE_32F, 89, 3e-2},
};

/// Square products, products of transformers with 1,024 to 4,096 columns, and skinny ones.
const std::vector<ProductShape> shapes{
    {512, 512, 512},     {1024, 1024, 1024}, {2048, 2048, 2048}, {4096, 4096, 4096}, {8192, 8192, 8192},
    {1600, 1024, 1024},  {1600, 3072, 1024}, {1600, 4096, 1024}, {1600, 1024, 4096}, {1024, 1024, 1600},
    {4096, 1024, 1600},  {4096, 3072, 1024}, {4096, 4096, 1024}, {8192, 1024, 4096}, {4096, 50304, 1024},
    {8192, 14336, 4096}, {128, 4096, 4096},  {32, 4096, 4096},   {16, 4096, 4096},   {4096, 64, 1024},
    {4096, 1024, 64},
};
const std::vector<ProductShape> quick_shapes{
    {1024, 1024, 1024}, {2048, 2048, 2048}, {4096, 4096, 4096}, {8192, 8192, 8192},
    {1600, 4096, 1024}, {4096, 1024, 1600}, {32, 4096, 4096},
};

/// Different sides, so that any mix-up of them is detected.
constexpr ProductShape checked_shape{256, 384, 512};

/// Factors and product of the largest shape.
struct Operands {
  DeviceBuffer x;
  DeviceBuffer w;
  DeviceBuffer y;
};

Operands random_operands(const Arithmetic& arithmetic, const std::vector<ProductShape>& all) {
  std::size_t x = 0;
  std::size_t w = 0;
  std::size_t y = 0;
  for (const auto& shape : all) {
    x = std::max(x, static_cast<std::size_t>(shape.m * shape.k));
    w = std::max(w, static_cast<std::size_t>(shape.n * shape.k));
    y = std::max(y, static_cast<std::size_t>(shape.m * shape.n));
  }
  Operands operands{DeviceBuffer{x * size_of(arithmetic.in)}, DeviceBuffer{w * size_of(arithmetic.in)},
                    DeviceBuffer{y * size_of(arithmetic.out)}};
  fill_normal(operands.x, arithmetic.in, x, 1);
  fill_normal(operands.w, arithmetic.in, w, 2);
  return operands;
}

/// Compares the first, the last and some other entries with dot products in fp64.
void verify(const Multiplier& multiplier, const Arithmetic& arithmetic, const Operands& operands) {
  const auto [m, n, k] = checked_shape;
  const Product product{multiplier, arithmetic, checked_shape};
  if (!product.is_supported()) throw Failure{"cublasLt has no product of 256 x 384 x 512"};
  const auto count = static_cast<std::size_t>(m * n);
  check(cudaMemset(operands.y.get(), 0xff, count * size_of(arithmetic.out)), "spoiling a product");  // NaN
  check(cudaDeviceSynchronize(), "spoiling a product");
  const Stream stream;
  product.issue(operands.x.get(), operands.w.get(), operands.y.get(), stream);
  stream.wait();
  const auto x = values(operands.x, arithmetic.in, 0, static_cast<std::size_t>(m * k));
  const auto w = values(operands.w, arithmetic.in, 0, static_cast<std::size_t>(n * k));
  const auto y = values(operands.y, arithmetic.out, 0, count);
  constexpr std::size_t stride = 997;  // A prime: all rows and columns are checked.
  for (std::size_t i = 0; i < count; i = i + 1 == count ? count : std::min(i + stride, count - 1)) {
    const auto row = i / static_cast<std::size_t>(n) * static_cast<std::size_t>(k);
    const auto column = i % static_cast<std::size_t>(n) * static_cast<std::size_t>(k);
    double dot = 0;
    for (std::size_t j = 0; j < static_cast<std::size_t>(k); ++j) dot += double{x[row + j]} * w[column + j];
    if (!(std::abs(y[i] - dot) <= arithmetic.tolerance * std::sqrt(static_cast<double>(k)))) {
      throw Failure{std::string{arithmetic.name} + ": entry " + std::to_string(i) + " of a product is " +
                    std::to_string(y[i]) + ", not " + std::to_string(dot)};
    }
  }
}

/// Runs a large product for a while: a training step keeps the GPU at its power limit, where its clock is
/// lower than in the first milliseconds.
void heat(const ProductShape& shape, const std::function<void(const Stream&)>& issue) {
  // multiply-adds; 0.6 ms in bf16 on an H200
  constexpr std::int64_t large = std::int64_t{4096} * 50304 * 1024;
  constexpr std::chrono::milliseconds time{100};
  if (shape.m * shape.n * shape.k < large) return;
  const Stream stream;
  const auto begin = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() - begin < time) {
    for (int i = 0; i < 4; ++i) issue(stream);
    stream.wait();
  }
}

int capability() {
  int device = 0;
  int major = 0;
  int minor = 0;
  check(cudaGetDevice(&device), "asking for the current GPU");
  check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device),
        "asking what a GPU can do");
  check(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device),
        "asking what a GPU can do");
  return 10 * major + minor;
}

std::string text(const ProductShape& shape) {
  return std::to_string(shape.m) + " x " + std::to_string(shape.n) + " x " + std::to_string(shape.k);
}

void probe(Context& context, const Multiplier& multiplier, const Arithmetic& arithmetic) {
  constexpr int kernels = 2;  // At most, per call: the product, and the sum over its parts.
  const auto& all = context.quick ? quick_shapes : shapes;
  const auto operands = random_operands(arithmetic, all);
  verify(multiplier, arithmetic, operands);
  double number = 0;
  for (const auto& shape : all) {
    const Product product{multiplier, arithmetic, shape};
    if (!product.is_supported()) {
      context.remark("cublasLt does not support a " + std::string{arithmetic.name} + " product of " +
                     text(shape));
      continue;
    }
    const auto issue = [&](const Stream& stream) {
      product.issue(operands.x.get(), operands.w.get(), operands.y.get(), stream);
    };
    if (!context.quick) heat(shape, issue);
    const auto summary = measure(context.rule, issue, kernels);
    context.emit(measured(
        {{"kind", "gemm"}, {"dtype", arithmetic.name}, {"m", shape.m}, {"n", shape.n}, {"k", shape.k}},
        summary));
    context.done(++number / static_cast<double>(all.size()));
  }
}

}  // namespace

const Arithmetic& arithmetic_named(std::string_view name) {
  return *std::ranges::find_if(arithmetics, [&](const Arithmetic& one) { return one.name == name; });
}

bool is_supported(const Arithmetic& arithmetic) {
  return capability() >= arithmetic.capability;
}

void probe_products(Context& context) {
  const Multiplier multiplier;
  double number = 0;
  for (const auto& arithmetic : arithmetics) {
    Context part = context;
    part.done = [&](double fraction) { context.done((number + fraction) / arithmetics.size()); };
    if (!is_supported(arithmetic)) {
      context.remark(std::string{"this GPU does not support "} + arithmetic.name + " products");
    } else {
      attempt(context, std::string{"kernels: products in "} + arithmetic.name,
              [&] { probe(part, multiplier, arithmetic); });
    }
    ++number;
  }
}

void probe_load(Context& context) {
  constexpr std::chrono::seconds heating{8};  // A GPU reaches its power limit and its fans follow.
  constexpr int together = 20;                // products, some 30 ms
  const std::vector<ProductShape> shape{{8192, 8192, 8192}};
  const auto& arithmetic = arithmetic_named(is_supported(arithmetic_named("bf16")) ? "bf16" : "fp16");
  const Multiplier multiplier;
  const auto operands = random_operands(arithmetic, shape);
  const Product product{multiplier, arithmetic, shape.front()};
  const auto issue = [&](const Stream& stream) {
    product.issue(operands.x.get(), operands.w.get(), operands.y.get(), stream);
  };
  std::string why;
  const auto nvml = Nvml::load(why);
  std::array<char, 32> place{};
  check(cudaDeviceGetPCIBusId(place.data(), place.size(), context.gpu), "asking for a GPU's place");
  DriverState state;
  {
    const Stream stream;
    const auto begin = std::chrono::steady_clock::now();
    for (auto now = begin; now - begin < heating; now = std::chrono::steady_clock::now()) {
      for (int i = 0; i < together; ++i) issue(stream);
      if (nvml) state = nvml->state(place.data());  // while the products run
      stream.wait();
      context.done(0.8 * std::chrono::duration<double>(now - begin) / heating);
    }
  }
  const auto summary = measure(context.rule, issue);
  const auto times = context.group->gather(summary.median.value());
  const auto clocks = context.group->gather(state.clock_hz);
  const auto temperatures = context.group->gather(state.celsius);
  const auto powers = context.group->gather(state.watts);
  if (nvml == nullptr) context.remark("clocks under load are unknown: " + why);
  for (std::size_t gpu = 0; gpu < times.size() && nvml != nullptr; ++gpu) {
    context.emit({{"kind", "load"},
                  {"gpu", gpu},
                  {"dtype", arithmetic.name},
                  {"m", shape.front().m},
                  {"n", shape.front().n},
                  {"k", shape.front().k},
                  {"seconds", times[gpu]},
                  {"clock_hz", std::llround(clocks[gpu])},
                  {"celsius", std::llround(temperatures[gpu])},
                  {"watts", std::llround(powers[gpu])}});
  }
}

}  // namespace gradway::probe
