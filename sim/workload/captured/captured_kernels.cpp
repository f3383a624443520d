// SPDX-License-Identifier: Apache-2.0
// Kernels that PyTorch launches for captured operations.
#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include <fmt/format.h>

#include "sim/workload/attention_choice.hpp"
#include "sim/workload/captured/captured_layouts.hpp"
#include "sim/workload/captured/captured_names.hpp"
#include "sim/workload/captured/captured_step.hpp"

namespace gradway {
namespace {

bool is_half(CapturedType type) {
  return type == CapturedType::bf16 || type == CapturedType::fp16;
}

/// Number type in the name of a kernel. Types without timed kernels use the timed type of the same width.
std::string_view number_of(CapturedType type) {
  if (type == CapturedType::fp16) return "fp16";
  return bytes_of(type) == 2 ? "bf16" : "fp32";
}

double bytes_of_number(std::string_view number) {
  return number == "fp32" ? fp32_bytes : 2;
}

/// Side of the square that has the same area as the image.
double side_of(const CapturedTensor& tensor) {
  const auto& shape = tensor.shape;
  double area = 1;
  for (std::size_t i = 2; i < shape.size(); ++i) area *= static_cast<double>(shape[i]);
  return std::sqrt(area);
}

class Kernels {
 public:
  Kernels(const CapturedOperation& captured, double batch, int compute_capability)
      : captured_{captured},
        batch_ratio_{captured.is_fixed ? 1 : batch},
        compute_capability_{compute_capability} {}

  CapturedKernels take() {
    issue();
    for (auto& kernel : result_.kernels)
      kernel.of_parameters = kernel.of_parameters || captured_.of_parameters;
    if (!result_.kernels.empty() && captured_.host_waits) result_.kernels.back().host_waits = true;
    return std::move(result_);
  }

 private:
  const CapturedTensor& in(std::size_t index) const { return captured_.inputs[index]; }
  const CapturedTensor& out(std::size_t index) const { return captured_.outputs[index]; }
  static double d(std::int64_t value) { return static_cast<double>(value); }

  void add(std::string kernel, std::array<double, most_sizes> size) {
    // CUDA launches nothing for tensors without elements.
    if (!(size[0] > 0) || !std::ranges::all_of(size, [](double side) { return std::isfinite(side); })) return;
    for (auto& side : size) side = std::round(side * 1e6) / 1e6;
    if (auto operation = find_operation(std::move(kernel), size))
      result_.kernels.push_back(std::move(*operation));
  }
  /// Marks the last kernel as one that computes the gradient of a parameter.
  void mark_gradient() {
    if (!result_.kernels.empty()) result_.kernels.back().of_parameters = true;
  }
  void add_elementwise(std::string_view kernel, CapturedType type, double elements) {
    add(fmt::format("elementwise {} {}", kernel, number_of(type)), {elements * batch_ratio_});
  }
  /// Adds a kernel for operands of different memory layout: slices, permutations and expanded tensors. It
  /// computes an offset for each element, as a permutation does.
  void add_strided(double bytes) {
    add(fmt::format("elementwise permute {}", number_of(written().type)),
        {bytes * batch_ratio_ / (2 * bytes_of_number(number_of(written().type)))});
  }
  /// Adds an elementwise kernel that divides the index of each element of the result by the sides of its
  /// dimensions, because operands are broadcast or have gaps. Its time follows from their number more than
  /// from its bytes.
  void add_broadcast() {
    constexpr int most = 6;
    const auto dimensions = std::min(most, merged_dimensions(captured_));
    const auto number = number_of(written().type);
    const auto kernel = dimensions < 3 ? std::string{"broadcast"} : fmt::format("broadcast_{}", dimensions);
    add(fmt::format("elementwise {} {}", kernel, number), {written().elements() * batch_ratio_});
  }
  /// Adds a kernel that reads and writes this number of bytes in total.
  void add_copy(double bytes) { add("elementwise copy fp32", {bytes * batch_ratio_ / (2 * fp32_bytes)}); }
  double bytes_read() const {
    double sum = 0;
    for (const auto& tensor : captured_.inputs) sum += tensor.bytes();
    return sum;
  }
  double bytes_written() const {
    double sum = 0;
    for (const auto& tensor : captured_.outputs) sum += tensor.bytes();
    return sum;
  }
  std::string_view arithmetic(CapturedType type) const {
    if (type == CapturedType::fp16) return "fp16";
    if (type == CapturedType::bf16) return "bf16";
    return captured_.is_tf32 ? "tf32" : "fp32";
  }

