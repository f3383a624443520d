// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <set>
#include <span>
#include <unordered_set>
#include <utility>
#include <vector>

#include "readers/kineto/memory/kept_rules.hpp"
#include "readers/kineto/work/launch_work.hpp"

namespace gradway {

/// The operations of a forward pass that have a node in autograd's graph. PyTorch numbers the nodes: an
/// operation carries the number of the next node, so a node belongs to the last operation with its number, if
/// its backward pass ran. Without numbers in the trace every operation may have a node.
class AutogradNodes {
 public:
  /// @param forward operations in the order of their start
  /// @param ran numbers of the nodes whose backward pass ran
  /// @param number_offset is subtracted from the numbers of the operations
  AutogradNodes(std::span<const TracedOperation* const> forward, const std::set<std::int64_t>& ran,
                std::int64_t number_offset = 0);

  bool are_known() const { return known_; }
  bool has(const TracedOperation& operation) const { return !known_ || owners_.contains(&operation); }
  bool has_any(std::span<const TracedOperation* const> operations) const;

 private:
  bool known_ = false;
  std::unordered_set<const TracedOperation*> owners_;
};

/// Conditions on the tensor that an operand may be.
struct WantedTensor {
  std::vector<int> except{};
  bool of_product = false;   ///< The operand belongs to a matrix product.
  bool only_unused = false;  ///< No operation has used the tensor yet.
  bool of_any_shape = true;  ///< Any shape with as many elements; else only the same shape.
};

/// Records the operations of a forward pass in their order, outermost first, with the tensors they make and
/// what autograd keeps.
///
/// A trace does not identify tensors: an operand is assumed to be the latest tensor with its shape and type,
/// else with as many elements. Two cases are known better. Powers and negated tensors are parts of an
/// expression, which are used only once (x pow(2).mean(), then x again). And a matrix product does not use
/// the result of another one directly (keys and values are made from the same tensor as the queries): two
/// linear maps in a row would be one.
class Tape {
 public:
  Tape(const Trace& trace, const TracedStep& step, const Profile& profile, const AutogradNodes& nodes)
      : trace_{trace}, profile_{profile}, autograd_{nodes}, parameters_{trace, step, profile} {}

  /// @param inside the operation, and the operations that it consists of
  /// @return whether it is known, so that its parts need not be recorded
  bool record(const TracedOperation& operation, std::span<const TracedOperation* const> inside);

  /// Records an operation that launches a kernel and has no node: it keeps nothing.
  /// @return whether it has no node
  bool record_without_node(const TracedOperation& operation);

  /// The following operations run again before their backward pass (`CheckpointCall`) and keep nothing now.
  void begin_recomputed() { recomputed_ = {static_cast<int>(nodes_.size()), none}; }
  /// Ends the call. The tensors it used stay allocated until its operations have run again.
  void end_recomputed(bool is_reentrant);
  /// For a tape of operations that run again: their input tensors are allocated already.
  /// @param call of `outer`, counted from 0
  void begin_recomputation(const Tape& outer, std::size_t call);
  /// For the same tape, after its operations: marks the results of the call that `outer` still uses.
  void end_recomputation(const Tape& outer, std::size_t call);
  /// The moments of this tape together with those of its checkpoint calls, each where its backward pass
  /// begins.
  std::vector<ProfiledMoment> moments_with(std::span<const std::vector<ProfiledMoment>> calls) const;

  /// Operations until this time belong to a graph of torch.compile.
  void begin_compiled(std::int64_t until) { compiled_until_ = until; }
  /// @param operations of the backward graph, in the order of their start
  void record_compiled_backward(std::span<const TracedOperation* const> operations);

  /// Allocated memory while each operation's forward pass runs, then while their backward passes run.
  std::vector<ProfiledMoment> moments() const;

 private:
  static constexpr int none = -1;
  using Shape = Operand::Shape;
  using Parts = std::span<const TracedOperation* const>;

  enum class MadeBy { anything, product, part_of_expression };

  /// A tensor made by the forward pass.
  struct ForwardTensor {
    double elements = 0;
    int bytes = 0;           ///< Bytes per element.
    bool is_weight = false;  ///< It is a 16-bit copy of a weight.
    bool needs_grad = true;
    MadeBy by = MadeBy::anything;
    int made = 0;                       ///< Index of the operation that made it.
    int uses = 0;                       ///< Number of uses in the forward pass.
    int last_use = 0;                   ///< Index of the last operation of the forward pass that uses it.
    int saved_for = none;               ///< Index of the operation whose backward pass needs it last.
    int consumer = none;                ///< Index of the last differentiable operation that uses it.
    int cast_from = none;               ///< The tensor of which it is a copy in another format.
    bool has_view_as_gradient = false;  ///< Its gradient takes no memory of its own.
    bool is_elsewhere = false;          ///< It belongs to the outer tape.
    double size() const { return is_elsewhere ? 0 : elements * bytes; }
  };

