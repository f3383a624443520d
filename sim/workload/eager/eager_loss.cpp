// SPDX-License-Identifier: Apache-2.0
// Losses over classes: written out, in one kernel, in chunks.
#include <algorithm>
#include <utility>
#include <vector>

#include "sim/workload/eager/eager.hpp"

namespace gradway {

void Eager::cross_entropy(const std::string& name, Tensor logits, std::int64_t rows_of_sample,
                          std::int64_t classes, bool shared) {
  open(name);
  if (shared) classes = share(classes);
  const auto m = d(rows_of_sample) * settings_.batch;
  write_loss(logits, m, classes, shared);
  if (settings_.loss_chunk > 0 && settings_.loss_chunk < m) split_loss(logits, m);
}

void Eager::write_loss(Tensor logits, double m, std::int64_t classes, bool shared) {
  const bool by_megatron = shared && settings_.megatron;
  if (settings_.fused_loss && (settings_.tensor == 1 || by_megatron)) return fused_cross_entropy(logits, m);
  if (by_megatron) return vocabulary_parallel_cross_entropy(logits, m);
  const bool by_dtensor = shared && settings_.tensor > 1;
  // Training loops without autocast call model(x).float() and drop the original logits.
  const auto of_model = logits;
  // Decoders of transformers do the same under autocast (ForCausalLMLoss).
  if (settings_.half_parameters || (shared && is_hugging_face())) logits = cast(logits, Number::fp32);
  const auto [elements, number] = std::pair{of(logits).elements, of(logits).number};
  auto& function = node({logits});
  // The softmax of logits.float() saves its result in fp32, 2 bytes per element more than counted below.
  const bool has_more = settings_.float_logits && number != Number::fp32;
  if (has_more) save(logits);
  forward(rows("log_softmax", number, m, d(classes)));
  function.backward.push_back(rows("log_softmax_backward", number, m, d(classes)));
  auto logs = make(elements, number, true);
  save(logs);
  // PyTorch's loss_parallel has an fp32 tensor per operation: the logits, the logits minus their maximum, and
  // the exponential of that; in the backward pass the logarithms, the gradient of the target,
  // exp(logarithms) and their sum. Tensors that are counted above and below are left out here. @source
  // torch/distributed/tensor/parallel/loss.py, _log_softmax and _nll_loss_and_log_softmax_backward, 2.11
  const bool is_fp32 = number == Number::fp32;
  if (by_dtensor) function.temporary = (is_fp32 ? 1 : 2.5) * fp32_bytes * elements;
  logs = cast(logs, Number::fp32);
  if (has_more) nodes_.back().temporary = 2 * elements;
  auto& loss = node({logs});
  save(logs);
  forward(rows("nll_loss", Number::fp32, m, d(classes)));
  // All-reduces of the largest logit, the target's logit and the sum, in PyTorch's loss_parallel.
  for (int i = 0; by_dtensor && i < 3; ++i)
    loss.forward_exchanges.push_back({CollectiveKind::all_reduce, Bytes{m * fp32_bytes}, 0, 0});
  loss.backward.push_back(rows("nll_loss_backward", Number::fp32, m, d(classes)));
  if (by_dtensor) loss.temporary_backward = (is_fp32 ? 2 : 1.5) * fp32_bytes * elements;
  // The call keeps the logits alive. With sharded logits, the training loop also keeps those of the model
  // alive until it has the loss.
  const auto last = static_cast<std::int32_t>(nodes_.size()) - 1;
  of({of(logits).storage}).last_use = last;
  if (by_dtensor || is_hugging_face()) of({of(of_model).storage}).last_use = last;
  make(1, Number::fp32, true);
}

/// The forward kernel reads the logits and saves two numbers per row; the backward kernel reads them again
/// and overwrites them with their gradients. No fp32 tensor of their size exists. Tensor ranks gather three
/// numbers per row after a kernel of its own for maxima and sums.
/// @source transformer_engine/pytorch/triton/cross_entropy.py
void Eager::fused_cross_entropy(Tensor logits, double m) {
  auto& function = node({logits});
  save(logits);
  of(logits).gradient_overwrites = true;
  save(make(2 * m, Number::fp32, false));
  const auto pass = stream("copy", of(logits).number, of(logits).elements);
  if (settings_.megatron) forward(stream("amax", of(logits).number, of(logits).elements));
  forward(pass);
  if (settings_.tensor > 1)
    function.forward_exchanges.push_back(
        {CollectiveKind::all_gather, Bytes{3 * m * fp32_bytes * settings_.tensor}, 1, 1});
  function.backward.push_back(pass);
  make(1, Number::fp32, true);
}

/// Output layer and loss run for some rows at a time and are checkpointed, so that the logits of one chunk
/// exist, in the forward and in the backward pass, which computes them again. The gradient of the output
/// layer's weight is added to that of the chunks before. One operation stands for those of all chunks. A
/// fused loss (Liger's) makes the gradients with the loss, so that nothing is computed again.
/// @source TRL, trainer/sft_trainer.py (_chunked_cross_entropy_loss), as read on 2026-11-29; Liger-Kernel,
/// ops/fused_linear_cross_entropy.py
void Eager::split_loss(Tensor logits, double m) {
  const auto elements = of(logits).elements;
  auto first = of(logits).made;
  const auto reads_logits = [&](std::int32_t n) {
    const auto& reads = nodes_[static_cast<std::size_t>(n)].reads;
    return !reads.empty() && of(reads.front()).elements == elements;
  };
  while (reads_logits(first)) first = of(nodes_[static_cast<std::size_t>(first)].reads.front()).made;
  std::vector<Operation> again;
  for (auto n = static_cast<std::size_t>(first); n < nodes_.size(); ++n) {
    again.insert(again.end(), nodes_[n].forward.begin(), nodes_[n].forward.end());
    nodes_[n].temporary *= settings_.loss_chunk / m;
    nodes_[n].temporary_backward = std::max(nodes_[n].temporary_backward, nodes_[n].parameter_bytes);
  }
  auto& backward = nodes_.back().backward;
  if (!settings_.fused_loss) backward.insert(backward.begin(), again.begin(), again.end());
  for (auto& info : tensors_)
    if (info.made >= first && info.elements == elements) info.share = settings_.loss_chunk / m;
}

}  // namespace gradway