  /// Whether an operand is one number on the GPU, which PyTorch broadcasts.
  bool has_number_as_operand() const {
    return std::ranges::any_of(captured_.inputs, [](const auto& tensor) { return tensor.elements() <= 1; });
  }

  void issue() {
    const std::string_view name = captured_.name;
    if (captured_.inputs.empty() && captured_.outputs.empty()) return;
    if (captured_.given > Seconds{})
      return add("elementwise given fp32", {captured_.given.value() * 1e9 * batch_ratio_});
    if (name == "compiled") return add_copy(bytes_read() + bytes_written());
    if (name == "_grouped_mm") return grouped_product();
    if (is_product(name)) return product();
    if (name.find('.') != std::string_view::npos) return custom();
    if (name == "convolution" || name == "convolution_backward") return convolution();
    if (name.starts_with("scaled_dot_product_attention")) return attention();
    if (name == "embedding" || name == "embedding_dense_backward") return embedding();
    if (name.starts_with("_embedding_bag")) return embedding_bag();
    if (name.starts_with("nll_loss")) return loss();
    if (name.find("batch_norm") != std::string_view::npos) return batch_norm();
    if (name.starts_with("max_pool2d_with_indices") && is_image(in(0))) return max_pool();
    if (const auto kernel = kernel_by_row(name); !kernel.empty()) return rows(kernel);
    if (const auto kernel = kernel_by_element(name); !kernel.empty())
      return has_same_layout(captured_) ? add_elementwise(kernel, in(0).type, in(0).elements())
                                        : add_broadcast();
    if (name == "_to_copy" || name == "clone" || name == "copy_" || name == "repeat") return copy();
    if (name == "masked_fill") return masked_fill();
    if (name == "tril" || name == "triu" || (name == "where" && has_number_as_operand()))
      return add_broadcast();
    if (name == "cumsum") return add_rows("cumsum", number_of(in(0).type), in(0));
    if (name == "cat") return cat();
    if (is_reduction(name)) return reduction();
    if (is_zeroing(name)) return zero();
    if (is_random(name)) return add_elementwise("random", written().type, written().elements());
    if (is_padded(name)) return into_zeros();
    if (name == "sort" || name == "topk" || name == "argsort") return sorted();
    if (name == "index" && captured_.inputs.size() == 2 && in(1).type == CapturedType::int64)
      return indexed();
    if (is_scattered(name)) return scattered();
    elementwise();
  }

  /// An operation of the program or of a library, whose kernel is assumed to read and write each tensor once.
  void custom() {
    result_.is_known = false;
    add_copy(bytes_read() + bytes_written());
  }
  const CapturedTensor& written() const { return written_by(captured_); }

  void product() {
    const bool is_batched = captured_.name == "bmm" || captured_.name == "baddbmm";
    const bool is_scaled = captured_.name == "_scaled_mm";
    const auto first = is_scaled ? 0 : captured_.inputs.size() - 2;
    const auto& a = in(first);
    const auto& b = in(first + 1);
    const auto rank = a.shape.size();
    const double m = d(a.shape[rank - 2]);
    const double k = d(a.shape[rank - 1]);
    const double n = d(b.shape[rank - 1]);
    auto layout = ProductLayout::nn;
    if (b.layout == CapturedLayout::transposed) layout = ProductLayout::nt;
    if (a.layout == CapturedLayout::transposed) layout = ProductLayout::tn;
    const auto number = is_scaled ? "fp8" : arithmetic(a.type);
    const auto kernel =
        fmt::format("product {} {}", number, is_scaled ? layout_by_scales() : name_of(layout));
    if (is_batched) {
      add("batched_" + kernel, {d(a.shape[0]) * batch_ratio_, m, n, k});
      if (captured_.name == "baddbmm") add_elementwise("add", a.type, d(a.shape[0]) * m * n);
    } else if (captured_.of_parameters) {
      add(kernel, {m, n, k * batch_ratio_});
    } else {
      add(kernel, {m * batch_ratio_, n, k});
    }
  }

