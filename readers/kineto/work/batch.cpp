// SPDX-License-Identifier: Apache-2.0
#include "readers/kineto/work/launch_work.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>
#include <utility>

#include "readers/kineto/work/operation_work.hpp"

namespace gradway {
namespace {

constexpr std::int64_t largest_batch = 1'000'000;

const Signature* signature_of(const Trace& trace, const TracedLaunch& launch) {
  return launch.operation == nullptr ? nullptr : &trace.signatures[launch.operation->signature];
}

const Operand::Shape* first_tensor(const Signature& signature) {
  // An embedding's first operand is its table.
  const std::size_t first = signature.name.find("embedding") != std::string::npos ? 1 : 0;
  for (std::size_t i = first; i < signature.operands.size(); ++i) {
    const auto& shapes = signature.operands[i].shapes;
    if (!shapes.empty() && !shapes.front().empty()) return &shapes.front();
  }
  return nullptr;
}

bool copies_in(const Trace& trace, const TracedLaunch& launch) {
  return launch.activity->kind == TracedActivity::Kind::copy &&
         trace.names.text(launch.activity->name).find("HtoD") != std::string::npos;
}

/// Shape of the largest copy from the host. Samples have at least two dimensions, if anything has: FSDP
/// copies long lists of sizes.
const Operand::Shape* copied_shape(const Trace& trace, const TracedStep& step) {
  const Operand::Shape* shape = nullptr;
  std::pair<bool, std::int64_t> most{};
  for (const auto& launch : step.launches) {
    const auto* signature = signature_of(trace, launch);
    if (!copies_in(trace, launch) || signature == nullptr) continue;
    const auto* copied = first_tensor(*signature);
    if (copied == nullptr) continue;
    const std::pair size{copied->size() > 1, launch.activity->bytes};
    if (size <= most) continue;
    shape = copied;
    most = size;
  }
  return shape;
}

/// Shape of the first tensor with at least two dimensions that an operation of the step takes.
const Operand::Shape* first_shape(const Trace& trace, const TracedStep& step) {
  const Operand::Shape* shape = nullptr;
  auto earliest = std::numeric_limits<std::int64_t>::max();
  for (const auto& operation : trace.operations) {
    if (operation.start < step.begin || operation.start >= std::min(step.end, earliest)) continue;
    const auto* tensor = first_tensor(trace.signatures[operation.signature]);
    if (tensor == nullptr || tensor->size() < 2) continue;
    shape = tensor;
    earliest = operation.start;
  }
  return shape;
}

std::set<std::int64_t> sample_sizes(const Trace& trace, const TracedStep& step, int batch) {
  std::set<std::int64_t> sizes{batch};
  for (const auto& launch : step.launches) {
    const auto* signature = signature_of(trace, launch);
    const auto* shape = copies_in(trace, launch) && signature != nullptr ? first_tensor(*signature) : nullptr;
    if (shape == nullptr || shape->front() != batch) continue;
    std::int64_t product = 1;
    for (const auto size : *shape) sizes.insert(product *= size);
  }
  return sizes;
}

/// Element-wise operations that autocast and autograd use on parameters and gradients.
bool is_copy_or_sum(std::string_view name) {
  constexpr std::array<std::string_view, 6> names{"aten::copy_", "aten::fill_", "aten::zero_",
                                                  "aten::add_",  "aten::add",   "aten::clone"};
  return std::ranges::find(names, name) != names.end();
}

}  // namespace

std::optional<int> find_batch(const Trace& trace, const TracedStep& step) {
  const auto* shape = copied_shape(trace, step);
  if (shape == nullptr) shape = first_shape(trace, step);
  if (shape == nullptr || shape->front() < 1 || shape->front() > largest_batch) return std::nullopt;
  return static_cast<int>(shape->front());
}

ParameterShapes::ParameterShapes(const Trace& trace, const TracedStep& step, const Profile& profile)
    : sample_sizes_{sample_sizes(trace, step, profile.batch)} {
  for (const auto& gradient : profile.gradients) shapes_.insert(gradient.shape);
}

bool ParameterShapes::has_only(const Signature& signature) const {
  bool has_tensor = false;
  const bool may_be_samples = !is_copy_or_sum(signature.name);
  for (const auto& operand : signature.operands) {
    const bool is_number = operand.shapes.empty() && element_bytes(operand.type) > 0;
    has_tensor = has_tensor || is_number;  // A tensor without dimensions: a count of batches.
    for (const auto& shape : operand.shapes) {
      if (!shapes_.contains(shape)) return false;
      if (may_be_samples &&
          std::ranges::any_of(shape, [&](auto size) { return sample_sizes_.contains(size); }))
        return false;
      has_tensor = true;
    }
  }
  return has_tensor;
}

void find_growth(const Trace& trace, const TracedStep& step, const Profile& profile,
                 std::vector<Launch>& launches) {
  const ParameterShapes parameters{trace, step, profile};
  for (std::size_t i = 0; i < launches.size(); ++i) {
    auto& launch = launches[i];
    if (launch.phase == ProfiledPhase::optimizer) launch.grows = false;
    if (launch.kind != KernelClass::memory || !launch.grows) continue;
    const auto* signature = signature_of(trace, step.launches[i]);
    launch.grows = signature == nullptr || !parameters.has_only(*signature);
  }
}

}  // namespace gradway
