// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "calibration/probe/kernels/elements.hpp"
#include "calibration/probe/kernels/families.hpp"
#include "calibration/probe/kernels/multi_tensor.hpp"
#include "calibration/probe/kernels/optimizer_operations.hpp"
#include "calibration/probe/measure.hpp"

namespace gradway::probe {
namespace {

/// Data of an optimizer, as tensors of about equal size.
struct State {
  TensorList parameters;
  TensorList gradients;
  TensorList first_moments;
  TensorList second_moments;
  TensorList scratch;  ///< Unfused AdamW keeps the root of the second moment.
};

constexpr std::size_t lists_in_state = 5;
constexpr std::size_t tensors = 300;

/// The first tensors have one number more than the last if the numbers do not divide evenly.
TensorList tensor_list(std::size_t numbers) {
  constexpr std::size_t alignment = 512 / sizeof(float);
  TensorList list;
  std::size_t end = 0;
  for (std::size_t i = 0; i < tensors; ++i) {
    list.first.push_back(end);
    list.size.push_back(numbers / tensors + (i < numbers % tensors ? 1 : 0));
    end += (list.size.back() + alignment - 1) / alignment * alignment;
  }
  list.buffer = DeviceBuffer{end * sizeof(float)};
  check(cudaMemset(list.buffer.get(), 0, end * sizeof(float)), "clearing a list of tensors");
  return list;
}

/// Fills a list, including the padding between its tensors.
void fill(const TensorList& list, std::uint32_t seed) {
  fill_normal(list.buffer, Element::fp32, list.first.back() + list.size.back(), seed);
}

State state(std::size_t numbers) {
  State made{tensor_list(numbers), tensor_list(numbers), tensor_list(numbers), tensor_list(numbers),
             tensor_list(numbers)};
  fill(made.parameters, 4);
  fill(made.gradients, 5);
  return made;
}

/// The launches of one step, in order.
using Step = std::vector<std::function<void(cudaStream_t)>>;

/// Adds an operation on lists of tensors to a step.
template <class Operation>
void add(Step& step, const Operation& operation,
         const std::array<const TensorList*, Operation::lists>& lists) {
  for (const auto& launch : distributed<Operation::lists>(lists)) {
    step.push_back([launch, operation](cudaStream_t stream) {
      apply<<<static_cast<unsigned>(launch.blocks), chunk_threads, 0, stream>>>(launch.chunks, operation);
      check(cudaGetLastError(), "launching a kernel of an optimizer");
    });
  }
}

/// `torch.optim.SGD(foreach=True)` without momentum.
Step sgd(const State& s) {
  Step step;
  add(step, update::AddScaled{-update::sgd_rate}, {&s.parameters, &s.gradients});
  return step;
}

/// `torch.optim.AdamW(foreach=True)`: 21 accesses per parameter, one of which is served by a cache.
/// @source PyTorch 2.11, torch/optim/adam.py, _multi_tensor_adam
Step adamw(const State& s) {
  Step step;
  add(step, update::Scale{1 - update::rate * update::decay}, {&s.parameters});
  add(step, update::Lerp{1 - update::beta1}, {&s.first_moments, &s.gradients});
  add(step, update::Scale{update::beta2}, {&s.second_moments});
  add(step, update::AddProduct{1 - update::beta2}, {&s.second_moments, &s.gradients, &s.gradients});
  add(step, update::SquareRoot{}, {&s.second_moments, &s.scratch});
  add(step, update::Divide{update::correction2}, {&s.scratch});
  add(step, update::Add{update::epsilon}, {&s.scratch});
  add(step, update::AddQuotient{-update::rate / update::correction1},
      {&s.parameters, &s.first_moments, &s.scratch});
  return step;
}

/// `torch.optim.AdamW(fused=True)`: 7 accesses per parameter.
Step adamw_fused(const State& s) {
  Step step;
  add(step, update::FusedAdamW{}, {&s.parameters, &s.gradients, &s.first_moments, &s.second_moments});
  return step;
}

void issue(const Step& step, const Stream& stream) {
  for (const auto& launch : step) launch(stream.get());
}

struct Optimizer {
  const char* name;
  Step (*step)(const State&);
  bool is_adamw;
};
constexpr std::array optimizers{Optimizer{"sgd", sgd, false}, Optimizer{"adamw", adamw, true},
                                Optimizer{"adamw_fused", adamw_fused, true}};

/// A parameter after two steps with the same gradient.
double stepped_twice(const Optimizer& optimizer, double parameter, double gradient) {
  double first = 0;
  double second = 0;
  for (int step = 0; step < 2; ++step) {
    if (!optimizer.is_adamw) {
      parameter -= double{update::sgd_rate} * gradient;
      continue;
    }
    parameter -= double{update::rate} * double{update::decay} * parameter;
    first = double{update::beta1} * first + (1 - double{update::beta1}) * gradient;
    second = double{update::beta2} * second + (1 - double{update::beta2}) * gradient * gradient;
    const auto root = std::sqrt(second) / double{update::correction2} + double{update::epsilon};
    parameter -= double{update::rate} / double{update::correction1} * first / root;
  }
  return parameter;
}

/// Takes two steps, and compares the ends of the first and the last tensor with a computation in fp64.
void verify(const Optimizer& optimizer, std::size_t numbers) {
  constexpr std::size_t some = 256;
  constexpr double tolerance = 1e-5;  // A step changes a parameter a hundred times as much.
  const auto fresh = state(numbers);
  const auto& list = fresh.parameters;
  const std::array places{list.first.front(), list.first.front() + list.size.front() - some,
                          list.first.back(), list.first.back() + list.size.back() - some};
  std::vector<std::vector<float>> before;
  for (const auto place : places) before.push_back(values(list.buffer, Element::fp32, place, some));
  const Stream stream;
  const auto step = optimizer.step(fresh);
  for (int i = 0; i < 2; ++i) issue(step, stream);
  stream.wait();
  for (std::size_t p = 0; p < places.size(); ++p) {
    const auto after = values(list.buffer, Element::fp32, places[p], some);
    const auto gradients = values(fresh.gradients.buffer, Element::fp32, places[p], some);
    for (std::size_t i = 0; i < some; ++i) {
      const auto expected = stepped_twice(optimizer, before[p][i], gradients[i]);
      if (!(std::abs(after[i] - expected) <= tolerance)) {
        throw Failure{std::string{optimizer.name} + ": parameter " + std::to_string(places[p] + i) + " is " +
                      std::to_string(after[i]) + ", not " + std::to_string(expected)};
      }
    }
  }
}

bool fits(std::size_t numbers) {
  std::size_t free = 0;
  std::size_t total = 0;
  check(cudaMemGetInfo(&free, &total), "asking for the free memory");
  return lists_in_state * numbers * sizeof(float) < free / 10 * 9;
}

}  // namespace

void probe_optimizers(Context& context) {
  const std::vector<std::size_t> all = context.quick
                                           ? std::vector<std::size_t>{100'000'000}
                                           : std::vector<std::size_t>{10'000'000, 100'000'000, 306'000'000};
  // Tensors of two chunks, whose numbers are processed by fours in one case and singly in the other.
  constexpr std::array<std::size_t, 2> checked{70'000 * tensors, 70'001 * tensors};
  for (const auto& optimizer : optimizers)
    for (const auto numbers : checked) verify(optimizer, numbers);
  double number = 0;
  for (const auto numbers : all) {
    if (!fits(numbers)) continue;
    const auto made = state(numbers);
    for (const auto& optimizer : optimizers) {
      const auto step = optimizer.step(made);
      // The arguments of these launches fill the driver's queue faster than others: half as many fit.
      const auto launches = 2 * static_cast<int>(step.size());
      const auto summary = measure(
          context.rule, [&](const Stream& stream) { issue(step, stream); }, launches);
      context.emit(
          measured({{"kind", "optimizer"}, {"op", optimizer.name}, {"params", numbers}, {"tensors", tensors}},
                   summary));
      context.done(++number / static_cast<double>(optimizers.size() * all.size()));
    }
  }
}

}  // namespace gradway::probe
