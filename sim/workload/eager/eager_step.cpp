// SPDX-License-Identifier: Apache-2.0
// What follows from a complete forward pass: the order of operations and the memory of the step.
#include <algorithm>
#include <map>
#include <utility>

#include "sim/base/contract.hpp"
#include "sim/workload/blocks.hpp"
#include "sim/workload/eager/eager.hpp"
#include "sim/workload/launch_times.hpp"

namespace gradway {

void Eager::take_step(std::vector<Layer> layers, std::vector<LayerOperations> operations, StepMemory memory) {
  layers_ = std::move(layers);
  operations_ = std::move(operations);
  memory_ = std::move(memory);
  is_taken_ = true;
}

namespace {

/// CPU time of the forward pass of a decoder written in plain PyTorch over that of its classes of operations,
/// which were learnt from programs with more Python around them.
/// @source own measurement, 2026-12-01, two H200 hosts and 16 cores in both states, PyTorch 2.11: decoders of
/// 6 to 24 blocks in bf16 and fp32, with and without biases, 54 medians: the forward pass takes 0.59 (0.41 to
/// 0.91) and 0.70 of the backward pass, by the classes 0.71 and 0.83
constexpr double plain_decoder_share = 0.84;

bool attends_causally(const LayerOperations& layer) {
  return std::ranges::any_of(layer.forward, [](const Operation& operation) {
    return operation.family == KernelFamily::attention_forward && operation.kernel.ends_with(" causal");
  });
}

}  // namespace

void Eager::finish() {
  if (is_taken_) return;
  if (std::ranges::any_of(layers_, [](const Layer& layer) { return !layer.frozen.empty(); })) drop_frozen();
  if (settings_.recompute == Recompute::selective_op) select_kept_products();
  recompute_modules();
  if (settings_.compiled) {
    recompute_fused();
    issue_fused();
  } else {
    issue();
    const bool is_plain =
        !settings_.hugging_face && !settings_.megatron && std::ranges::any_of(operations_, attends_causally);
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      set_host_shares(operations_[i], layers_[i].parameters.size());
      if (!is_plain) continue;
      for (auto& operation : operations_[i].forward) operation.host *= plain_decoder_share;
    }
  }
  for (const auto& node : nodes_) {
    if (node.result.id >= 0)
      operations_[static_cast<std::size_t>(node.layer)].output =
          Bytes{of(node.result).elements * bytes_of(of(node.result).number)};
  }
  account();
}

namespace {

void append(std::vector<Operation>& operations, std::vector<Exchange>& exchanges,
            const std::vector<Operation>& added, const std::vector<Exchange>& sent) {
  const auto before = operations.size();
  operations.insert(operations.end(), added.begin(), added.end());
  for (auto exchange : sent) {
    exchange.at += before;
    if (exchange.until != Exchange::next_layer) exchange.until += before;
    exchanges.push_back(exchange);
  }
}

}  // namespace

void Eager::issue_forward(const Node& node) {
  auto& layer = operations_[static_cast<std::size_t>(node.layer)];
  append(layer.forward, layer.forward_exchanges, node.forward, node.forward_exchanges);
}

void Eager::issue_recomputed(const Node& node) {
  if (settings_.recompute != Recompute::selective_op) return;
  auto& layer = operations_[static_cast<std::size_t>(node.layer)];
  if (node.recomputed_operations == Node::every) {
    append(layer.recomputed, layer.recomputed_exchanges, node.forward, node.forward_exchanges);
  } else {
    const auto first = node.forward.begin();
    layer.recomputed.insert(layer.recomputed.end(), first,
                            first + static_cast<std::ptrdiff_t>(node.recomputed_operations));
  }
}

void Eager::issue_backward(const Node& node) {
  auto& layer = operations_[static_cast<std::size_t>(node.layer)];
  append(layer.backward, layer.backward_exchanges, node.backward, node.backward_exchanges);
}

