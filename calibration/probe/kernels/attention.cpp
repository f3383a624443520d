// SPDX-License-Identifier: Apache-2.0
#include "calibration/probe/kernels/families.hpp"

#ifdef GRADWAY_HAS_CUDNN
#include <cudnn_version.h>
#endif

// The operation exists since cuDNN 9.13; NVIDIA's own front end uses it from 9.13.1 on.
#if defined(GRADWAY_HAS_CUDNN) && CUDNN_VERSION >= 91301

#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "calibration/probe/kernels/cudnn.hpp"
#include "calibration/probe/kernels/elements.hpp"
#include "calibration/probe/measure.hpp"

namespace gradway::probe {
namespace {

constexpr std::size_t oldest_version = 91301;

struct Precision {
  const char* name;
  Element element;
  cudnnDataType_t type;
  double tolerance;  ///< Of one number of the output, which is about 0.2.
};
constexpr std::array precisions{Precision{"bf16", Element::bf16, CUDNN_DATA_BFLOAT16, 2e-2},
                                Precision{"fp16", Element::fp16, CUDNN_DATA_HALF, 4e-3}};

struct AttentionShape {
  std::int64_t batch = 8;
  std::int64_t heads = 16;
  std::int64_t seq = 0;
  std::int64_t head_dim = 64;

  std::size_t numbers() const { return static_cast<std::size_t>(batch * heads * seq * head_dim); }
};
constexpr std::int64_t checked_seq = 50;

enum Id : std::int64_t { queries = 1, keys, results_of_keys, output, scale };

/// Batch, heads, sequence, head: contiguous in this order, as in PyTorch's scaled_dot_product_attention.
CudnnDescriptor tensor(const Cudnn& cudnn, Id id, const AttentionShape& shape, const Precision& precision) {
  const auto [batch, heads, seq, head_dim] = shape;
  CudnnDescriptor tensor{cudnn, CUDNN_BACKEND_TENSOR_DESCRIPTOR};
  tensor.set(CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, std::int64_t{id});
  tensor.set(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, precision.type);
  tensor.set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, std::int64_t{16});
  tensor.set(CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, std::vector{batch, heads, seq, head_dim});
  tensor.set(CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64,
             std::vector{heads * seq * head_dim, seq * head_dim, head_dim, std::int64_t{1}});
  return tensor.finalize("describing a tensor");
}

/// One fp32 number in host memory.
CudnnDescriptor number(const Cudnn& cudnn, Id id) {
  CudnnDescriptor tensor{cudnn, CUDNN_BACKEND_TENSOR_DESCRIPTOR};
  tensor.set(CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, std::int64_t{id});
  tensor.set(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT);
  tensor.set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, std::int64_t{16});
  tensor.set(CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, std::vector<std::int64_t>(4, 1));
  tensor.set(CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, std::vector<std::int64_t>(4, 1));
  tensor.set(CUDNN_ATTR_TENSOR_IS_BY_VALUE, CUDNN_TYPE_BOOLEAN, true);
  return tensor.finalize("describing a number");
}

/// softmax(q k^T / sqrt(head_dim)) v for each batch and head, without a mask and without what a backward pass
/// needs.
class Attention {
 public:
  /// @throws Refusal if cuDNN has no kernel for it
  Attention(const Cudnn& cudnn, const AttentionShape& shape, const Precision& precision)
      : shape_{shape},
        precision_{precision},
        scale_{1 / std::sqrt(static_cast<float>(shape.head_dim))},
        operation_{operation(cudnn, shape, precision)},
        plan_{cudnn, operation_} {
    const auto bytes = shape.numbers() * size_of(precision.element);
    std::uint32_t seed = 6;
    for (auto& buffer : buffers_) {
      buffer = DeviceBuffer{bytes};
      fill_normal(buffer, precision.element, shape.numbers(), seed++);
    }
    plan_.bind({queries, keys, results_of_keys, output, Id::scale},
               {buffers_[0].get(), buffers_[1].get(), buffers_[2].get(), buffers_[3].get(), &scale_});
  }
  Attention(const Attention&) = delete;
  Attention& operator=(const Attention&) = delete;

  void issue(const Stream& stream) const { plan_.issue(stream); }
  /// Compares one row of the output with a computation in fp64.
  /// @throws Failure if it differs
  void verify() const;