  /// The kernel of a product in fp8 follows from the scales of its operands. Gradients of weights are summed
  /// in full precision. @source torchao, float8/config.py (use_fast_accum)
  std::string_view layout_by_scales() const {
    const auto& scale = in(2);
    if (scale.type == CapturedType::fp8) return "nt_mx";
    if (scale.elements() > 1) return scale.shape.back() > 1 ? "nt_blocks" : "nt_rows";
    return captured_.of_parameters ? "nt" : "nt_fast";
  }

  /// Rows in groups, each with its own weight; or the products that compute the gradients of these weights.
  void grouped_product() {
    const auto& a = in(0);
    const auto& b = in(1);
    const auto number = arithmetic(a.type);
    if (b.shape.size() == 3) {
      const auto layout = b.layout == CapturedLayout::contiguous ? ProductLayout::nn : ProductLayout::nt;
      add(fmt::format("grouped_product {} {}", number, name_of(layout)),
          {d(a.shape[0]) * batch_ratio_, d(b.shape[2]), d(b.shape[1]), d(b.shape[0])});
    } else {
      add(fmt::format("grouped_product {} tn", number),
          {d(a.shape[0]), d(b.shape[1]), d(a.shape[1]) * batch_ratio_, d(out(0).shape[0])});
      mark_gradient();
    }
  }

  static bool is_image(const CapturedTensor& tensor) { return tensor.shape.size() == 4; }

  void convolution() {
    const bool is_backward = captured_.name == "convolution_backward";
    const auto& input = in(is_backward ? 1 : 0);
    const auto& weight = in(is_backward ? 2 : 1);
    const auto& result = is_backward ? in(0) : out(0);
    const auto number = arithmetic(input.type);
    const double samples = d(input.shape[0]) * batch_ratio_;
    const double channels = d(input.shape[1]);
    const double outputs = d(result.shape[1]);
    const auto square = [](const CapturedTensor& tensor) {
      return tensor.shape.size() == 4 && tensor.shape[2] == tensor.shape[3];
    };
    const bool is_square = square(input) && square(weight) && !captured_.is_transposed &&
                           captured_.stride.size() == 2 && captured_.stride[0] == captured_.stride[1] &&
                           captured_.padding[0] == captured_.padding[1];
    const auto writes = [&](const CapturedTensor& like) {
      return std::ranges::any_of(captured_.outputs,
                                 [&](const auto& tensor) { return tensor.shape == like.shape; });
    };
    if (is_square) {
      const bool is_nhwc =
          input.layout == CapturedLayout::channels_last || weight.layout == CapturedLayout::channels_last;
      const std::array<double, most_sizes> size{samples,
                                                channels,
                                                outputs,
                                                d(weight.shape[2]),
                                                d(captured_.stride[0]),
                                                d(captured_.padding[0]),
                                                d(input.shape[2]),
                                                d(captured_.groups)};
      const auto issue_as = [&](std::string_view kind) {
        add(fmt::format("{} {} {}", kind, number, is_nhwc ? "nhwc" : "nchw"), size);
      };
      if (!is_backward) issue_as("convolution");
      if (is_backward && writes(input)) issue_as("convolution_input");
      if (is_backward && writes(weight)) issue_as("convolution_weight");
    } else {
      // The equivalent matrix product, with a row for each element of a channel of the result.
      const double rows = result.elements() / outputs * batch_ratio_;
      const double inner = weight.elements() / outputs;
      if (!is_backward) add(fmt::format("product {} nt", number), {rows, outputs, inner});
      if (is_backward && writes(input)) add(fmt::format("product {} nn", number), {rows, inner, outputs});
      if (is_backward && writes(weight)) add(fmt::format("product {} tn", number), {outputs, inner, rows});
    }
    if (is_backward && writes(weight)) mark_gradient();
    const bool has_bias =
        is_backward ? captured_.outputs.back().shape.size() == 1 : captured_.inputs.size() > 2;
    if (has_bias && is_backward) {
      add(fmt::format("rows bias_sum {}", number_of(result.type)),
          {result.elements() / outputs * batch_ratio_, outputs});
      mark_gradient();
    } else if (has_bias) {
      add_elementwise("add_", result.type, result.elements());
    }
  }