void Eager::issue() {
  std::vector<char> has_gradient(tensors_.size(), 0);
  const auto end_of_loop = [&](std::size_t first) {
    auto end = first;
    while (end < nodes_.size() && nodes_[end].experts > 0) ++end;
    return end;
  };
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (nodes_[i].experts > 0) {
      const auto end = end_of_loop(i);
      issue_loop(i, end);
      i = end - 1;
      continue;
    }
    issue_forward(nodes_[i]);
    issue_recomputed(nodes_[i]);
  }
  for (auto node = nodes_.rbegin(); node != nodes_.rend(); ++node) {
    if (node->experts == 0) {
      issue_backward(*node);
    } else if (node == nodes_.rbegin() || std::prev(node)->experts == 0) {
      auto first = node;
      while (std::next(first) != nodes_.rend() && std::next(first)->experts > 0) ++first;
      issue_loop_backward(static_cast<std::size_t>(nodes_.rend() - first) - 1,
                          static_cast<std::size_t>(nodes_.rend() - node));
    }
    auto& operations = operations_[static_cast<std::size_t>(node->layer)].backward;
    for (const auto input : node->inputs) {  // a second gradient of a tensor is added to the first
      const auto& info = of(input);
      if (std::exchange(has_gradient[static_cast<std::size_t>(input.id)], 1) == 1)
        operations.push_back(stream("add", gradient_number(info), info.elements));
    }
  }
}

/// @source torchtitan 0.2, distributed/activation_checkpoint.py: the n-th block, the 2n-th, and so on
std::vector<std::int32_t> Eager::checkpointed_blocks() const {
  auto blocks = blocks_of_layers(layers_);
  for (auto& block : blocks)
    if ((block + 1) % settings_.recompute_every != 0) block = Blocks::none;
  for (std::size_t i = 0; i < layers_.size() && !settings_.lora; ++i)
    if (!layers_[i].frozen.empty() && blocks[i] != Blocks::none)
      std::ranges::replace(blocks, blocks[i], Blocks::none);
  return blocks;
}

/// @source torchtitan 0.2, distributed/activation_checkpoint.py: saved are results of fused attention, of
/// reduce-scatters, and of every second aten::mm of a block except that of the router
void Eager::select_kept_products() {
  const auto blocks = checkpointed_blocks();
  auto block = Blocks::none;
  int products = 0;
  for (auto& node : nodes_) {
    if (const auto node_block = blocks[static_cast<std::size_t>(node.layer)];
        std::exchange(block, node_block) != node_block)
      products = 0;
    const bool counts =
        node.is_product && layers_[static_cast<std::size_t>(node.layer)].role != LayerRole::router;
    if (counts && products++ % 2 == 0) node.recomputed_operations = node.forward.size() - 1;
  }
}

bool Eager::runs_in_tiles(RecomputedModule module) const {
  return module == RecomputedModule::mlp && settings_.mlp_tiles > 1 && settings_.tensor == 1 &&
         !settings_.compiled && !settings_.megatron && settings_.recompute != Recompute::selective_op;
}

