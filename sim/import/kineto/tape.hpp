// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <span>
#include <tuple>
#include <vector>

#include "sim/import/kineto/batch.hpp"
#include "sim/import/kineto/kept_rules.hpp"

namespace gradway {

/// Takes the operations of a forward pass in their order, the outermost first, and notes which tensors they
/// make and what autograd keeps.
class Tape {
 public:
  Tape(const Trace& trace, const TracedStep& step, const Profile& profile)
      : trace_{trace}, profile_{profile}, is_of_parameters_{trace, step, profile} {}

  /// @param inside the operations that it is made of
  /// @return whether it is known, so that these need not be looked at
  bool take(const TracedOperation& operation, std::span<const TracedOperation* const> inside);

  /// What is there when each operation's forward pass runs, then when their backward passes do.
  std::vector<ProfiledMoment> moments() const;

 private:
  static constexpr int none = -1;

  /// A tensor that the forward pass made.
  struct Made {
    double elements = 0;
    int bytes = 0;           ///< of an element
    bool is_weight = false;  ///< a 16-bit copy of one
    bool needs_grad = true;
    int made = 0;          ///< by this operation
    int last_use = 0;      ///< by this operation of the forward pass
    int saved_for = none;  ///< the operation whose backward pass needs it last
    int consumer = none;   ///< the last operation that takes it
    int cast_from = none;  ///< the tensor that it is another format of
    double size() const { return elements * bytes; }
  };

  /// An operation of the forward pass that autograd has a node for.
  struct Noted {
    double gradients = 0;  ///< bytes, of the parameters that it takes
    double temporary = 0;  ///< bytes in its backward pass, whatever the batch
  };

  double gradient_of(const Operand::Shape& shape) const;
  bool is_parameter(const Operand::Shape& shape) const;
  Noted& begin() { return nodes_.emplace_back(); }
  int now() const { return static_cast<int>(nodes_.size()) - 1; }
  Made& at(int tensor) { return made_[static_cast<std::size_t>(tensor)]; }
  int make(double elements, int bytes, bool is_weight = false);
  /// A tensor that is only there to be kept.
  void make_kept(double elements, int bytes);
  /// The last tensor made that can be it. @param before look only at those
  int find(double elements, int bytes, bool is_weight = false, int before = none) const;
  int find(const Signature& it, std::size_t operand) const;
  void use(int tensor);
  /// The first operation to keep a tensor is the last whose backward pass needs it.
  void keep(int tensor);

  bool by_rule(const Signature& it, const kept_rules::Rule& rule);
  bool norm(const Signature& it);
  bool loss(const Signature& it);
  /// To another format; copies from the host stay out, they are the job's input.
  bool cast(const Signature& it, std::span<const TracedOperation* const> inside);
  /// The 16-bit copy of a weight, and what becomes of its gradient.
  void weight(const Signature& it, std::size_t operand, Noted& node);
  bool product(const Signature& it, std::size_t left);
  bool batched_product(const Signature& it, std::size_t left);
  bool convolution(const Signature& it, double results);
  /// What it takes is what the model gave, perhaps in another format.
  bool log_softmax(const Signature& it);
  bool embedding(const Signature& it);
  /// @param is_fused its mask has a byte an element; else numbers, and the input is changed in place
  bool mask(const Signature& it, bool is_fused);
  /// Over the sides of images, else over the last dimension: what it gives is small.
  bool reduce(const Signature& it);
  bool concatenate(const Signature& it);
  bool max_pool(const Signature& it);
  /// Queries, keys and values, packed or apart, the result and the logarithms of the sums.
  bool attention(const Signature& it);

  const Trace& trace_;
  const Profile& profile_;
  OfParameters is_of_parameters_;
  std::vector<Made> made_;
  std::map<std::tuple<double, int, bool>, std::vector<int>>
      by_size_;  ///< what was made, by what it is found by
  std::vector<Noted> nodes_;
  int output_ = none;
};

}  // namespace gradway
