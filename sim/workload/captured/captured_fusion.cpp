// SPDX-License-Identifier: Apache-2.0
// Kernels of captured steps that torch.compile fuses.
#include <algorithm>
#include <string_view>
#include <utility>

#include "sim/workload/captured/captured_names.hpp"
#include "sim/workload/captured/captured_step.hpp"

namespace gradway {
namespace {

/// Whether Inductor generates no code for an operation but calls a library or PyTorch's own kernel.
bool is_called(const CapturedOperation& captured) {
  const std::string_view name = captured.name;
  return is_product(name) || name.starts_with("scaled_dot_product_attention") ||
         name.starts_with("convolution") || name == "sort" || name == "topk" || name == "argsort" ||
         name == "histc" || name == "nonzero" || name == "embedding_dense_backward" || captured.host_waits ||
         captured.is_eager || captured.name == "checkpoint" || captured.given > Seconds{};
}

/// An operation of the step and the layer that issues it.
struct Issued {
  std::size_t layer = 0;
  CapturedOperation operation;
};

/// Collects consecutive operations into one that reads tensors from memory once. A later operation finds a
/// tensor with as many elements as an earlier one in registers: captures do not distinguish tensors of one
/// size apart.
class Fused {
 public:
  explicit Fused(bool is_fixed) : is_fixed_{is_fixed} {}

  void add(const Issued& issued) {
    const auto& from = issued.operation;
    if (layer_ == none) layer_ = issued.layer;
    is_weight_ = is_weight_ && from.of_parameters;
    starts_graph_ = starts_graph_ || from.starts_graph;
    const auto before = known_;
    for (const auto& tensor : from.inputs) {
      if (std::ranges::find(before, tensor.elements()) != before.end()) continue;
      read_.push_back(tensor);
      known_.push_back(tensor.elements());
    }
    const auto& results = from.outputs.empty() ? from.inputs : from.outputs;  // in place
    drop_reduced(from, results);
    for (const auto& tensor : results) {
      known_.push_back(tensor.elements());
      std::erase_if(written_, [&](const auto& earlier) { return earlier.elements() == tensor.elements(); });
      written_.push_back(tensor);
    }
  }

  bool is_empty() const { return layer_ == none; }

  Issued take() const {
    Issued fused{.layer = layer_, .operation = {}};
    auto& operation = fused.operation;
    operation.name = "compiled";
    operation.inputs = read_;
    operation.outputs = written_;
    operation.is_fixed = is_fixed_;
    operation.of_parameters = is_weight_;
    operation.starts_graph = starts_graph_;
    return fused;
  }

 private:
  static constexpr std::size_t none = static_cast<std::size_t>(-1);

  /// What a reduction reads need not be written.
  void drop_reduced(const CapturedOperation& from, const std::vector<CapturedTensor>& results) {
    for (const auto& tensor : from.inputs) {
      const auto size = tensor.elements();
      if (std::ranges::all_of(results, [&](const auto& result) { return result.elements() < size; }))
        std::erase_if(written_, [&](const auto& earlier) { return earlier.elements() == size; });
    }
  }

  bool is_fixed_;
  bool is_weight_ = true;
  bool starts_graph_ = false;
  std::size_t layer_ = none;
  std::vector<double> known_{};  ///< elements of tensors that were read or computed
  std::vector<CapturedTensor> read_{};
  std::vector<CapturedTensor> written_{};  ///< the last result of each size
};

/// Fuses a pass in the order of the program.
std::vector<Issued> fused(std::vector<Issued> pass) {
  std::ranges::stable_sort(pass, {}, [](const Issued& issued) { return issued.operation.order; });
  std::vector<Issued> result;
  Fused grows{false};
  Fused fixed{true};
  const auto flush = [&] {
    for (auto* run : {&fixed, &grows})
      if (!run->is_empty()) result.push_back(run->take());
    grows = Fused{false};
    fixed = Fused{true};
  };
  for (auto& issued : pass) {
    if (issued.operation.starts_graph) flush();
    if (is_called(issued.operation)) {
      flush();
      result.push_back(std::move(issued));
    } else {
      (issued.operation.is_fixed ? fixed : grows).add(issued);
    }
  }
  flush();
  return result;
}

void fuse(CapturedStep& step, std::vector<CapturedOperation> CapturedLayer::*pass) {
  std::vector<Issued> operations;
  for (std::size_t i = 0; i < step.layers.size(); ++i) {
    for (auto& operation : step.layers[i].*pass) operations.push_back({i, std::move(operation)});
    (step.layers[i].*pass).clear();
  }
  for (auto& issued : fused(std::move(operations)))
    (step.layers[issued.layer].*pass).push_back(std::move(issued.operation));
}

}  // namespace

CapturedStep fused_step(const CapturedStep& captured) {
  auto step = captured;
  fuse(step, &CapturedLayer::forward);
  fuse(step, &CapturedLayer::backward);
  return step;
}

}  // namespace gradway
