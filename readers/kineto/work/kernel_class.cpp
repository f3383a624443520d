// SPDX-License-Identifier: Apache-2.0
#include "readers/kineto/work/launch_work.hpp"
#include "sim/base/text.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <span>

namespace gradway {
namespace {

using Parts = std::span<const std::string_view>;

// All in lower case. A kernel belongs to the first list that contains a part of its name.
constexpr std::array<std::string_view, 14> helper_parts = {
    "nchwtonhwc",   "nhwctonchw",     "splitkreduce",      "split_k_kernel",  "splitk_reduce",
    "reduce_wgrad", "init_d",         "scal_kernel",       "epilogue::impl",  "convert_d",
    "dot_do_o",     "computeoffsets", "winograd_nonfused", "generatewinograd"};
constexpr std::array<std::string_view, 5> attention_parts = {"fmha", "flash", "attention", "sdpa", "mha_"};
constexpr std::array<std::string_view, 16> matrix_parts = {
    "gemm",     "cutlass", "xmma",   "nvjet",  "wgrad",    "dgrad", "fprop", "winograd",
    "implicit", "conv1d",  "conv2d", "conv3d", "convolve", "conv_", "_conv", "triton_tem"};
constexpr std::array<std::string_view, 2> framework_starts = {"void at::native::", "at::native::"};

bool has_part(std::string_view name, Parts fragments) {
  return std::ranges::any_of(fragments,
                             [&](auto fragment) { return name.find(fragment) != std::string_view::npos; });
}

KernelClass class_of_copy(std::string_view name) {
  if (name.find("HtoD") != std::string_view::npos) return KernelClass::copy_in;
  if (name.find("DtoH") != std::string_view::npos) return KernelClass::copy_out;
  return KernelClass::memory;
}

}  // namespace

KernelClass class_of(TracedActivity::Kind kind, std::string_view name) {
  if (kind == TracedActivity::Kind::copy) return class_of_copy(name);
  if (kind == TracedActivity::Kind::memset) return KernelClass::memory;
  const bool is_frameworks_own =
      std::ranges::any_of(framework_starts, [&](auto start) { return name.starts_with(start); });
  const auto text = lower_case(name);
  if (is_frameworks_own || has_part(text, helper_parts)) return KernelClass::memory;
  if (has_part(text, attention_parts)) return KernelClass::attention;
  return has_part(text, matrix_parts) ? KernelClass::matrix : KernelClass::memory;
}

bool uses_tf32(std::string_view kernel) {
  // cutlass names contain the shape of the instruction: 16x8x8 is TF32.
  constexpr std::array<std::string_view, 2> marks{"tf32", "s1688"};
  return has_part(lower_case(kernel), marks);
}

std::string short_name(std::string_view kernel) {
  if (kernel.starts_with("void ")) kernel.remove_prefix(5);
  constexpr std::string_view unnamed = "(anonymous namespace)::";
  std::string text{kernel};
  for (auto position = text.find(unnamed); position != std::string::npos; position = text.find(unnamed))
    text.erase(position, unnamed.size());
  text.resize(std::min(text.find_first_of("<("), text.size()));
  if (const auto scope = text.rfind("::"); scope != std::string::npos) text.erase(0, scope + 2);
  constexpr std::size_t longest = 40;
  text.resize(std::min(text.size(), longest));
  return text;
}

}  // namespace gradway