/// An MLP for one part of the tokens after another, without autograd in the forward pass. The backward pass
/// runs each tile forward and backward: its gradients of weights are added to those of the tiles before, and
/// that of its input is added to zeros. One operation stands for those of all tiles.
/// @source TiledMLP in DeepSpeed, runtime/sequence_parallel/ulysses_sp.py, and in axolotl,
/// monkeypatch/tiled_mlp; Liger-Kernel, ops/tiled_mlp.py
void Eager::run_in_tiles(std::size_t first, std::size_t end) {
  const double tiles = settings_.mlp_tiles;
  auto& last = nodes_[end - 1];
  const auto result = of(last.result).storage;
  for (auto& info : tensors_) {
    const bool is_inside =
        info.made >= static_cast<std::int32_t>(first) && info.made < static_cast<std::int32_t>(end);
    if (is_inside && info.storage != result && !info.outlasts_uses) info.share = 1 / tiles;
  }
  double parameter_bytes = 0;  // all gradients exist from the second tile on
  for (auto node = first; node < end; ++node) {
    const auto of_node = std::exchange(nodes_[node].parameter_bytes, 0);
    auto& backward = nodes_[node].backward;
    if (of_node > 0)
      backward.push_back(stream("add", trained_number(), (tiles - 1) * of_node / bytes_of(trained_number())));
    nodes_[node].temporary_backward = std::max(nodes_[node].temporary_backward, of_node);
    for (auto* pass : {&nodes_[node].forward, &backward})
      for (auto& operation : *pass) operation.host = tiles;
    parameter_bytes += of_node;
  }
  last.parameter_bytes = parameter_bytes;
}

/// Repeats the operations of recomputed modules before the backward pass that reads a result of theirs first.
/// What they save does not exist in between.
void Eager::recompute_modules() {
  for (const auto& [module, first, end] : recomputed_parts_) {
    if (first == end) continue;
    if (runs_in_tiles(module)) run_in_tiles(first, end);
    const auto is_inside = [&](std::int32_t node) {
      return node >= static_cast<std::int32_t>(first) && node < static_cast<std::int32_t>(end);
    };
    const auto last = static_cast<std::int32_t>(end) - 1;
    const auto result = of(nodes_[end - 1].result).storage;
    const auto is_freed = [&](std::int32_t storage) {
      return storage >= 0 && is_inside(of({storage}).made) && !(keeps_result(module) && storage == result);
    };
    auto reader = last;
    for (auto node = end; node < nodes_.size() && !keeps_result(module); ++node)
      for (const auto saved : nodes_[node].saves)
        if (is_freed(of(saved).storage)) reader = static_cast<std::int32_t>(node);
    for (std::size_t tensor = 0; tensor < tensors_.size(); ++tensor) {
      auto& info = tensors_[tensor];
      if (info.storage == static_cast<std::int32_t>(tensor) && info.saved_for >= 0 && is_freed(info.storage))
        info.again_for = reader;
    }
    std::vector<Operation> operations;
    std::vector<Exchange> exchanges;
    for (auto node = first; node < end; ++node)
      append(operations, exchanges, nodes_[node].forward, nodes_[node].forward_exchanges);
    auto& pass = nodes_[static_cast<std::size_t>(reader)];
    append(operations, exchanges, pass.backward, pass.backward_exchanges);
    pass.backward = std::move(operations);
    pass.backward_exchanges = std::move(exchanges);
    if (!runs_in_tiles(module)) continue;
    const auto& info = of(pass.result);
    pass.forward.push_back(stream("copy", info.number, info.elements));  // concatenates the tiles
    for (const auto* kernel : {"zero", "add"})
      nodes_[first].backward.push_back(stream(kernel, info.number, info.elements));
  }
}

/// A tensor of a block is copied to the host while the next block runs, and is back when the backward pass of
/// that one begins. The last block keeps its tensors. @param until last moment at which it is needed
/// @source torchtune, training/_activation_offloading.py (fwd_stash); Megatron-Core,
/// pipeline_parallel/fine_grained_activation_offload.py (post_warmup_callback)
void Eager::hold_offloaded(MemoryTimeline& held, const Info& info, std::int32_t block, std::int32_t until) {
  const auto next = static_cast<std::size_t>(block) + 1;
  if (next == end_of_block_.size()) return held.hold(info.made, until, info.bytes());
  held.hold(info.made, std::max(info.last_use, end_of_block_[next]), info.bytes());
  held.hold(held.back(end_of_block_[next]), until, info.bytes());
  memory_.offloaded[next - 1] += Bytes{info.bytes()};
}

