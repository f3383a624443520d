// SPDX-License-Identifier: Apache-2.0
// The kernels of captured operations.
#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include <fmt/format.h>

#include "sim/workload/attention_choice.hpp"
#include "sim/workload/captured_names.hpp"
#include "sim/workload/captured_step.hpp"

namespace gradway {
namespace {

bool is_half(CapturedType type) {
  return type == CapturedType::bf16 || type == CapturedType::fp16;
}

/// The word of a kernel's number. Types that no kernel was timed with count as the one of their width.
std::string_view number_of(CapturedType type) {
  if (type == CapturedType::fp16) return "fp16";
  return bytes_of(type) == 2 ? "bf16" : "fp32";
}

double bytes_of_number(std::string_view number) {
  return number == "fp32" ? fp32_bytes : 2;
}

/// Side of a square of the same area as an image or a window.
double side_of(const CapturedTensor& tensor) {
  const auto& shape = tensor.shape;
  double area = 1;
  for (std::size_t i = 2; i < shape.size(); ++i) area *= static_cast<double>(shape[i]);
  return std::sqrt(area);
}

class Kernels {
 public:
  Kernels(const CapturedOperation& of, double batch, int compute_capability)
      : of_{of}, more_{of.is_fixed ? 1 : batch}, compute_capability_{compute_capability} {}

  CapturedKernels take() {
    issue();
    for (auto& kernel : result_.kernels) kernel.of_parameters = kernel.of_parameters || of_.of_parameters;
    if (!result_.kernels.empty() && of_.host_waits) result_.kernels.back().host_waits = true;
    return std::move(result_);
  }

 private:
  const CapturedTensor& in(std::size_t index) const { return of_.inputs[index]; }
  const CapturedTensor& out(std::size_t index) const { return of_.outputs[index]; }
  static double d(std::int64_t value) { return static_cast<double>(value); }

  void add(std::string kernel, std::array<double, most_sizes> size) {
    // CUDA launches nothing for tensors without elements.
    if (!(size[0] > 0) || !std::ranges::all_of(size, [](double side) { return std::isfinite(side); })) return;
    for (auto& side : size) side = std::round(side * 1e6) / 1e6;
    if (auto found = find_operation(std::move(kernel), size)) result_.kernels.push_back(std::move(*found));
  }
  /// The last kernel makes the gradient of a parameter.
  void makes_gradient() {
    if (!result_.kernels.empty()) result_.kernels.back().of_parameters = true;
  }
  void stream(std::string_view what, CapturedType type, double elements) {
    add(fmt::format("elementwise {} {}", what, number_of(type)), {elements * more_});
  }
  /// ... of operands that do not lie in memory element by element alike: slices, permutations, those that are
  /// expanded. Their kernels compute an offset for each element, as a permutation's.
  void gathers(double bytes) {
    add(fmt::format("elementwise permute {}", number_of(written().type)),
        {bytes * more_ / (2 * bytes_of_number(number_of(written().type)))});
  }
  /// Whether all operands lie as the result.
  bool is_plain() const {
    const auto& to = written();
    return std::ranges::all_of(of_.inputs, [&](const auto& tensor) {
      return tensor.elements() <= 1 || (tensor.elements() == to.elements() && tensor.layout == to.layout);
    });
  }
  /// A kernel that moves so many bytes.
  void moves(double bytes) { add("elementwise copy fp32", {bytes * more_ / (2 * fp32_bytes)}); }
  double bytes_read() const {
    double sum = 0;
    for (const auto& tensor : of_.inputs) sum += tensor.bytes();
    return sum;
  }
  double bytes_written() const {
    double sum = 0;
    for (const auto& tensor : of_.outputs) sum += tensor.bytes();
    return sum;
  }
  std::string_view arithmetic(CapturedType type) const {
    if (type == CapturedType::fp16) return "fp16";
    if (type == CapturedType::bf16) return "bf16";
    return of_.is_tf32 ? "tf32" : "fp32";
  }