  /// A shape in which operations use a tensor.
  struct View {
    Shape shape;
    int tensor = none;
  };

  /// Memory of the backward pass of an operation that may have a node.
  struct NodeMemory {
    double gradients = 0;    ///< Bytes of the gradients of its parameters.
    double temporary = 0;    ///< Bytes of its backward pass that do not depend on the batch.
    double activations = 0;  ///< Bytes of its backward pass that grow with the batch.
  };

  /// The operations of a checkpoint call.
  struct CheckpointSpan {
    int first = none;
    int last = none;
    bool is_reentrant = false;
    bool made(const ForwardTensor& tensor) const { return tensor.made >= first && tensor.made <= last; }
  };

  bool has_node(Parts operations) const { return recomputed_.first == none && autograd_.has_any(operations); }
  const CheckpointSpan* call_that_made(const ForwardTensor& tensor) const;
  double gradient_of(const Shape& shape) const;
  bool is_parameter(const Shape& shape) const;
  NodeMemory& begin_node() { return nodes_.emplace_back(); }
  int current_node() const { return static_cast<int>(nodes_.size()) - 1; }
  ForwardTensor& at(int tensor) { return made_[static_cast<std::size_t>(tensor)]; }
  const ForwardTensor& at(int tensor) const { return made_[static_cast<std::size_t>(tensor)]; }
  int make(const Shape& shape, int bytes, MadeBy maker = MadeBy::anything);
  void show_as(int tensor, const Shape& shape);
  /// Makes a tensor that is only kept for the backward pass.
  void make_kept(double elements, int bytes);
  int find(const Shape& shape, int bytes, const WantedTensor& wanted = {}) const;
  int find(const Signature& signature, std::size_t operand, const WantedTensor& wanted = {}) const;
  int find_weight(const Shape& shape, int bytes) const;
  void use(int tensor);
  /// Keeps a tensor for the current operation: the first operation that keeps it is the last whose backward
  /// pass needs it.
  void keep(int tensor);
  bool needs_grad(const Signature& signature, std::size_t operand, int tensor) const;

  bool record_fused(const Signature& signature);
  void keep_for_compiled(const Shape& shape, int bytes);
  bool record_by_rule(const Signature& signature, const kept_rules::Rule& rule);
  bool view(const Signature& signature);
  bool creation(const Signature& signature);
  bool comparison(const Signature& signature);
  bool norm(const Signature& signature);
  bool loss(const Signature& signature);
  /// Conversion to another format. Copies from the host are left out: they are the job's input.
  bool cast(const Signature& signature, Parts inside);
  /// Uses the 16-bit copy of a weight, and adds its gradient to the node.
  void weight(const Signature& signature, std::size_t operand, NodeMemory& node);
  bool product(const Signature& signature, std::size_t left_operand);
  bool batched_product(const Signature& signature, std::size_t left_operand);
  bool convolution(Parts inside);
  bool softmax(const Signature& signature, bool is_log);
  bool embedding(const Signature& signature);
  bool selection(const Signature& signature, std::string_view name);
  bool placement(const Signature& signature, std::string_view name);
  bool sort(const Signature& signature, bool is_top);
  bool grouped_product(const Signature& signature);
  bool halves(const Signature& signature);
  bool upsample(const Signature& signature);
  bool dropout(const Signature& signature);
  bool bernoulli(const Signature& signature);
  bool reduce(const Signature& signature, bool keeps_input);
  bool concatenate(const Signature& signature, bool is_stack);
  /// The result is the first tensor that the operation creates; nothing is kept.
  bool filled(const Signature& signature, Parts inside);
  bool max_pool(const Signature& signature);
  bool average_pool(const Signature& signature);
  /// Keeps queries, keys and values (packed or separate), the mask, the result and the logarithms of the
  /// sums.
  bool attention(const Signature& signature);
  const Trace& trace_;
  const Profile& profile_;
  const AutogradNodes& autograd_;
  ParameterShapes parameters_;
  bool has_node_ = true;  ///< Whether the operation being recorded has a node.
  std::int64_t compiled_until_ = 0;
  std::vector<ForwardTensor> made_;
  std::vector<View> views_;
  /// Views by number of elements and bytes per element.
  std::map<std::pair<double, int>, std::vector<int>> by_size_;
  std::vector<NodeMemory> nodes_;
  CheckpointSpan recomputed_;  ///< The checkpoint call being recorded; `first` is none outside of calls.
  std::vector<CheckpointSpan> calls_;
  int output_ = none;
  bool returns_loss_ = false;  ///< The model computes its loss itself.
};

}  // namespace gradway