  /// Flash attention does not support masks.
  void attention() {
    const bool is_backward = captured_.name.ends_with("_backward");
    const auto first = is_backward ? std::size_t{1} : std::size_t{0};
    const auto& query = in(first);
    const auto& key = in(first + 1);
    const auto& value = in(first + 2);
    const bool has_mask = captured_.inputs.size() > (is_backward ? 6U : 3U);
    const auto number = arithmetic(query.type);
    const AttentionHead head{query.shape[3], value.shape[3], false};
    auto how = automatic_attention(
        {is_half(query.type) ? Precision::bf16 : Precision::fp32, compute_capability_, head});
    if (how == AttentionKernel::math || (has_mask && how == AttentionKernel::flash))
      how = AttentionKernel::efficient;
    if (captured_.is_flash) how = AttentionKernel::flash;
    const double batch = d(query.shape[0]) * batch_ratio_;
    const double heads = d(query.shape[1]);
    const double of_keys = d(key.shape[1]);
    const double tokens = std::sqrt(d(query.shape[2]) * d(key.shape[2]));
    add(fmt::format("attention_{} {} {} {}", is_backward ? "backward" : "forward", number, name_of(how),
                    captured_.is_causal ? "causal" : "full"),
        {batch, heads, tokens, d(query.shape[3]), of_keys < heads ? of_keys : 0,
         value.shape[3] != query.shape[3] ? d(value.shape[3]) : 0});
    if (is_backward && how == AttentionKernel::flash && of_keys < heads)
      for (int i = 0; i < 2; ++i) add_elementwise("sum", query.type, query.elements());
  }

  void embedding() {
    const bool is_backward = captured_.name.ends_with("_backward");
    const auto& table = is_backward ? out(0) : in(0);
    const double width = d(table.shape.back());
    const auto rows = (is_backward ? in(0) : out(0)).elements() / width;
    add(is_backward ? "embedding_backward" : "embedding",
        {rows * batch_ratio_, d(table.shape.front()), width});
    if (is_backward) mark_gradient();
  }

  void loss() {
    const bool is_backward = captured_.name.find("backward") != std::string::npos;
    const auto& scores = in(is_backward ? 1 : 0);
    const double width = d(scores.shape.size() > 1 ? scores.shape[1] : 1);
    add(fmt::format("rows {} {}", is_backward ? "nll_loss_backward" : "nll_loss", number_of(scores.type)),
        {scores.elements() / width * batch_ratio_, width});
  }

  void batch_norm() {
    const bool is_backward = captured_.name.find("backward") != std::string::npos;
    const auto& input = in(0);
    if (input.shape.size() < 2) return;
    const bool is_nhwc = std::ranges::any_of(
        captured_.inputs, [](const auto& tensor) { return tensor.layout == CapturedLayout::channels_last; });
    add(fmt::format("batch_norm{} {} {}", is_backward ? "_backward" : "", number_of(input.type),
                    is_nhwc ? "nhwc" : "nchw"),
        {d(input.shape[0]) * batch_ratio_, d(input.shape[1]), side_of(input)});
  }

  void max_pool() {
    const bool is_backward = captured_.name.ends_with("_backward");
    const auto& input = in(is_backward ? 1 : 0);
    add(fmt::format("max_pool{} {} {}", is_backward ? "_backward" : "", number_of(input.type),
                    input.layout == CapturedLayout::channels_last ? "nhwc" : "nchw"),
        {d(input.shape[0]) * batch_ratio_, d(input.shape[1]), side_of(input)});
  }

