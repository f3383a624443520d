// SPDX-License-Identifier: Apache-2.0
#include "readers/kineto/work/kernel_name.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <span>

#include "sim/base/text.hpp"

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
  return std::ranges::any_of(fragments, [&](auto fragment) { return contains(name, fragment); });
}

KernelClass class_of_copy(std::string_view name) {
  if (contains(name, "HtoD")) return KernelClass::copy_in;
  if (contains(name, "DtoH")) return KernelClass::copy_out;
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

bool is_collective(std::string_view kernel) {
  return contains(kernel, "nccl");
}

CollectiveKind collective_kind(std::string_view name) {
  constexpr std::array kinds{std::pair{"reduce_scatter", CollectiveKind::reduce_scatter},
                             std::pair{"ReduceScatter", CollectiveKind::reduce_scatter},
                             std::pair{"allgather", CollectiveKind::all_gather},
                             std::pair{"all_gather", CollectiveKind::all_gather},
                             std::pair{"AllGather", CollectiveKind::all_gather},
                             std::pair{"broadcast", CollectiveKind::broadcast},
                             std::pair{"Broadcast", CollectiveKind::broadcast},
                             std::pair{"all_to_all", CollectiveKind::all_to_all},
                             std::pair{"send", CollectiveKind::send},
                             std::pair{"recv", CollectiveKind::send},
                             std::pair{"SendRecv", CollectiveKind::send_recv}};
  const auto* const entry =
      std::ranges::find_if(kinds, [&](const auto& named) { return contains(name, named.first); });
  return entry == kinds.end() ? CollectiveKind::all_reduce : entry->second;
}

std::string_view element_type_of(std::string_view kernel) {
  constexpr std::array types{
      std::pair{"_bf16", "BFloat16"}, std::pair{"_f16", "Half"},         std::pair{"_f32", "Float"},
      std::pair{"_f64", "Double"},    std::pair{"_f8", "Float8_e4m3fn"}, std::pair{"_i32", "Int"},
      std::pair{"_u32", "Int"},       std::pair{"_i64", "Long"},         std::pair{"_u64", "Long"},
      std::pair{"_i8", "Char"},       std::pair{"_u8", "Byte"}};
  const auto* const entry =
      std::ranges::find_if(types, [&](const auto& named) { return contains(kernel, named.first); });
  return entry == types.end() ? "" : entry->second;
}

std::optional<Precision> precision_by_name(std::string_view kernel) {
  constexpr std::array<std::string_view, 3> bf16{"bf16", "BFloat16", "bfloat16"};
  constexpr std::array<std::string_view, 5> fp16{"f16", "fp16", "Half", "half", "hgemm"};
  constexpr std::array<std::string_view, 5> fp32{"sgemm", "ffma", "f32f32_f32f32_f32", "_f32_aligned",
                                                 "float"};
  if (has_part(kernel, bf16)) return Precision::bf16;
  if (has_part(kernel, fp16)) return Precision::fp16;
  if (uses_tf32(kernel)) return Precision::tf32;
  return has_part(kernel, fp32) ? std::optional{Precision::fp32} : std::nullopt;
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
