// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/units.hpp"

namespace gradway {

/// A kernel, or what PyTorch issues as one operation, that was timed by itself on a GPU.
struct KernelTime {
  std::string kernel;        ///< what, in the words of `timed_kernels`: "product bf16 nt"
  std::vector<double> size;  ///< as many numbers as its kind has
  Seconds time{};
};

/// A kind of timed kernels: the first words of `KernelTime::kernel`, and what the numbers of its size are.
struct TimedKind {
  std::string_view name;                  ///< the first word
  std::array<std::string_view, 3> words;  ///< what the other words say; empty: there is none
  std::array<std::string_view, 9> size;   ///< what the numbers are; empty: there is none
};

/// All kinds, in the order in which files list them.
/// Words: number is fp32, tf32, bf16 or fp16; layout of a product: a letter a factor, n as it lies in memory,
/// t transposed (nt is what a linear layer's forward pass computes).
inline constexpr std::array timed_kinds{
    TimedKind{"product", {"number", "layout"}, {"m", "n", "k"}},
    TimedKind{"batched_product", {"number", "layout"}, {"batch", "m", "n", "k"}},
    // number: as above, then `causal` or `full` and the direction; how: cudnn, flash or efficient
    TimedKind{"attention_forward", {"number", "how", "mask"}, {"batch", "heads", "seq", "head_dim"}},
    TimedKind{"attention_backward", {"number", "how", "mask"}, {"batch", "heads", "seq", "head_dim"}},
    // layout: nchw or nhwc; hw: the input's side
    TimedKind{
        "convolution", {"number", "layout"}, {"n", "c", "o", "kernel", "stride", "pad", "hw", "groups"}},
    TimedKind{"convolution_input",
              {"number", "layout"},
              {"n", "c", "o", "kernel", "stride", "pad", "hw", "groups"}},
    TimedKind{"convolution_weight",
              {"number", "layout"},
              {"n", "c", "o", "kernel", "stride", "pad", "hw", "groups"}},
    TimedKind{"batch_norm", {"number", "layout"}, {"n", "c", "hw"}},
    TimedKind{"batch_norm_backward", {"number", "layout"}, {"n", "c", "hw"}},
    TimedKind{"max_pool", {"number", "layout"}, {"n", "c", "hw"}},
    TimedKind{"max_pool_backward", {"number", "layout"}, {"n", "c", "hw"}},
    // what: copy, add, gelu, cast_from_fp32 ...: kernels that take element by element
    TimedKind{"elementwise", {"what", "number"}, {"elements"}},
    // what: layer_norm, softmax, nll_loss ...: kernels that take row by row
    TimedKind{"rows", {"what", "number"}, {"rows", "width"}},
    TimedKind{"embedding", {}, {"rows", "vocabulary", "width"}},
    TimedKind{"embedding_backward", {}, {"rows", "vocabulary", "width"}},
    TimedKind{"optimizer", {"what"}, {"elements", "tensors"}},
};

/// How many numbers a kind's size has. @return empty if there is no such kind
std::optional<std::size_t> size_of_kind(std::string_view name);

/// Kernels timed on one GPU model, by PyTorch or by cuBLAS and cuDNN themselves.
struct KernelTimes {
  std::string gpu;     ///< file name of the GPU without its ending, for example "h100-sxm"
  std::string source;  ///< with versions of PyTorch, CUDA and cuDNN
  std::vector<KernelTime> rows;
};

}  // namespace gradway
