// SPDX-License-Identifier: Apache-2.0
// torch.compile: which operations are fused, and which tensors are kept for the backward pass.
#include <algorithm>
#include <iterator>
#include <set>
#include <utility>
#include <vector>

#include "sim/workload/eager/eager.hpp"

namespace gradway {
namespace {

bool moves(const Operation& operation) {
  return operation.kind == OperationClass::elementwise || operation.kind == OperationClass::normalization;
}

bool is_batch_norm(const std::vector<Operation>& forward) {
  return !forward.empty() && forward.front().family == KernelFamily::batch_norm;
}

}  // namespace

Operation Eager::fused(double bytes) const {
  return stream("copy", Number::fp32, bytes / (2 * fp32_bytes));
}

bool Eager::fuses(const Node& node) {
  return !node.never_fuses && node.forward.size() + node.backward.size() > 0 &&
         std::ranges::all_of(node.forward, moves) && std::ranges::all_of(node.backward, moves) &&
         !node.inputs.empty();
}

std::vector<std::int32_t> Eager::ends_of_kernels() const {
  std::vector<std::int32_t> ends(nodes_.size(), 0);
  auto end = static_cast<std::int32_t>(nodes_.size());
  for (auto n = end; n-- > 0;) {
    if (!fuses(nodes_[static_cast<std::size_t>(n)])) {
      end = n;
    } else {
      ends[static_cast<std::size_t>(n)] = end;
    }
  }
  return ends;
}

/// The backward pass recomputes tensors from the inputs of their fused kernel if only functions of that
/// kernel need them. @source min_cut_rematerialization_partition in torch/_functorch/partitioners.py, which
/// minimizes the bytes that are kept. Not recomputed are results of products, attention, reductions over rows
/// and random numbers, inputs of products of the backward pass, and tensors with distant uses
void Eager::recompute_fused() {
  const auto ends = ends_of_kernels();
  const auto bytes = [&](std::int32_t storage) {
    const auto& info = of({storage});
    return info.elements * bytes_of(info.number);
  };
  std::vector<char> only_fused(tensors_.size(), 1);  // whether only fused nodes save it
  for (const auto& node : nodes_) {
    if (fuses(node)) continue;
    for (const auto tensor : node.saves)
      if (of(tensor).storage >= 0) only_fused[static_cast<std::size_t>(of(tensor).storage)] = 0;
  }
  const auto is_recomputed = [&](std::int32_t storage) {
    const auto& info = of({storage});
    if (info.made < 0 || ends[static_cast<std::size_t>(info.made)] == 0) return false;
    const auto& maker = nodes_[static_cast<std::size_t>(info.made)];
    const bool is_result = maker.result.id >= 0 && of(maker.result).storage == storage;
    const bool draws = std::ranges::any_of(
        maker.forward, [](const Operation& operation) { return operation.what == "dropout"; });
    return is_result && !draws && !is_batch_norm(maker.forward) &&
           only_fused[static_cast<std::size_t>(storage)] &&
           info.last_use < ends[static_cast<std::size_t>(info.made)];
  };

  std::vector<std::vector<Tensor>> instead(
      tensors_.size());  // by storage: the tensors that it is recomputed from
  for (std::int32_t id = 0; id < static_cast<std::int32_t>(tensors_.size()); ++id) {
    if (of({id}).storage != id || of({id}).saved_for < 0 || !is_recomputed(id)) continue;
    std::vector<Tensor> sources;
    std::vector<Tensor> open{{id}};
    double added = 0;
    bool is_possible = true;
    while (!open.empty() && is_possible) {
      const auto made = of(open.back()).made;
      open.pop_back();
      for (const auto read : nodes_[static_cast<std::size_t>(made)].reads) {
        const auto storage = of(read).storage;
        if (storage < 0) continue;
        const auto& info = of({storage});
        if (info.saved_for < 0 && is_recomputed(storage)) {
          open.push_back({storage});
        } else {
          is_possible = is_possible && info.made >= 0;
          if (info.saved_for < 0) added += bytes(storage);
          sources.push_back({storage});
        }
      }
    }
    if (!is_possible || added >= bytes(id)) continue;
    for (const auto source : sources) {
      auto& kept = of(source).saved_for;
      kept = kept < 0 ? of({id}).saved_for : std::min(kept, of({id}).saved_for);
    }
    of({id}).saved_for = -1;
    instead[static_cast<std::size_t>(id)] = std::move(sources);
  }

  for (auto& node : nodes_) {
    std::vector<Tensor> saves;
    for (const auto tensor : node.saves) {
      const auto storage = of(tensor).storage;
      if (storage < 0 || instead[static_cast<std::size_t>(storage)].empty()) {
        saves.push_back(tensor);
      } else {
        const auto& sources = instead[static_cast<std::size_t>(storage)];
        saves.insert(saves.end(), sources.begin(), sources.end());
      }
    }
    node.saves = std::move(saves);
  }
}

/// Approximates Inductor: everything between two products, convolutions, attentions or losses becomes one
/// kernel, which reads each outer input and writes each result that is needed outside once. The sums of
/// BatchNorm need additional passes.
void Eager::issue_fused() {
  const auto size = [&](Tensor tensor) { return of(tensor).elements * bytes_of(of(tensor).number); };
  const auto count = static_cast<std::int32_t>(nodes_.size());
  const auto node_at = [&](std::int32_t n) -> Node& { return nodes_[static_cast<std::size_t>(n)]; };

  for (std::int32_t first = 0; first < count;) {
    if (!fuses(node_at(first))) {
      issue_forward(node_at(first));
      issue_recomputed(node_at(first++));
      continue;
    }
    auto end = first;
    while (end < count && fuses(node_at(end))) ++end;
    double bytes = 0;
    std::set<std::int32_t> seen;
    for (auto n = first; n < end; ++n) {
      const auto& node = node_at(n);
      for (const auto read : node.reads) {
        if (of(read).made < first && seen.insert(of(read).storage).second) bytes += size(read);
      }
      const auto& kept = of({std::max(of(node.result).storage, 0)});
      if ((kept.saved_for >= 0 || kept.last_use >= end) && seen.insert(of(node.result).storage).second)
        bytes += size(node.result);
      if (is_batch_norm(node.forward)) bytes += size(node.reads.front());
    }
    auto& layer = operations_[static_cast<std::size_t>(node_at(end - 1).layer)];
    layer.forward.push_back(fused(bytes));
    if (settings_.recompute == Recompute::selective_op) layer.recomputed.push_back(fused(bytes));
    first = end;
  }

  // By tensor: the kernels, given by their last node, that compute a part of its gradient.
  const auto ends = ends_of_kernels();
  std::vector<std::set<std::int32_t>> takers(tensors_.size());
  for (std::int32_t n = 0; n < count; ++n) {
    const auto end = ends[static_cast<std::size_t>(n)];
    for (const auto input : node_at(n).inputs)
      takers[static_cast<std::size_t>(input.id)].insert(end > 0 ? end - 1 : n);
  }
  const auto parts_of_gradient = [&](Tensor result, std::int32_t last) {
    if (result.id < 0) return 0.0;
    const auto& kernels = takers[static_cast<std::size_t>(result.id)];
    return static_cast<double>(std::distance(kernels.upper_bound(last), kernels.end()));
  };

  for (auto last = count; last-- > 0;) {
    const auto& node = node_at(last);
    if (!fuses(node)) {
      const auto addends = node.adds_gradients ? parts_of_gradient(node.result, last) : 0;
      if (addends > 1) {
        const auto transfers = addends + 1 - (node.backward.empty() ? 0 : 2);  // a copy reads and writes once
        const auto& result = of(node.result);
        operations_[static_cast<std::size_t>(node.layer)].backward.push_back(
            fused(transfers * result.elements * bytes_of(gradient_number(result))));
      }
      issue_backward(node);
      continue;
    }
    auto first = last;
    while (first > 0 && fuses(node_at(first - 1))) --first;
    double bytes = 0;
    std::set<std::int32_t> read;
    std::set<std::int32_t> written;
    for (auto n = last; n >= first; --n) {
      const auto& fused_node = node_at(n);
      bytes += parts_of_gradient(fused_node.result, last) * size(fused_node.result);
      double kept = 0;
      for (const auto tensor : fused_node.saves) {
        if (read.insert(of(tensor).storage).second) kept += size(tensor);
      }
      bytes += kept;
      for (const auto input : fused_node.inputs) {
        if (of(input).made < first && written.insert(input.id).second) bytes += size(input);
      }
      if (is_batch_norm(fused_node.forward)) bytes += 2 * size(fused_node.reads.front());
    }
    operations_[static_cast<std::size_t>(node_at(first).layer)].backward.push_back(fused(bytes));
    last = first;
  }
}

}  // namespace gradway
