// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>

#include "sim/cost/framework_cost.hpp"
#include "sim/plan/ddp/comm_hooks.hpp"

namespace gradway {
namespace {

/// The matrices and other tensors of a bucket.
struct Split {
  int matrices = 0;      ///< tensors that are compressed
  int uncompressed = 0;  ///< tensors that are reduced without compression
  double elements = 0;   ///< of the matrices
  double other_elements = 0;
  double rows = 0;     ///< sum of n: elements of all P for rank 1
  double columns = 0;  ///< sum of m: elements of all Q for rank 1
};

Split split(const ReadyBucket& ready, int rank) {
  Split shares;
  for (const auto& gradient : ready.bucket.gradients) {
    const auto& parameter = ready.model.layers[static_cast<std::size_t>(gradient.layer)]
                                .parameters[static_cast<std::size_t>(gradient.parameter)];
    const auto elements = static_cast<double>(parameter.elements());
    const auto n = static_cast<double>(parameter.shape.front());
    const auto m = elements / n;
    if (powersgd_compresses(parameter, rank)) {
      ++shares.matrices;
      shares.elements += elements;
      shares.rows += n;
      shares.columns += m;
    } else {
      ++shares.uncompressed;
      shares.other_elements += elements;
    }
  }
  return shares;
}

/// Gram-Schmidt for `tensors` matrices of `rank` columns: a norm and a division per column, and for all but
/// the last column an update of the rest in four kernels. All kernels are tiny.
int orthogonalisation_kernels(int tensors, int rank) {
  return tensors * (2 * rank + 4 * (rank - 1));
}

}  // namespace

bool powersgd_compresses(const Parameter& parameter, int rank) {
  if (parameter.shape.size() < 2) return false;
  const auto n = static_cast<double>(parameter.shape.front());
  const auto m = static_cast<double>(parameter.elements()) / n;
  return (n + m) * rank * 2 < n * m;
}

TaskId reduce_with_powersgd(TaskList& tasks, const ReadyBucket& ready, int rank) {
  const auto shares = split(ready, rank);
  const auto phase = Phase::communication;
  const auto name = [&](const char* operation) {
    return fmt::format("bucket {} powersgd {}", ready.index, operation);
  };
  const auto moves = [&](double bytes_an_element, double elements, int kernels) {
    return tasks.memory(Bytes{bytes_an_element * elements}, kernels);
  };
  const auto bucket_elements = ready.bucket.size.value() / 4;
  const auto columns = orthogonalisation_kernels(shares.matrices, rank);
  const auto orthogonalisation = tasks.tiny(columns, column_kernel);
  const auto product = [&](BytesPerSecond most, int kernels) {
    return std::max(moves(4, shares.elements, kernels), Bytes{4 * shares.elements} / most);
  };

  tasks.kernel(name("add error"), phase, moves(12, bucket_elements, 1), 1);
  tasks.kernel(name("clone"), phase, moves(8, bucket_elements, 1), 1);
  tasks.kernel(name("gather uncompressed"), phase, moves(8, shares.other_elements, 2), 2);
  tasks.kernel(name("orthogonalise Q"), phase, orthogonalisation, columns);
  auto last =
      tasks.kernel(name("P = M Q"), phase, product(powersgd_rates.p, shares.matrices), shares.matrices);
  last =
      all_reduce(tasks, name("all-reduce uncompressed"), Bytes{4 * shares.other_elements}, ready.index, last);
  last =
      tasks.kernel_after(last, name("scatter uncompressed"), phase,
                         moves(8, shares.other_elements, shares.uncompressed + 1), shares.uncompressed + 1);
  last = all_reduce(tasks, name("all-reduce P"), Bytes{4 * shares.rows * rank}, ready.index, last);
  last = tasks.kernel_after(last, name("orthogonalise P"), phase, orthogonalisation, columns);
  last = tasks.kernel_after(last, name("Q = M^T P"), phase, product(powersgd_rates.q, shares.matrices),
                            shares.matrices);
  last = all_reduce(tasks, name("all-reduce Q"), Bytes{4 * shares.columns * rank}, ready.index, last);
  last = tasks.kernel_after(last, name("M = P Q^T"), phase,
                            product(powersgd_rates.outer, shares.matrices + 1), shares.matrices + 1);
  Task sync;
  sync.name = name("synchronise");
  sync.work = Wait{};
  sync.phase = phase;
  sync.stream = side_stream;
  sync.host_waits = true;
  sync.after = {last};
  last = tasks.add(std::move(sync));
  last = tasks.kernel_after(last, name("new error"), phase, moves(12, bucket_elements, 1), 1);
  tasks[last].launch += tasks.cpu(ddp_cpu.powersgd);
  return last;
}

}  // namespace gradway