  /// Copies a tensor into another layout.
  void add_relayout(const CapturedTensor& from, bool is_transposed) {
    if (is_transposed) return add_rows("transpose_256", number_of(from.type), from);
    add_elementwise("permute", from.type, from.elements());
  }

  /// Norms and softmax read contiguous rows, so that PyTorch copies operands of other layouts first.
  /// @source PyTorch, aten/src/ATen/native/cuda/layer_norm_kernel.cu (expect_contiguous), SoftMax.cu
  /// (contiguous)
  void rows(std::string_view kernel) {
    const auto& input = in(0);
    for (const auto& tensor : captured_.inputs)
      if (tensor.layout != CapturedLayout::contiguous && tensor.elements() == input.elements())
        add_relayout(tensor, tensor.layout == CapturedLayout::transposed);
    const double width = input.shape.empty() ? 1 : d(input.shape.back());
    add(fmt::format("rows {} {}", kernel, number_of(input.type)),
        {input.elements() / width * batch_ratio_, width});
    if (captured_.name != "_safe_softmax") return;
    // Fully masked rows become zeros.
    add_copy(input.bytes() + input.elements());
    add_copy(input.elements());
    add_strided(2 * input.bytes());
  }

  /// The gradient of a bag is that of an embedding; the bag itself reads a row for each index and writes
  /// their sums.
  void embedding_bag() {
    const bool is_backward = captured_.name.ends_with("_backward");
    const auto& table = is_backward ? out(0) : in(0);
    const double indices = in(1).elements();
    const double width = d(table.shape.back());
    const double bags = (is_backward ? in(0) : out(0)).elements() / width;
    add(is_backward ? "embedding_backward" : "embedding",
        {(is_backward ? indices : (indices + bags) / 2) * batch_ratio_, d(table.shape.front()), width});
    if (is_backward) mark_gradient();
  }

  /// A copy of the tensor, which is then filled in place.
  /// @source aten/src/ATen/native/TensorAdvancedIndexing.cpp, masked_fill, PyTorch 2.11
  void masked_fill() {
    copy_of(in(0), written());
    add_broadcast();
  }

  void copy() { copy_of(captured_.inputs.back(), written()); }

  void copy_of(const CapturedTensor& from, const CapturedTensor& result) {
    const auto elements = result.elements();
    if (elements > from.elements()) return add_broadcast();
    if (from.type != result.type && !has_same_layout(captured_))
      return add_strided(from.bytes() + result.bytes());
    if (from.type == CapturedType::fp32 && is_half(result.type))
      return add_elementwise("cast_to_16", from.type, elements);
    if (is_half(from.type) && result.type == CapturedType::fp32)
      return add_elementwise("cast_to_32", from.type, elements);
    if (from.type != result.type) return add_copy(elements * (bytes_of(from.type) + bytes_of(result.type)));
    if (has_same_layout(captured_)) return add_elementwise("copy", from.type, elements);
    add_relayout(from,
                 from.layout == CapturedLayout::transposed || result.layout == CapturedLayout::transposed);
  }

  void cat() {
    const auto& result = out(0);
    const bool has_parts = std::ranges::any_of(
        captured_.inputs, [](const auto& tensor) { return tensor.layout != CapturedLayout::contiguous; });
    if (has_parts) return add_strided(2 * result.bytes());
    add_rows("cat", number_of(result.type), result);
  }

  void reduction() {
    const auto& from = in(0);
    const double results = written().elements();
    if (captured_.name == "sum" && captured_.of_parameters && from.shape.size() > 1 && results > 1) {
      add_rows("bias_sum", number_of(from.type), from);
    } else if (reduces_rows(captured_)) {
      add(fmt::format("rows sum {}", number_of(from.type)),
          {results * batch_ratio_, from.elements() / results});
    } else {
      add_elementwise("sum", from.type, from.elements());
    }
  }

  void zero() { add_elementwise("zero", written().type, written().elements()); }

