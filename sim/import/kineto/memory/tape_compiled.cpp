// SPDX-License-Identifier: Apache-2.0
// What torch.compile's graphs keep. Their nodes are one for autograd, and what the backward graph takes of
// the forward graph follows from the operands of its kernels.
#include <algorithm>
#include <map>
#include <optional>

#include "sim/import/kineto/memory/tape.hpp"
#include "sim/import/kineto/work/operation_work.hpp"

namespace gradway {
namespace {

using Shape = Operand::Shape;

struct Tensor {
  Shape shape;
  int bytes = 0;
  std::pair<double, int> size() const { return {element_count(shape), bytes}; }
};

std::vector<Tensor> tensors_of(const Signature& it) {
  std::vector<Tensor> tensors;
  for (const auto& operand : it.operands) {
    if (operand.shapes.size() == 1 && !operand.shapes.front().empty() && element_bytes(operand.type) > 0)
      tensors.push_back({operand.shapes.front(), element_bytes(operand.type)});
  }
  return tensors;
}

bool is_fused(const std::string& name) {
  return name.starts_with("triton_");
}

/// Tensors that the backward graph made and nothing has taken yet.
class Fresh {
 public:
  void add(Tensor tensor) { tensors_.push_back(std::move(tensor)); }

  bool has(const Tensor& tensor, bool of_shape) const {
    return std::ranges::any_of(tensors_, [&](const Tensor& it) {
      return it.bytes == tensor.bytes && (of_shape ? it.shape == tensor.shape : it.size() == tensor.size());
    });
  }
  /// The last one of that shape, else of that size. @return whether there was one
  bool take(const Tensor& tensor, bool of_shape) {
    const auto found = std::find_if(tensors_.rbegin(), tensors_.rend(), [&](const Tensor& it) {
      return it.bytes == tensor.bytes && (of_shape ? it.shape == tensor.shape : it.size() == tensor.size());
    });
    if (found == tensors_.rend()) return false;
    tensors_.erase(std::next(found).base());
    return true;
  }

 private:
  std::vector<Tensor> tensors_;
};

}  // namespace

/// Inductor lists a kernel's operands as those that it changes, those that it reads, those that it writes:
/// the last is one that it writes, and so is what stands behind the last parameter, but for a tensor like the
/// last, to which it may be added. The others are read if there is a tensor that they can be.
bool Tape::take_fused(const Signature& it) {
  if (!is_fused(it.name)) return false;
  auto tensors = tensors_of(it);
  if (tensors.empty()) return true;
  const auto result = std::move(tensors.back());
  tensors.pop_back();
  begin();
  const auto found_parameter = std::find_if(tensors.rbegin(), tensors.rend(),
                                            [&](const Tensor& one) { return is_parameter(one.shape); });
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

/// The last tensor of that size that nothing keeps yet.
void Tape::keep_for_compiled(const Operand::Shape& shape, int bytes) {
  const auto known = by_size_.find({element_count(shape), bytes});
  if (known == by_size_.end()) return;
  for (auto view = known->second.rbegin(); view != known->second.rend(); ++view) {
    auto& it = at(views_[static_cast<std::size_t>(*view)].tensor);
    if (it.saved_for != none || it.is_weight) continue;
    it.saved_for = it.last_use;
    return;
  }
}

/// Products and attention keep their operands as in eager mode. What fused kernels of the backward graph take
/// is what the graph has just made, the gradient of the residual stream that kernels with sums carry on, or
/// else a tensor of the forward graph.
void Tape::take_compiled_backward(Inside operations) {
  Fresh fresh;
  std::map<std::pair<double, int>, bool> carries;
  std::int64_t until = 0;
  for (const auto* operation : operations) {
    if (operation->start < until) continue;
    const auto& it = trace_.signatures[operation->signature];
    const auto tensors = tensors_of(it);
    const bool is_attention = it.name.starts_with("aten::_scaled_dot_product");
    const bool is_product = it.name == "aten::mm" || it.name == "aten::addmm" || it.name == "aten::bmm";
    if (is_fused(it.name) || is_attention || is_product) until = operation->end();
    if (it.name == "aten::zero_" && !tensors.empty() && !is_parameter(tensors.front().shape)) {
      // the gradient of a result that the loss does not take
      if (!noted_.empty())
        noted_.back().activations += element_count(tensors.front().shape) * tensors.front().bytes;
      fresh.add(tensors.front());
    }
    if (is_product && tensors.size() >= 2) {
      const auto& result = tensors.back();  // where it is written to
      if (!is_parameter(result.shape)) fresh.add(result);
    }
    if (is_attention && tensors.size() > 3) {
      fresh.take(tensors.front(), false);
      for (std::size_t i = 1; i <= 3; ++i) fresh.add(tensors[i]);
    }
    if (!is_fused(it.name)) continue;
    // A kernel that takes a new tensor in another shape has its memory for the result; the last is then read.
    const auto is_reused = [&] {
      return tensors.size() > 1 && tensors.front().size() == tensors.back().size() &&
             tensors.front().shape != tensors.back().shape && !fresh.has(tensors.front(), true) &&
             fresh.has(tensors.front(), false) && !is_parameter(tensors.back().shape);
    };
    if (is_reused()) keep_for_compiled(tensors.back().shape, tensors.back().bytes);
    const bool sums = it.name.find("_add_") != std::string::npos;
    std::map<std::pair<double, int>, bool> carried;
    for (std::size_t i = 0; i + 1 < tensors.size(); ++i) {
      const auto& tensor = tensors[i];
      if (is_parameter(tensor.shape) || fresh.take(tensor, true)) continue;
      const bool carries_on = sums && carries[tensor.size()] && !carried[tensor.size()];
      if (carries_on) {
        carried[tensor.size()] = true;
      } else if (!fresh.take(tensor, false)) {
        keep_for_compiled(tensor.shape, tensor.bytes);
      }
    }
    if (!sums) continue;
    for (const auto& tensor : tensors) carries[tensor.size()] = true;
  }
}

}  // namespace gradway