/// Memory with checkpointed blocks (torch.utils.checkpoint): inputs of a block are kept until it is
/// recomputed, tensors that it saves exist from then on, and results that it keeps exist all the time.
/// Offloaded inputs are on the GPU again from the recomputation on.
void Eager::hold_recomputed(MemoryTimeline& held) {
  const auto of_layer = checkpointed_blocks();
  const auto block_of = [&](std::int32_t node) {
    return node < 0 ? Blocks::none
                    : of_layer[static_cast<std::size_t>(nodes_[static_cast<std::size_t>(node)].layer)];
  };
  std::map<std::int32_t, std::int32_t> last;  // node of each block
  for (std::size_t n = 0; n < nodes_.size(); ++n)
    last[block_of(static_cast<std::int32_t>(n))] = static_cast<std::int32_t>(n);
  std::vector<std::int32_t> kept_until(tensors_.size(), -1);
  std::vector<std::int32_t> back_from(tensors_.size(), 0);  // moment at which an offloaded input is loaded
  std::vector<std::int32_t> read_in(tensors_.size(), Blocks::none);  // the first block that reads it
  for (std::size_t n = 0; n < nodes_.size(); ++n) {
    const auto block = block_of(static_cast<std::int32_t>(n));
    if (block == Blocks::none) continue;
    for (const auto tensor : nodes_[n].reads) {
      const auto storage = tensors_[static_cast<std::size_t>(tensor.id)].storage;
      if (storage < 0 || block_of(tensors_[static_cast<std::size_t>(storage)].made) == block) continue;
      auto& until = kept_until[static_cast<std::size_t>(storage)];
      if (until < 0) read_in[static_cast<std::size_t>(storage)] = block;
      until = std::max(until, held.back(static_cast<std::int32_t>(n)));
      back_from[static_cast<std::size_t>(storage)] = held.back(last.at(block));
    }
  }
  const auto is_kept = [&](std::int32_t tensor, std::int32_t made) {
    if (settings_.recompute != Recompute::selective_op || block_of(made) == Blocks::none) return false;
    const auto& node = nodes_[static_cast<std::size_t>(made)];
    return node.recomputed_operations != Node::every &&
           (node.recomputed_operations == 0 || node.result.id == tensor);
  };
  for (std::size_t i = 0; i < tensors_.size(); ++i) {
    const auto& info = tensors_[i];
    if (info.storage != static_cast<std::int32_t>(i)) continue;
    const auto bytes = info.bytes();
    const auto saved_in = block_of(info.saved_for);
    const bool inside = saved_in != Blocks::none && saved_in == block_of(info.made);
    const auto saved_until = info.saved_for >= 0 && !inside ? held.back(info.saved_for) : info.last_use;
    if (is_kept(info.storage, info.made)) {
      const auto recomputed_operations = held.back(last.at(block_of(info.made)));
      const auto kept = info.saved_for >= 0 ? held.back(info.saved_for) : recomputed_operations;
      held.hold(info.made, std::max({recomputed_operations, kept, kept_until[i]}), bytes);
      continue;
    }
    if (settings_.recompute_offload && kept_until[i] >= 0) {
      const auto stays_until = saved_in == Blocks::none ? saved_until : info.last_use;
      held.hold(info.made, stays_until, bytes);
      held.hold(std::max(stays_until + 1, back_from[i]), kept_until[i], bytes);
      memory_.offloaded[static_cast<std::size_t>(read_in[i])] += Bytes{bytes};
    } else if (settings_.offload_activations.has(OffloadedModule::all) && kept_until[i] >= 0 &&
               (info.saved_for < 0 || saved_in != Blocks::none)) {
      hold_offloaded(held, info, read_in[i], kept_until[i]);
    } else {
      held.hold(info.made, std::max(saved_until, kept_until[i]), bytes);
    }
    if (inside && kept_until[i] < 0)
      held.hold(held.back(info.again_for >= 0 ? info.again_for : last.at(saved_in)),
                held.back(info.saved_for), bytes);
  }
}

