// SPDX-License-Identifier: Apache-2.0
// Tensors that the graphs of torch.compile keep. Each graph is one node for autograd; what the backward graph
// uses of the forward graph is derived from the operands of its kernels.
#include <algorithm>
#include <map>
#include <optional>

#include "readers/kineto/memory/tape.hpp"
#include "readers/kineto/work/operation_work.hpp"

namespace gradway {
namespace {

using Shape = Operand::Shape;

struct Tensor {
  Shape shape;
  int bytes = 0;
  std::pair<double, int> size() const { return {element_count(shape), bytes}; }
};

std::vector<Tensor> tensors_of(const Signature& signature) {
  std::vector<Tensor> tensors;
  for (const auto& operand : signature.operands) {
    if (operand.shapes.size() == 1 && !operand.shapes.front().empty() && element_bytes(operand.type) > 0)
      tensors.push_back({operand.shapes.front(), element_bytes(operand.type)});
  }
  return tensors;
}

bool is_fused(const std::string& name) {
  return name.starts_with("triton_");
}

/// Tensors that the backward graph has made and not used yet.
class UnusedTensors {
 public:
  void add(Tensor tensor) { tensors_.push_back(std::move(tensor)); }

  bool has(const Tensor& tensor, bool of_shape) const {
    return std::ranges::any_of(tensors_, [&](const Tensor& candidate) {
      return candidate.bytes == tensor.bytes &&
             (of_shape ? candidate.shape == tensor.shape : candidate.size() == tensor.size());
    });
  }
  /// Removes the latest tensor of that shape or size. @return whether there was one
  bool take(const Tensor& tensor, bool of_shape) {
    const auto latest = std::find_if(tensors_.rbegin(), tensors_.rend(), [&](const Tensor& candidate) {
      return candidate.bytes == tensor.bytes &&
             (of_shape ? candidate.shape == tensor.shape : candidate.size() == tensor.size());
    });
    if (latest == tensors_.rend()) return false;
    tensors_.erase(std::next(latest).base());
    return true;
  }

 private:
  std::vector<Tensor> tensors_;
};

}  // namespace

/// Records a fused kernel. Inductor lists a kernel's operands in the order modified, read, written: the last
/// operand is written, and so are the operands after the last parameter, except for a tensor like the last
/// one, to which it may be added. The others are read if a matching tensor exists.
bool Tape::record_fused(const Signature& signature) {
  if (!is_fused(signature.name)) return false;
  auto tensors = tensors_of(signature);
  if (tensors.empty()) return true;
  const auto result = std::move(tensors.back());
  tensors.pop_back();
  begin_node();
  const auto found_parameter = std::find_if(tensors.rbegin(), tensors.rend(),
                                            [&](const Tensor& tensor) { return is_parameter(tensor.shape); });
  const auto* const last_parameter = found_parameter == tensors.rend() ? nullptr : &*found_parameter;
  std::vector<int> taken;
  for (const auto& tensor : tensors) {
    if (is_parameter(tensor.shape)) continue;
    const bool is_like_result = tensor.shape == result.shape && tensor.bytes == result.bytes;
    if (last_parameter != nullptr && &tensor > last_parameter && !is_like_result &&
        !is_parameter(result.shape)) {
      make(tensor.shape, tensor.bytes);
      continue;
    }
    auto x = find(tensor.shape, tensor.bytes, {.except = taken, .only_unused = true});
    if (x == none) x = find(tensor.shape, tensor.bytes, {.except = taken});
    use(x);
    taken.push_back(x == none ? make(tensor.shape, tensor.bytes) : x);
  }
  make(result.shape, result.bytes);
  return true;
}

/// Keeps the latest tensor of that size that is not kept yet.
void Tape::keep_for_compiled(const Operand::Shape& shape, int bytes) {
  const auto known = by_size_.find({element_count(shape), bytes});
  if (known == by_size_.end()) return;
  for (auto view = known->second.rbegin(); view != known->second.rend(); ++view) {
    auto& tensor = at(views_[static_cast<std::size_t>(*view)].tensor);
    if (tensor.saved_for != none || tensor.is_weight) continue;
    tensor.saved_for = tensor.last_use;
    return;
  }
}

/// Products and attention keep their operands as in eager mode. What fused kernels of the backward graph read
/// is a tensor that the graph has just made, the gradient of the residual stream that kernels with sums pass
/// on, or else a tensor of the forward graph.
void Tape::record_compiled_backward(Parts operations) {
  UnusedTensors unused;
  std::map<std::pair<double, int>, bool> carries;
  std::int64_t until = 0;
  for (const auto* operation : operations) {
    if (operation->start < until) continue;
    const auto& signature = trace_.signatures[operation->signature];
    const auto tensors = tensors_of(signature);
    const bool is_attention = signature.name.starts_with("aten::_scaled_dot_product");
    const bool is_product =
        signature.name == "aten::mm" || signature.name == "aten::addmm" || signature.name == "aten::bmm";
    if (is_fused(signature.name) || is_attention || is_product) until = operation->end();
    if (signature.name == "aten::zero_" && !tensors.empty() && !is_parameter(tensors.front().shape)) {
      // Gradient of a result that the loss does not use.
      if (!nodes_.empty())
        nodes_.back().activations += element_count(tensors.front().shape) * tensors.front().bytes;
      unused.add(tensors.front());
    }
    if (is_product && tensors.size() >= 2) {
      const auto& result = tensors.back();  // The destination.
      if (!is_parameter(result.shape)) unused.add(result);
    }
    if (is_attention && tensors.size() > 3) {
      unused.take(tensors.front(), false);
      for (std::size_t i = 1; i <= 3; ++i) unused.add(tensors[i]);
    }
    if (!is_fused(signature.name)) continue;
    // A kernel that reads a new tensor in another shape reuses its memory for the result; the last operand is
    // then read.
    const auto is_reused = [&] {
      return tensors.size() > 1 && tensors.front().size() == tensors.back().size() &&
             tensors.front().shape != tensors.back().shape && !unused.has(tensors.front(), true) &&
             unused.has(tensors.front(), false) && !is_parameter(tensors.back().shape);
    };
    if (is_reused()) keep_for_compiled(tensors.back().shape, tensors.back().bytes);
    const bool sums = signature.name.find("_add_") != std::string::npos;
    std::map<std::pair<double, int>, bool> carried;
    for (std::size_t i = 0; i + 1 < tensors.size(); ++i) {
      const auto& tensor = tensors[i];
      if (is_parameter(tensor.shape) || unused.take(tensor, true)) continue;
      const bool carries_on = sums && carries[tensor.size()] && !carried[tensor.size()];
      if (carries_on) {
        carried[tensor.size()] = true;
      } else if (!unused.take(tensor, false)) {
        keep_for_compiled(tensor.shape, tensor.bytes);
      }
    }
    if (!sums) continue;
    for (const auto& tensor : tensors) carries[tensor.size()] = true;
  }
}

}  // namespace gradway