  void issue() {
    const std::string_view name = of_.name;
    if (of_.inputs.empty() && of_.outputs.empty()) return;
    if (name == "mm" || name == "addmm" || name == "bmm" || name == "baddbmm") return product();
    if (name == "_grouped_mm") return grouped_product();
    if (name == "convolution" || name == "convolution_backward") return convolution();
    if (name.starts_with("scaled_dot_product_attention")) return attention();
    if (name == "embedding" || name == "embedding_dense_backward") return embedding();
    if (name.starts_with("nll_loss")) return loss();
    if (name.find("batch_norm") != std::string_view::npos) return batch_norm();
    if (name.starts_with("max_pool2d_with_indices") && is_image(in(0))) return max_pool();
    if (const auto kernel = kernel_by_row(name); !kernel.empty()) return rows(kernel);
    if (const auto kernel = kernel_by_element(name); !kernel.empty())
      return stream(kernel, in(0).type, in(0).elements());
    if (name == "_to_copy" || name == "clone" || name == "copy_") return copy();
    if (name == "cat") return cat();
    if (is_reduction(name)) return reduction();
    if (is_zeroing(name)) return zero();
    if (is_random(name)) return stream("random", written().type, written().elements());
    if (name == "slice_backward" || name == "select_backward" || name == "constant_pad_nd" ||
        name == "slice_scatter" || name == "select_scatter")
      return into_zeros();
    if (name == "sort" || name == "topk" || name == "argsort") return sorted();
    if (name == "index_put" || name == "index_put_" || name == "_index_put_impl_" || name == "index_add" ||
        name == "index_add_" || name == "scatter" || name == "scatter_add" || name == "scatter_" ||
        name == "scatter_add_")
      return scattered();
    elementwise();
  }

  const CapturedTensor& written() const {
    return of_.outputs.empty() ? of_.inputs.front() : of_.outputs.front();
  }

  void product() {
    const bool is_batched = of_.name == "bmm" || of_.name == "baddbmm";
    const auto first = of_.inputs.size() - 2;
    const auto& a = in(first);
    const auto& b = in(first + 1);
    const auto rank = a.shape.size();
    const double m = d(a.shape[rank - 2]);
    const double k = d(a.shape[rank - 1]);
    const double n = d(b.shape[rank - 1]);
    auto layout = ProductLayout::nn;
    if (b.layout == CapturedLayout::transposed) layout = ProductLayout::nt;
    if (a.layout == CapturedLayout::transposed) layout = ProductLayout::tn;
    const auto number = arithmetic(a.type);
    if (is_batched) {
      add(fmt::format("batched_product {} {}", number, name_of(layout)), {d(a.shape[0]) * more_, m, n, k});
      if (of_.name == "baddbmm") stream("add", a.type, d(a.shape[0]) * m * n);
    } else if (of_.of_parameters) {
      add(fmt::format("product {} {}", number, name_of(layout)), {m, n, k * more_});
    } else {
      add(fmt::format("product {} {}", number, name_of(layout)), {m * more_, n, k});
    }
  }

  /// Rows by groups, each with a weight of its own; or two factors by rows, to a gradient of each weight.
  void grouped_product() {
    const auto& a = in(0);
    const auto& b = in(1);
    const auto number = arithmetic(a.type);
    if (b.shape.size() == 3) {
      const auto layout = b.layout == CapturedLayout::contiguous ? ProductLayout::nn : ProductLayout::nt;
      add(fmt::format("grouped_product {} {}", number, name_of(layout)),
          {d(a.shape[0]) * more_, d(b.shape[2]), d(b.shape[1]), d(b.shape[0])});
    } else {
      add(fmt::format("grouped_product {} tn", number),
          {d(a.shape[0]), d(b.shape[1]), d(a.shape[1]) * more_, d(out(0).shape[0])});
      makes_gradient();
    }
  }

  static bool is_image(const CapturedTensor& tensor) { return tensor.shape.size() == 4; }

  void convolution() {
    const bool is_backward = of_.name == "convolution_backward";
    const auto& input = in(is_backward ? 1 : 0);
    const auto& weight = in(is_backward ? 2 : 1);
    const auto& result = is_backward ? in(0) : out(0);
    const auto number = arithmetic(input.type);
    const double samples = d(input.shape[0]) * more_;
    const double channels = d(input.shape[1]);
    const double outputs = d(result.shape[1]);
    const auto square = [](const CapturedTensor& tensor) {
      return tensor.shape.size() == 4 && tensor.shape[2] == tensor.shape[3];
    };
    const bool is_square = square(input) && square(weight) && !of_.is_transposed && of_.stride.size() == 2 &&
                           of_.stride[0] == of_.stride[1] && of_.padding[0] == of_.padding[1];
    const auto writes = [&](const CapturedTensor& like) {
      return std::ranges::any_of(of_.outputs, [&](const auto& tensor) { return tensor.shape == like.shape; });
    };
    if (is_square) {
      const bool is_nhwc =
          input.layout == CapturedLayout::channels_last || weight.layout == CapturedLayout::channels_last;
      const std::array<double, most_sizes> size{
          samples,          channels,          outputs,           d(weight.shape[2]),
          d(of_.stride[0]), d(of_.padding[0]), d(input.shape[2]), d(of_.groups)};
      const auto issue_as = [&](std::string_view kind) {
        add(fmt::format("{} {} {}", kind, number, is_nhwc ? "nhwc" : "nchw"), size);
      };
      if (!is_backward) issue_as("convolution");
      if (is_backward && writes(input)) issue_as("convolution_input");
      if (is_backward && writes(weight)) issue_as("convolution_weight");
    } else {
      // As the product that it is: a row for each element of a channel of the result.
      const double rows = result.elements() / outputs * more_;
      const double inner = weight.elements() / outputs;
      if (!is_backward) add(fmt::format("product {} nt", number), {rows, outputs, inner});
      if (is_backward && writes(input)) add(fmt::format("product {} nn", number), {rows, inner, outputs});
      if (is_backward && writes(weight)) add(fmt::format("product {} tn", number), {outputs, inner, rows});
    }
    if (is_backward && writes(weight)) makes_gradient();
    const bool has_bias = is_backward ? of_.outputs.back().shape.size() == 1 : of_.inputs.size() > 2;
    if (has_bias && is_backward) {
      add(fmt::format("rows bias_sum {}", number_of(result.type)),
          {result.elements() / outputs * more_, outputs});
      makes_gradient();
    } else if (has_bias) {
      stream("add_", result.type, result.elements());
    }
  }

