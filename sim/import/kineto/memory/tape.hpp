// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <set>
#include <span>
#include <unordered_set>
#include <utility>
#include <vector>

#include "sim/import/kineto/memory/kept_rules.hpp"
#include "sim/import/kineto/work/batch.hpp"

namespace gradway {

/// Which operations of a forward pass have a node in autograd's graph. PyTorch numbers the nodes: an
/// operation carries the number of the next one, so that a node belongs to the last operation with its
/// number, if its backward pass ran. Without numbers in the trace every operation may have one.
class AutogradNodes {
 public:
  /// @param forward operations in the order of their start
  /// @param ran numbers of the nodes whose backward pass ran
  /// @param later the numbers of the operations are so much higher
  AutogradNodes(std::span<const TracedOperation* const> forward, const std::set<std::int64_t>& ran,
                std::int64_t later = 0);

  bool are_known() const { return known_; }
  bool has(const TracedOperation& operation) const { return !known_ || owners_.contains(&operation); }
  bool has_any(std::span<const TracedOperation* const> operations) const;

 private:
  bool known_ = false;
  std::unordered_set<const TracedOperation*> owners_;
};

/// Which tensor an operand may be.
struct WantedTensor {
  std::vector<int> except{};
  bool of_product = false;   ///< it is an operand of a matrix product
  bool only_unused = false;  ///< nothing has taken it yet
  bool of_any_shape = true;  ///< or of its shape alone
};

/// Takes the operations of a forward pass in their order, the outermost first, and notes which tensors they
/// make and what autograd keeps.
///
/// A trace names no tensors: an operand is the last tensor made that has its shape and type, else as many
/// elements. Two things are known better. Powers and negated tensors are parts of an expression that nothing
/// takes twice (x pow(2).mean(), then x again). And a matrix product does not take another's result as it is
/// (keys and values are made of what the queries were made of): two linear maps in a row are one.
class Tape {
 public:
  Tape(const Trace& trace, const TracedStep& step, const Profile& profile, const AutogradNodes& nodes)
      : trace_{trace}, profile_{profile}, autograd_{nodes}, is_of_parameters_{trace, step, profile} {}

  /// @param inside the operation, and those that it is made of
  /// @return whether it is known, so that these need not be looked at
  bool take(const TracedOperation& operation, std::span<const TracedOperation* const> inside);

  /// An operation that launches a kernel and has no node keeps nothing, whatever it is.
  /// @return whether it has none
  bool take_without_node(const TracedOperation& operation);

  /// Operations from here on run again before their backward pass (`ComputedAgain`) and keep nothing now.
  void begin_again() { runs_again_ = {static_cast<int>(noted_.size()), none}; }
  /// What they have taken is there until they have run again.
  void end_again(bool is_reentrant);
  /// For the tape of operations that run again: the tensors that they take are there already.
  /// @param call of `outer`, counted from 0
  void begin_inside(const Tape& outer, std::size_t call);
  /// For the same tape, behind its operations: what `outer` still takes of the call's results.
  void end_inside(const Tape& outer, std::size_t call);
  /// The moments of this tape with those of its calls that run again, each where its backward pass begins.
  std::vector<ProfiledMoment> moments_with(std::span<const std::vector<ProfiledMoment>> calls) const;

  /// From here on until then, operations are those of a graph that torch.compile made.
  void begin_compiled(std::int64_t until) { compiled_until_ = until; }
  /// @param operations of the backward graph, in the order of their start
  void take_compiled_backward(std::span<const TracedOperation* const> operations);

  /// What is there when each operation's forward pass runs, then when their backward passes do.
  std::vector<ProfiledMoment> moments() const;

 private:
  static constexpr int none = -1;
  using Shape = Operand::Shape;
  using Inside = std::span<const TracedOperation* const>;

  enum class MadeBy { anything, product, part_of_expression };

  /// A tensor that the forward pass made.
  struct Made {
    double elements = 0;
    int bytes = 0;           ///< of an element
    bool is_weight = false;  ///< a 16-bit copy of one
    bool needs_grad = true;
    MadeBy by = MadeBy::anything;
    int made = 0;               ///< by this operation
    int uses = 0;               ///< how often operations of the forward pass took it
    int last_use = 0;           ///< by this operation of the forward pass
    int saved_for = none;       ///< the operation whose backward pass needs it last
    int consumer = none;        ///< the last operation that takes it
    int cast_from = none;       ///< the tensor that it is another format of
    bool is_elsewhere = false;  ///< on the tape that this one runs inside of
    double size() const { return is_elsewhere ? 0 : elements * bytes; }
  };

