// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/units.hpp"

namespace gradway {

/// The time of a kernel, or of an operation of PyTorch, measured in isolation on a GPU.
struct KernelTime {
  std::string kernel;        ///< name in the form of `timed_kinds`: "product bf16 nt"
  std::vector<double> size;  ///< the dimensions of its kind
  Seconds time{};
};

/// A kind of timed kernels: the form of `KernelTime::kernel` and the dimensions of its size.
struct TimedKind {
  std::string_view name;                  ///< first word
  std::array<std::string_view, 3> words;  ///< meaning of the other words; empty strings at the end
  std::array<std::string_view, 9> size;   ///< names of the dimensions; empty strings at the end
};

/// All kinds in the order of files. `choices` has the possible values of each of `words`.
/// calibration/torch/measure_kernels.py times the kernels and defines them exactly.
inline constexpr std::array timed_kinds{
    TimedKind{"product", {"number", "layout"}, {"m", "n", "k"}},
    TimedKind{"batched_product", {"number", "layout"}, {"batch", "m", "n", "k"}},
    // groups of equally many rows (of k in tn), each with its own weight
    TimedKind{"grouped_product", {"number", "layout"}, {"m", "n", "k", "groups"}},
    // mask: causal or full
    TimedKind{"attention_forward", {"number", "how", "mask"}, {"batch", "heads", "seq", "head_dim"}},
    TimedKind{"attention_backward", {"number", "how", "mask"}, {"batch", "heads", "seq", "head_dim"}},
    // c: input channels, o: output channels, hw: side of the input
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
    // a name that ends in _ works in place; number: format of the input
    TimedKind{"elementwise", {"what", "number"}, {"elements"}},
    TimedKind{"rows", {"what", "number"}, {"rows", "width"}},
    // rows: tokens
    TimedKind{"embedding", {}, {"rows", "vocabulary", "width"}},
    TimedKind{"embedding_backward", {}, {"rows", "vocabulary", "width"}},
    TimedKind{"optimizer", {"what"}, {"elements", "tensors"}},
};

/// The kind of a name; null if it does not exist.
const TimedKind* kind_of_name(std::string_view name);

/// Number of words after the name of a kind.
std::size_t word_count(const TimedKind& kind);
/// Number of dimensions of its size.
std::size_t size_count(const TimedKind& kind);

/// The dimensions as in files: "mxnxk".
std::string size_names(const TimedKind& kind);

/// Smallest valid value of a dimension.
double least_size(const TimedKind& kind, std::size_t number);

/// The possible values of a kind's `words[word]`.
std::span<const std::string_view> choices(const TimedKind& kind, std::size_t word);

/// The meaning of such a word with its article, for messages: "a layout of product".
std::string noun_of_word(const TimedKind& kind, std::size_t word);

/// Order of kernels in files: by kind, words, size.
bool is_listed_before(const KernelTime& a, const KernelTime& b);

/// Times of kernels on one kind of GPU, measured with PyTorch or with cuBLAS and cuDNN.
struct KernelTimes {
  std::string gpu;     ///< file name of the GPU without its extension, for example "h100-sxm"
  std::string source;  ///< with versions of PyTorch, CUDA and cuDNN
  std::vector<KernelTime> rows;
};

}  // namespace gradway
