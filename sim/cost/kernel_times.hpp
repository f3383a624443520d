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

/// All kinds, in the order in which files list them. `choices` has the words that can stand for each of
/// `words`; calibration/torch/measure_kernels.py times them and says what exactly.
inline constexpr std::array timed_kinds{
    TimedKind{"product", {"number", "layout"}, {"m", "n", "k"}},
    TimedKind{"batched_product", {"number", "layout"}, {"batch", "m", "n", "k"}},
    // as many rows (of k in tn) a group, a weight for each
    TimedKind{"grouped_product", {"number", "layout"}, {"m", "n", "k", "groups"}},
    // mask: `full` computes all pairs
    TimedKind{"attention_forward", {"number", "how", "mask"}, {"batch", "heads", "seq", "head_dim"}},
    TimedKind{"attention_backward", {"number", "how", "mask"}, {"batch", "heads", "seq", "head_dim"}},
    // c: channels in, o: out; hw: the input's side
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
    // what is taken element by element; a name that ends in _ works in place; number: the input's
    TimedKind{"elementwise", {"what", "number"}, {"elements"}},
    // what is taken row by row
    TimedKind{"rows", {"what", "number"}, {"rows", "width"}},
    // rows: tokens
    TimedKind{"embedding", {}, {"rows", "vocabulary", "width"}},
    TimedKind{"embedding_backward", {}, {"rows", "vocabulary", "width"}},
    TimedKind{"optimizer", {"what"}, {"elements", "tensors"}},
};

/// The kind of that name; null if there is none.
const TimedKind* kind_of_name(std::string_view name);

// How many words stand behind the kind's name, and how many numbers its size has.
std::size_t word_count(const TimedKind& kind);
std::size_t size_count(const TimedKind& kind);

/// "mxnxk", as files write sizes.
std::string size_names(const TimedKind& kind);

/// The least that a number of a kind's size can be.
double least_size(const TimedKind& kind, std::size_t number);

/// The words that can stand for a kind's `words[word]`.
std::span<const std::string_view> choices(const TimedKind& kind, std::size_t word);

/// What such a word is, with its article, for messages: "a layout of product".
std::string noun_of_word(const TimedKind& kind, std::size_t word);

/// Whether a file lists `a` before `b`: by kind, words, size.
bool is_listed_before(const KernelTime& a, const KernelTime& b);

/// Kernels timed on one GPU model, by PyTorch or by cuBLAS and cuDNN themselves.
struct KernelTimes {
  std::string gpu;     ///< file name of the GPU without its ending, for example "h100-sxm"
  std::string source;  ///< with versions of PyTorch, CUDA and cuDNN
  std::vector<KernelTime> rows;
};

}  // namespace gradway