  /// Flash attention takes no mask.
  void attention() {
    const bool is_backward = of_.name.ends_with("_backward");
    const auto first = is_backward ? std::size_t{1} : std::size_t{0};
    const auto& query = in(first);
    const auto& key = in(first + 1);
    const auto& value = in(first + 2);
    const bool has_mask = of_.inputs.size() > (is_backward ? 6U : 3U);
    const auto number = arithmetic(query.type);
    const AttentionHead head{query.shape[3], value.shape[3], false};
    auto how = automatic_attention(
        {is_half(query.type) ? Precision::bf16 : Precision::fp32, compute_capability_, head});
    if (how == AttentionKernel::math || (has_mask && how == AttentionKernel::flash))
      how = AttentionKernel::efficient;
    const double batch = d(query.shape[0]) * more_;
    const double heads = d(query.shape[1]);
    const double of_keys = d(key.shape[1]);
    const double tokens = std::sqrt(d(query.shape[2]) * d(key.shape[2]));
    add(fmt::format("attention_{} {} {} {}", is_backward ? "backward" : "forward", number, name_of(how),
                    of_.is_causal ? "causal" : "full"),
        {batch, heads, tokens, d(query.shape[3]), of_keys < heads ? of_keys : 0,
         value.shape[3] != query.shape[3] ? d(value.shape[3]) : 0});
    if (is_backward && how == AttentionKernel::flash && of_keys < heads)
      for (int i = 0; i < 2; ++i) stream("sum", query.type, query.elements());
  }

  void embedding() {
    const bool is_backward = of_.name.ends_with("_backward");
    const auto& table = is_backward ? out(0) : in(0);
    const double width = d(table.shape.back());
    const auto rows = (is_backward ? in(0) : out(0)).elements() / width;
    add(is_backward ? "embedding_backward" : "embedding", {rows * more_, d(table.shape.front()), width});
    if (is_backward) makes_gradient();
  }

  void loss() {
    const bool is_backward = of_.name.find("backward") != std::string::npos;
    const auto& scores = in(is_backward ? 1 : 0);
    const double width = d(scores.shape.size() > 1 ? scores.shape[1] : 1);
    add(fmt::format("rows {} {}", is_backward ? "nll_loss_backward" : "nll_loss", number_of(scores.type)),
        {scores.elements() / width * more_, width});
  }

  void batch_norm() {
    const bool is_backward = of_.name.find("backward") != std::string::npos;
    const auto& input = in(0);
    if (input.shape.size() < 2) return;
    const bool is_nhwc = std::ranges::any_of(
        of_.inputs, [](const auto& tensor) { return tensor.layout == CapturedLayout::channels_last; });
    add(fmt::format("batch_norm{} {} {}", is_backward ? "_backward" : "", number_of(input.type),
                    is_nhwc ? "nhwc" : "nchw"),
        {d(input.shape[0]) * more_, d(input.shape[1]), side_of(input)});
  }

  void max_pool() {
    const bool is_backward = of_.name.ends_with("_backward");
    const auto& input = in(is_backward ? 1 : 0);
    add(fmt::format("max_pool{} {} {}", is_backward ? "_backward" : "", number_of(input.type),
                    input.layout == CapturedLayout::channels_last ? "nhwc" : "nchw"),
        {d(input.shape[0]) * more_, d(input.shape[1]), side_of(input)});
  }

  void rows(std::string_view kernel) {
    const auto& input = in(0);
    const double width = input.shape.empty() ? 1 : d(input.shape.back());
    add(fmt::format("rows {} {}", kernel, number_of(input.type)), {input.elements() / width * more_, width});
    if (of_.name != "_safe_softmax") return;
    // Rows that are masked as a whole become zeros.
    moves(input.bytes() + input.elements());
    moves(input.elements());
    gathers(2 * input.bytes());
  }

