// SPDX-License-Identifier: Apache-2.0
// Keys and values of all ranks of context parallelism: exchanges, and memory of attention by parts.
#include <algorithm>
#include <initializer_list>
#include <tuple>
#include <utility>
#include <vector>

#include "sim/workload/eager/eager.hpp"

namespace gradway {

namespace {

/// Temporary bytes of PyTorch's attention by parts in both passes. Forward: the merged output, the part's
/// output in 16 bits and in fp32, their difference, and that times a factor. Backward: the gradient of
/// queries before and after an addition, with the part's; those of keys and values of the part in 16 bits,
/// and in fp32 as received, as added and as sent.
/// @param there keys and values of other ranks, and the buffer that is sent
/// @source as of `attend_by_parts_of_pytorch`
std::pair<double, double> temporaries_of_parts(double there, double kv, double queries) {
  constexpr double wide = 2;  // fp32 tensors in units of their 16-bit size
  return {there + (4 * wide + 1) * queries, there + (2 * wide + 1) * queries + (3 * wide + 1) * kv};
}

}  // namespace

/// Bytes of a rank's keys, and of its keys and values.
std::pair<Bytes, Bytes> Eager::keys_and_values(const Attention& shape, Number number) const {
  const auto heads = shape.kv_heads > 0 ? shape.kv_heads : shape.heads;
  const auto values = shape.value_size > 0 ? shape.value_size : shape.head_size;
  const Bytes column{settings_.batch * d(heads * shape.tokens) * bytes_of(number)};
  return {column * d(shape.head_size), column * d(shape.head_size + values)};
}

/// Gathers keys and values before both passes and reduce-scatters their gradients after the backward pass.
void Eager::gather_keys(Bytes keys, Bytes kv) {
  constexpr auto over = RankGroup::context;
  const auto ranks = settings_.context;
  auto& node = nodes_.back();
  for (const auto bytes : {keys, kv - keys}) {
    node.forward_exchanges.push_back({CollectiveKind::all_gather, bytes * ranks, 0, 0, over});
    node.backward_exchanges.push_back({CollectiveKind::all_gather, bytes * ranks, 0, 0, over});
  }
  const auto end = node.backward.size();
  for (const auto bytes : {keys, kv - keys})
    node.backward_exchanges.push_back({CollectiveKind::reduce_scatter, bytes * ranks, end, end, over});
}

/// PyTorch's attention with the keys and values of all ranks, part by part in both methods: `all_gather` has
/// the parts at hand after one exchange, the ring sends them on. Outputs are merged and gradients added in
/// fp32, out of place; the gradients of keys and values, in fp32 as well, go around a ring in both methods.
/// Ranks wait for each other, so each step has the kernels of a rank that computes all queries with half of
/// the part's keys. torch.compile fuses the operations between attention and exchanges.
/// @source torch/distributed/tensor/experimental/_context_parallel/_attention.py, PyTorch 2.10:
/// _SDPAMerger._merge_one, _templated_ring_attention, _templated_ring_attention_backward
void Eager::attend_by_parts_of_pytorch(const Attention& shape, Number number, const FusedAttention& fused) {
  const int ranks = settings_.context;
  const bool gathers = settings_.context_method == ContextMethod::all_gather;
  const bool is_compiled = settings_.compiled;
  const auto batch = d(settings_.batch);
  const auto sums = batch * d(shape.heads * shape.tokens);  // log-sum-exps
  const auto queries = sums * d(shape.head_size);
  const auto kv = keys_and_values(shape, number).second;
  const auto keys = kv.value() / bytes_of(number);
  auto& node = nodes_.back();
  const auto issue = [&](std::vector<Operation>& pass, std::initializer_list<Operation> operations) {
    pass.insert(pass.end(), operations);
  };
  const auto send = [&](std::vector<Exchange>& exchanges, CollectiveKind kind, Bytes bytes,
                        std::size_t operation) {
    exchanges.push_back({kind, bytes, operation, operation, RankGroup::context});
  };
  // Waits for keys and values of the step, copies them into one buffer and sends them.
  const auto send_on = [&](std::vector<Operation>& pass, std::vector<Exchange>& exchanges, int step) {
    if (step == 1 || (step > 1 && !gathers)) exchanges.back().until = pass.size();
    if (step + 1 == ranks) return;
    issue(pass, {stream("copy", number, keys)});
    if (!gathers) {
      send(exchanges, CollectiveKind::send_recv, kv, pass.size());
    } else if (step == 0) {
      send(exchanges, CollectiveKind::all_gather, kv * ranks, pass.size());
    }
  };
  const auto mixed = [&](double elements) {
    return stream(number == Number::fp32 ? "add" : "add_mixed", number, elements);
  };
  for (auto* pass : {&node.forward, &node.backward})
    if (!is_compiled) issue(*pass, {stream("permute", number, keys)});  // contiguous keys and values
  if (!is_compiled) issue(node.backward, {stream("zero", Number::fp32, queries + keys)});

  std::vector<Exchange> gradient_exchanges;
  for (int step = 0; step < ranks; ++step) {
    const auto samples = step == 0 ? batch : batch / 2;
    const bool is_causal = step == 0 && shape.causal;
    send_on(node.forward, node.forward_exchanges, step);
    issue(node.forward, {fused("forward", samples, d(shape.tokens), is_causal)});
    if (is_compiled) {
      issue(node.forward, {mixed(queries)});
    } else {
      issue(node.forward, {stream("cast_to_32", number, queries)});
      const auto wide = [&](const char* kernel, double elements) {
        return stream(kernel, Number::fp32, elements);
      };
      if (step > 0)
        issue(node.forward,
              {wide("add", sums), wide("scale", sums), wide("add", queries), wide("broadcast", queries),
               wide("add", queries), wide("add", sums), wide("scale", sums), wide("add", sums)});
    }

    send_on(node.backward, node.backward_exchanges, step);
    issue(node.backward, {fused("backward", samples, d(shape.tokens), is_causal)});
    if (step > 0) gradient_exchanges.back().until = node.backward.size();
    if (step == 0 || is_compiled) {
      issue(node.backward, {mixed(keys)});
    } else {  // adds to half of them and joins the halves
      issue(node.backward, {mixed(keys / 2), stream("copy", Number::fp32, keys)});
    }
    if (!is_compiled)
      issue(node.backward, {stream("copy", Number::fp32, keys)});  // into the buffer that is sent
    send(gradient_exchanges, CollectiveKind::send_recv, kv / bytes_of(number) * fp32_bytes,
         node.backward.size());
    issue(node.backward, {mixed(queries)});
  }
  gradient_exchanges.back().until = node.backward.size();
  for (const auto elements : {queries, keys}) {
    if (!is_compiled) issue(node.forward, {stream("cast_to_16", Number::fp32, elements)});
    issue(node.backward, {stream("cast_to_16", Number::fp32, elements)});
  }
  node.backward_exchanges.insert(node.backward_exchanges.end(), gradient_exchanges.begin(),
                                 gradient_exchanges.end());
  std::ranges::stable_sort(node.backward_exchanges, {}, &Exchange::at);

  const auto there = gathers ? kv * (ranks + 1) : 3 * kv;
  std::tie(node.temporary, node.temporary_backward) =
      temporaries_of_parts(there.value(), kv.value(), queries * bytes_of(number));
}

}  // namespace gradway