void Eager::account() {
  const auto count = static_cast<std::int32_t>(nodes_.size());
  MemoryTimeline held{count};
  MemoryTimeline evaluated{count};
  MemoryTimeline read{count};
  const auto blocks = blocks_of_layers(layers_);
  if (settings_.recompute_offload || !settings_.offload_activations.empty()) {
    end_of_block_.assign(static_cast<std::size_t>(std::ranges::max(blocks)) + 1, 0);
    memory_.offloaded.resize(end_of_block_.size());
    for (std::int32_t n = 0; n < count; ++n)
      if (const auto block = blocks[static_cast<std::size_t>(nodes_[static_cast<std::size_t>(n)].layer)];
          block != Blocks::none)
        end_of_block_[static_cast<std::size_t>(block)] = n;
  }
  const auto block_that_saves = [&](const Info& info) {
    return blocks[static_cast<std::size_t>(nodes_[static_cast<std::size_t>(info.saved_for)].layer)];
  };
  for (const auto& info : tensors_) {
    const auto bytes = info.bytes();
    const bool owns = info.storage == static_cast<std::int32_t>(&info - tensors_.data());
    if (owns) evaluated.hold(info.made, info.outlasts_uses ? count - 1 : info.last_use, bytes);
    if (owns) read.hold(info.made, info.last_use, bytes);
    if (owns && !runs_blocks_again(settings_.recompute)) {
      if (info.again_for >= 0) {
        held.hold(info.made, info.last_use, bytes);
        held.hold(held.back(info.again_for), held.back(info.saved_for), bytes);
      } else if (info.offloaded) {
        hold_offloaded(held, info, block_that_saves(info), held.back(info.saved_for));
      } else {
        held.hold(info.made, info.saved_for >= 0 ? held.back(info.saved_for) : info.last_use, bytes);
      }
    }
    if (info.storage >= 0 && info.needs_grad && info.consumers > 0)
      held.hold(held.back(info.consumer) + (info.gradient_overwrites ? 1 : 0),
                held.back(std::max(info.made, 0)),
                info.share * info.elements * bytes_of(gradient_number(info)));
  }
  if (runs_blocks_again(settings_.recompute)) hold_recomputed(held);
  std::vector<double> gradients(2 * nodes_.size(), 0);
  for (std::int32_t n = 0; n < count; ++n) {
    const auto& node = nodes_[static_cast<std::size_t>(n)];
    held.pass(n, node.temporary, node.temporary_backward);
    evaluated.pass(n, node.temporary, 0);
    gradients[static_cast<std::size_t>(held.back(n))] += node.parameter_bytes;
  }
  for (const auto bytes : lasting_) memory_.lasting.push_back(Bytes{bytes});
  for (const auto bytes : held.sums()) memory_.activations.push_back(Bytes{bytes});
  for (const auto bytes : evaluated.sums()) memory_.evaluated.push_back(Bytes{bytes});
  memory_.evaluated.resize(nodes_.size());
  const auto held_on = held.held_on();
  for (const auto bytes : read.held_on()) memory_.passed_on.push_back(Bytes{bytes});
  memory_.passed_on.resize(nodes_.size());
  for (std::size_t n = 0; n < nodes_.size(); ++n)
    memory_.kept.push_back(Bytes{held_on[n]} - memory_.passed_on[n]);
  double gradient = 0;
  for (const auto bytes : gradients) memory_.gradients.push_back(Bytes{gradient += bytes});
  memory_.forward = nodes_.size();
  for (const auto& node : nodes_) memory_.layers.push_back(node.layer);
  for (auto node = nodes_.rbegin(); node != nodes_.rend(); ++node) memory_.layers.push_back(node->layer);
}

EagerStep eager_step(const Model& model, const EagerSettings& settings) {
  return *model.run.step(settings);
}

}  // namespace gradway