  /// A shape in which operations see a tensor.
  struct View {
    Shape shape;
    int tensor = none;
  };

  /// An operation of the forward pass that autograd may have a node for.
  struct Noted {
    double gradients = 0;    ///< bytes, of the parameters that it takes
    double temporary = 0;    ///< bytes in its backward pass, whatever the batch
    double activations = 0;  ///< more bytes in its backward pass, with the batch
  };

  /// Operations that run again.
  struct Again {
    int first = none;
    int last = none;
    bool is_reentrant = false;
    bool made(const Made& it) const { return it.made >= first && it.made <= last; }
  };

  bool has_node(Inside operations) const {
    return runs_again_.first == none && autograd_.has_any(operations);
  }
  const Again* call_that_made(const Made& it) const;
  double gradient_of(const Shape& shape) const;
  bool is_parameter(const Shape& shape) const;
  Noted& begin() { return noted_.emplace_back(); }
  int now() const { return static_cast<int>(noted_.size()) - 1; }
  Made& at(int tensor) { return made_[static_cast<std::size_t>(tensor)]; }
  const Made& at(int tensor) const { return made_[static_cast<std::size_t>(tensor)]; }
  int make(const Shape& shape, int bytes, MadeBy by = MadeBy::anything);
  void show_as(int tensor, const Shape& shape);
  /// A tensor that is only there to be kept.
  void make_kept(double elements, int bytes);
  int find(const Shape& shape, int bytes, const WantedTensor& wanted = {}) const;
  int find(const Signature& it, std::size_t operand, const WantedTensor& wanted = {}) const;
  int find_weight(const Shape& shape, int bytes) const;
  void use(int tensor);
  /// The first operation to keep a tensor is the last whose backward pass needs it.
  void keep(int tensor);
  bool needs_grad(const Signature& it, std::size_t operand, int tensor) const;

  bool take_fused(const Signature& it);
  void keep_for_compiled(const Shape& shape, int bytes);
  bool by_rule(const Signature& it, const kept_rules::Rule& rule);
  bool view(const Signature& it);
  bool creation(const Signature& it);
  bool comparison(const Signature& it);
  bool norm(const Signature& it);
  bool loss(const Signature& it);
  /// To another format; copies from the host stay out, they are the job's input.
  bool cast(const Signature& it, Inside inside);
  /// The 16-bit copy of a weight, and what becomes of its gradient.
  void weight(const Signature& it, std::size_t operand, Noted& node);
  bool product(const Signature& it, std::size_t left);
  bool batched_product(const Signature& it, std::size_t left);
  bool convolution(Inside inside);
  bool softmax(const Signature& it, bool is_log);
  bool embedding(const Signature& it);
  bool selection(const Signature& it, std::string_view name);
  bool placement(const Signature& it, std::string_view name);
  bool sort(const Signature& it, bool is_top);
  bool grouped_product(const Signature& it);
  bool halves(const Signature& it);
  bool upsample(const Signature& it);
  bool dropout(const Signature& it);
  bool bernoulli(const Signature& it);
  bool reduce(const Signature& it, bool keeps_input);
  bool concatenate(const Signature& it, bool is_stack);
  /// A result that is the first tensor that the operation creates; nothing is kept.
  bool filled(const Signature& it, Inside inside);
  bool max_pool(const Signature& it);
  bool average_pool(const Signature& it);
  /// Queries, keys and values, packed or apart, the mask, the result and the logarithms of the sums.
  bool attention(const Signature& it);
  const Trace& trace_;
  const Profile& profile_;
  const AutogradNodes& autograd_;
  OfParameters is_of_parameters_;
  bool has_node_ = true;  ///< the operation that is being taken
  std::int64_t compiled_until_ = 0;
  std::vector<Made> made_;
  std::vector<View> views_;
  std::map<std::pair<double, int>, std::vector<int>> by_size_;  ///< views by their elements and type
  std::vector<Noted> noted_;
  Again runs_again_;  ///< the operations that are being taken; `first` is none: they do not
  std::vector<Again> calls_;
  int output_ = none;
  bool returns_loss_ = false;  ///< the model computes its loss itself
};

}  // namespace gradway
