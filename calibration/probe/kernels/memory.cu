// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <string>
#include <vector>

#include "calibration/probe/kernels/elements.hpp"
#include "calibration/probe/kernels/elementwise.hpp"
#include "calibration/probe/kernels/families.hpp"
#include "calibration/probe/measure.hpp"
#include "sim/base/contract.hpp"

namespace gradway::probe {
namespace {

struct Copy {
  __device__ float operator()(float x) const { return x; }
};
struct Add {
  float number;
  __device__ float operator()(float x) const { return x + number; }
};
struct Scale {
  float factor;
  __device__ float operator()(float x) const { return x * factor; }
};
struct Narrow {
  __device__ __nv_bfloat16 operator()(float x) const { return __float2bfloat16(x); }
};

template <class Out, class In, class Operation>
void run(void* y, const void* x, std::size_t count, const Stream& stream, Operation operation) {
  constexpr std::size_t block = elementwise_threads * vectorized_a_thread;
  expects(count % block == 0, "the arrays are whole blocks");
  vectorized<<<static_cast<unsigned>(count / block), elementwise_threads, 0, stream.get()>>>(
      static_cast<Out*>(y), static_cast<const In*>(x), operation);
  check(cudaGetLastError(), "launching an elementwise kernel");
}

void widen(void* y, void* x, std::size_t count, const Stream& stream) {
  constexpr std::size_t block = elementwise_threads * unrolled_a_thread;
  const Untyped to{static_cast<char*>(y), sizeof(float), Stored::fp32};
  const Untyped from{static_cast<char*>(x), sizeof(__nv_bfloat16), Stored::bf16};
  const auto blocks = static_cast<unsigned>((count + block - 1) / block);
  unrolled_with_casts<<<blocks, elementwise_threads, 0, stream.get()>>>(to, from,
                                                                        static_cast<std::uint32_t>(count));
  check(cudaGetLastError(), "launching a kernel that casts");
}

struct Operation {
  const char* name;
  Element in;
  Element out;
  void (*issue)(void* y, void* x, std::size_t count, const Stream& stream);
  float (*expected)(float x);
};

constexpr std::array operations{
    Operation{"copy_fp32", Element::fp32, Element::fp32,
              [](void* y, void* x, std::size_t count, const Stream& s) {
                run<float, float>(y, x, count, s, Copy{});
              },
              [](float x) { return x; }},
    Operation{"add_fp32", Element::fp32, Element::fp32,
              [](void* y, void* x, std::size_t count, const Stream& s) {
                run<float, float>(y, x, count, s, Add{1.0f});
              },
              [](float x) { return x + 1.0f; }},
    Operation{"scale_fp32", Element::fp32, Element::fp32,
              [](void* y, void* x, std::size_t count, const Stream& s) {
                run<float, float>(y, x, count, s, Scale{0.5f});
              },
              [](float x) { return 0.5f * x; }},
    Operation{"cast_fp32_bf16", Element::fp32, Element::bf16,
              [](void* y, void* x, std::size_t count, const Stream& s) {
                run<__nv_bfloat16, float>(y, x, count, s, Narrow{});
              },
              [](float x) { return __bfloat162float(__float2bfloat16(x)); }},
    Operation{"cast_bf16_fp32", Element::bf16, Element::fp32, widen, [](float x) { return x; }},
};

constexpr std::array<std::size_t, 6> counts{65536, 1048576, 4194304, 16777216, 67108864, 268435456};

/// Compares some numbers of a result, which are exact.
void verify(const Operation& operation, const DeviceBuffer& y, const DeviceBuffer& x, std::size_t count) {
  constexpr std::size_t some = 1024;
  check(cudaMemset(y.get(), 0xff, count * size_of(operation.out)), "spoiling a result");  // NaN
  check(cudaDeviceSynchronize(), "spoiling a result");
  const Stream stream;
  operation.issue(y.get(), x.get(), count, stream);
  for (const auto first : {std::size_t{0}, count / 2, count - some}) {
    const auto in = values(x, operation.in, first, some);
    const auto out = values(y, operation.out, first, some);
    for (std::size_t i = 0; i < some; ++i) {
      const auto expected = operation.expected(in[i]);
      if (!(out[i] == expected)) {
        throw Failure{std::string{operation.name} + ": number " + std::to_string(first + i) + " is " +
                      std::to_string(out[i]) + ", not " + std::to_string(expected)};
      }
    }
  }
}

/// Counts whose arrays fit into three quarters of the free memory.
std::vector<std::size_t> fitting_counts(bool quick) {
  std::size_t free = 0;
  std::size_t total = 0;
  check(cudaMemGetInfo(&free, &total), "asking for the free memory");
  std::vector<std::size_t> fitting;
  for (const auto count : counts) {
    const bool is_left_out = quick && (count == 4194304 || count == 16777216);
    if (!is_left_out && 2 * count * sizeof(float) <= free / 4 * 3) fitting.push_back(count);
  }
  if (fitting.empty()) throw Failure{"the GPU's memory is in use"};
  return fitting;
}

}  // namespace

void probe_memory(Context& context) {
  const auto fitting = fitting_counts(context.quick);
  const auto largest = fitting.back();
  const DeviceBuffer x{largest * sizeof(float)};
  const DeviceBuffer y{largest * sizeof(float)};
  double number = 0;
  for (const auto& operation : operations) {
    fill_normal(x, operation.in, largest, 3);
    verify(operation, y, x, largest);
    for (const auto count : fitting) {
      const auto summary = measure(
          context.rule, [&](const Stream& stream) { operation.issue(y.get(), x.get(), count, stream); });
      context.emit(measured({{"kind", "memory"},
                             {"op", operation.name},
                             {"elements", count},
                             {"bytes", count * (size_of(operation.in) + size_of(operation.out))}},
                            summary));
      context.done(++number / static_cast<double>(operations.size() * fitting.size()));
    }
  }
}

}  // namespace gradway::probe
