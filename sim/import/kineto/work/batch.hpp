// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <set>
#include <span>
#include <vector>

#include "sim/import/kineto/read/steps.hpp"
#include "sim/workload/profile.hpp"

namespace gradway {

/// Samples of a step: the leading dimension of the largest copy from the host, else of what the first
/// operation of the step gets; nothing if neither has one.
std::optional<int> find_batch(const Trace& trace, const TracedStep& step);

/// Which operations only touch parameters, so that neither their work nor what they make grows with the
/// batch.
class OfParameters {
 public:
  /// @param profile with its gradients and its batch
  OfParameters(const Trace& trace, const TracedStep& step, const Profile& profile);

  /// All tensors of the operation have the shape of a parameter; false if it has none.
  bool operator()(const Signature& signature) const;
  bool is_shape(const Operand::Shape& shape) const { return shapes_.contains(shape); }

 private:
  std::set<Operand::Shape> shapes_;
  std::set<std::int64_t> of_samples_;
};

/// Tells which launches only touch parameters, so that their work does not grow with the batch: those of the
/// optimizer, and element-wise operations all of whose tensors have the shape of a parameter (casts and fills
/// of weights and gradients, sums of gradients). Others that only have such tensors count too unless a
/// dimension is one of samples: the batch, or the batch times other dimensions of the input (32 x 50 tokens).
/// Matrix products, attention and copies to and from the host always grow.
void tell_growth(const Trace& trace, const TracedStep& step, const Profile& profile,
                 std::vector<Launch>& launches);

}  // namespace gradway