 private:
  static CudnnDescriptor operation(const Cudnn& cudnn, const AttentionShape& shape,
                                   const Precision& precision) {
    CudnnDescriptor operation{cudnn, CUDNN_BACKEND_OPERATION_SDPA_FWD_DESCRIPTOR};
    operation.set(CUDNN_ATTR_OPERATION_SDPA_FWD_QDESC, tensor(cudnn, queries, shape, precision));
    operation.set(CUDNN_ATTR_OPERATION_SDPA_FWD_KDESC, tensor(cudnn, keys, shape, precision));
    operation.set(CUDNN_ATTR_OPERATION_SDPA_FWD_VDESC, tensor(cudnn, results_of_keys, shape, precision));
    operation.set(CUDNN_ATTR_OPERATION_SDPA_FWD_ODESC, tensor(cudnn, output, shape, precision));
    operation.set(CUDNN_ATTR_OPERATION_SDPA_FWD_SCALEDESC, number(cudnn, Id::scale));
    return operation.finalize("describing an attention");
  }

  AttentionShape shape_;
  Precision precision_;
  float scale_;
  CudnnDescriptor operation_;
  CudnnPlan plan_;
  std::array<DeviceBuffer, 4> buffers_;
};

void Attention::verify() const {
  const Stream stream;
  check(cudaMemset(buffers_[3].get(), 0xff, shape_.numbers() * size_of(precision_.element)),
        "spoiling an output");  // NaN
  check(cudaDeviceSynchronize(), "spoiling an output");
  issue(stream);
  stream.wait();
  const auto seq = static_cast<std::size_t>(shape_.seq);
  const auto dim = static_cast<std::size_t>(shape_.head_dim);
  // The last but one.
  const auto head = static_cast<std::size_t>(shape_.batch * shape_.heads - 2) * seq * dim;
  const auto row = seq - 3;
  const auto q = values(buffers_[0], precision_.element, head + row * dim, dim);
  const auto k = values(buffers_[1], precision_.element, head, seq * dim);
  const auto v = values(buffers_[2], precision_.element, head, seq * dim);
  const auto found = values(buffers_[3], precision_.element, head + row * dim, dim);
  std::vector<double> expected(dim);
  double sum = 0;
  for (std::size_t j = 0; j < seq; ++j) {
    double score = 0;
    for (std::size_t d = 0; d < dim; ++d) score += double{q[d]} * k[j * dim + d];
    const auto weight = std::exp(score * scale_);
    sum += weight;
    for (std::size_t d = 0; d < dim; ++d) expected[d] += weight * v[j * dim + d];
  }
  for (std::size_t d = 0; d < dim; ++d) {
    if (!(std::abs(found[d] - expected[d] / sum) <= precision_.tolerance)) {
      throw Failure{std::string{precision_.name} + ": number " + std::to_string(d) + " of an output is " +
                    std::to_string(found[d]) + ", not " + std::to_string(expected[d] / sum)};
    }
  }
}

void probe(Context& context, const Cudnn& cudnn, const AttentionShape& shape, const Precision& precision) {
  const Attention attention{cudnn, shape, precision};
  if (shape.seq == checked_seq) attention.verify();
  constexpr int kernels = 2;  // At most, per call.
  const auto summary = measure(
      context.rule, [&](const Stream& stream) { attention.issue(stream); }, kernels);
  context.emit(measured({{"kind", "attention"},
                         {"dtype", precision.name},
                         {"batch", shape.batch},
                         {"heads", shape.heads},
                         {"seq", shape.seq},
                         {"head_dim", shape.head_dim},
                         {"causal", false},
                         {"by", "cudnn"}},
                        summary));
}

}  // namespace

void probe_attention(Context& context) {
  const std::vector<std::int64_t> sequences = context.quick
                                                  ? std::vector<std::int64_t>{checked_seq, 1024}
                                                  : std::vector<std::int64_t>{checked_seq, 197, 1024, 4096};
  double done = 0;
  try {
    const Cudnn cudnn{oldest_version};
    for (const auto& precision : precisions) {
      for (const auto seq : sequences) {
        try {
          probe(context, cudnn, {.seq = seq}, precision);
        } catch (const Refusal& refusal) {
          context.remark(std::string{"attention in "} + precision.name + ", " + std::to_string(seq) +
                         " tokens: " + refusal.what());
        }
        context.done(++done / static_cast<double>(precisions.size() * sequences.size()));
      }
    }
  } catch (const Refusal& refusal) {
    context.remark(std::string{"attention is left out: "} + refusal.what());
  }
}

}  // namespace gradway::probe

#else

namespace gradway::probe {

void probe_attention(Context& context) {
  context.remark("attention is left out: gradway-probe was built without cuDNN 9.13.1 or later");
}

}  // namespace gradway::probe

#endif