  /// A tensor of zeros, and a copy of the input into it.
  void into_zeros() {
    zero();
    add_elementwise("copy", in(0).type, in(0).elements());
  }

  /// Adds a kernel that works on rows of a tensor.
  void add_rows(std::string_view kernel, std::string_view number, const CapturedTensor& tensor) {
    const auto name = fmt::format("rows {} {}", kernel, number);
    if (tensor.shape.size() < 2) return add(name, {1, tensor.elements() * batch_ratio_});
    const double width = d(tensor.shape.back());
    add(name, {tensor.elements() / width * batch_ratio_, width});
  }

  /// Sorts, and the largest values, along the last dimension.
  void sorted() {
    const auto& keys = in(0);
    if (captured_.name == "topk") return add_rows("topk", number_of(keys.type), keys);
    add_rows(bytes_of(keys.type) > fp32_bytes ? "sort_int64" : "sort", "fp32", keys);
  }

  /// Reads rows of a table.
  void indexed() {
    const auto& result = written();
    const double rows = in(1).elements();
    add(fmt::format("rows index {}", number_of(result.type)),
        {rows * batch_ratio_, rows > 0 ? result.elements() / rows : 0});
  }

  /// A copy of the target, unless it is changed in place, then the scattered elements.
  void scattered() {
    const std::string_view name = captured_.name;
    if (!name.ends_with('_')) add_elementwise("copy", in(0).type, in(0).elements());
    const auto kernel = name.starts_with("index_add") ? "index_add"
                        : name.starts_with("scatter") ? "scatter_add"
                                                      : "index_put";
    const auto& from = captured_.inputs.back();
    const double width = from.shape.size() < 2 ? 1 : d(from.shape.back());
    add(fmt::format("rows {} {}", kernel, number_of(in(0).type)),
        {from.elements() / width * batch_ratio_, width});
  }

  void elementwise() {
    const std::string_view name = captured_.name;
    const bool is_in_place = name.ends_with('_');
    const auto& result = written();
    const auto operands = std::ranges::count_if(
        captured_.inputs, [&](const auto& tensor) { return tensor.elements() == result.elements(); });
    const bool same_type = std::ranges::all_of(captured_.inputs, [&](const auto& tensor) {
      return tensor.type == result.type || tensor.elements() < result.elements();
    });
    const bool has_numbers = is_half(result.type) || result.type == CapturedType::fp32;
    const auto moved =
        bytes_read() + (captured_.outputs.empty() && is_in_place ? in(0).bytes() : bytes_written());
    result_.is_known = is_plain_operation(name) || name.ends_with("_backward");
    if (!has_same_layout(captured_) && result.elements() > 1) {
      if (same_type && has_numbers && is_broadcast(captured_)) return add_broadcast();
      const auto kernel = same_type && has_numbers ? kernel_of_layouts(captured_) : std::string_view{};
      return kernel.empty() ? add_strided(moved) : add_elementwise(kernel, result.type, result.elements());
    }
    result_.is_known = true;
    const bool is_sum = name == "add" || name == "add_" || name == "sub";
    if (same_type && has_numbers && operands == 2 && is_sum)
      return add_elementwise(name == "add_" ? "add_" : "add", result.type, result.elements());
    if (!same_type && operands == 2 && is_sum && result.type == CapturedType::fp32)
      return add_elementwise("add_mixed", CapturedType::bf16, result.elements());
    if (same_type && has_numbers && operands == 2 && name == "mul")
      return add_elementwise("mul", result.type, result.elements());
    if (same_type && has_numbers && operands == 1 && (name == "mul" || name == "div"))
      return add_elementwise("scale", result.type, result.elements());
    result_.is_known = is_plain_operation(name) || name.ends_with("_backward");
    add_copy(moved);
  }

  const CapturedOperation& captured_;
  double batch_ratio_;
  int compute_capability_;
  CapturedKernels result_{};
};

}  // namespace

CapturedKernels kernels_of(const CapturedOperation& captured, double batch_ratio, int compute_capability) {
  return Kernels{captured, batch_ratio, compute_capability}.take();
}

}  // namespace gradway