  void copy() {
    const auto& from = of_.inputs.back();
    const auto& to = written();
    const auto elements = to.elements();
    if (from.type != to.type && !is_plain()) return gathers(from.bytes() + to.bytes());
    if (from.type == CapturedType::fp32 && is_half(to.type)) return stream("cast_to_16", from.type, elements);
    if (is_half(from.type) && to.type == CapturedType::fp32) return stream("cast_to_32", from.type, elements);
    if (from.type != to.type) return moves(elements * (bytes_of(from.type) + bytes_of(to.type)));
    stream(is_plain() ? "copy" : "permute", from.type, elements);
  }

  void cat() {
    const auto& to = out(0);
    const bool has_parts = std::ranges::any_of(
        of_.inputs, [](const auto& tensor) { return tensor.layout != CapturedLayout::contiguous; });
    if (has_parts) return gathers(2 * to.bytes());
    const double width = to.shape.empty() ? 1 : d(to.shape.back());
    add(fmt::format("rows cat {}", number_of(to.type)), {to.elements() / width * more_, width});
  }

  void reduction() {
    const auto& from = in(0);
    if (of_.name == "sum" && of_.of_parameters && from.shape.size() > 1) {
      const double width = d(from.shape.back());
      add(fmt::format("rows bias_sum {}", number_of(from.type)), {from.elements() / width * more_, width});
    } else {
      stream("sum", from.type, from.elements());
    }
  }

  void zero() { stream("zero", written().type, written().elements()); }

  /// Zeros, then a copy of what is there.
  void into_zeros() {
    zero();
    stream("copy", in(0).type, in(0).elements());
  }

  /// A radix sort passes several times over keys and indices.
  void sorted() {
    constexpr int passes = 4;
    for (int i = 0; i < passes; ++i) moves(2 * (bytes_read() + bytes_written()) / passes);
  }

  /// A copy of what is scattered into, then what is scattered.
  void scattered() {
    const bool is_in_place = of_.name.ends_with('_');
    if (!is_in_place) stream("copy", in(0).type, in(0).elements());
    moves(2 * (bytes_read() - in(0).bytes()));
  }

  void elementwise() {
    const std::string_view name = of_.name;
    const bool is_in_place = name.ends_with('_');
    const auto& to = written();
    const auto operands = std::ranges::count_if(
        of_.inputs, [&](const auto& tensor) { return tensor.elements() == to.elements(); });
    const bool same_type = std::ranges::all_of(of_.inputs, [&](const auto& tensor) {
      return tensor.type == to.type || tensor.elements() < to.elements();
    });
    const bool has_numbers = is_half(to.type) || to.type == CapturedType::fp32;
    const auto moved = bytes_read() + (of_.outputs.empty() && is_in_place ? in(0).bytes() : bytes_written());
    result_.is_known = is_plain_operation(name) || name.ends_with("_backward");
    if (!is_plain() && to.elements() > 1) return gathers(moved);
    result_.is_known = true;
    const bool is_sum = name == "add" || name == "add_" || name == "sub";
    if (same_type && has_numbers && operands == 2 && is_sum)
      return stream(name == "add_" ? "add_" : "add", to.type, to.elements());
    if (!same_type && operands == 2 && is_sum && to.type == CapturedType::fp32)
      return stream("add_mixed", CapturedType::bf16, to.elements());
    if (same_type && has_numbers && operands == 2 && name == "mul")
      return stream("mul", to.type, to.elements());
    if (same_type && has_numbers && operands == 1 && (name == "mul" || name == "div"))
      return stream("scale", to.type, to.elements());
    result_.is_known = is_plain_operation(name) || name.ends_with("_backward");
    moves(moved);
  }

  const CapturedOperation& of_;
  double more_;
  int compute_capability_;
  CapturedKernels result_{};
};

}  // namespace

double bytes_of(CapturedType type) {
  switch (type) {
    case CapturedType::fp64:
    case CapturedType::int64:
      return 8;
    case CapturedType::fp32:
    case CapturedType::int32:
      return 4;
    case CapturedType::bf16:
    case CapturedType::fp16:
    case CapturedType::int16:
      return 2;
    case CapturedType::int8:
    case CapturedType::boolean:
    case CapturedType::fp8:
      return 1;
  }
  return 4;
}

double CapturedTensor::elements() const {
  double product = 1;
  for (const auto side : shape) product *= static_cast<double>(side);
  return product;
}

CapturedKernels kernels_of(const CapturedOperation& captured, double batch, int compute_capability) {
  return Kernels{captured, batch, compute_capability}.take();
}

}  // namespace gradway
