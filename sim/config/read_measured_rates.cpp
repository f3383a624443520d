// SPDX-License-Identifier: Apache-2.0
#include "sim/config/quantities.hpp"
#include "sim/config/read.hpp"
#include "sim/config/read_measurements.hpp"

namespace gradway::config {
namespace {

namespace words = calibration_words;

constexpr Choice<LinkRole> link_roles[] = {{words::links[0], LinkRole::to_gpu},
                                           {words::links[1], LinkRole::from_gpu},
                                           {words::links[2], LinkRole::pageable_to_gpu},
                                           {words::links[3], LinkRole::peer},
                                           {words::links[4], LinkRole::host_memory}};
constexpr Choice<bool> matrix_sizes[] = {{words::matrix_sizes[0], false}, {words::matrix_sizes[1], true}};

LinkRate read_link(Reader link) {
  LinkRate result{.role = link.required("link", one_of("a link", link_roles)),
                  .gpus = link.required("gpus", integer(1, 1 << 20)),
                  .bandwidth = link.required("bandwidth", bandwidth),
                  .latency = link.optional("latency", duration_or_zero, Seconds{}),
                  .smallest = link.required("smallest", bytes),
                  .largest = link.required("largest", bytes),
                  .source = link.required("source", text)};
  link.finish();
  return result;
}

MatrixRate read_matrix(Reader matrix) {
  MatrixRate result{.precision = matrix.required("precision", precision),
                    .large = matrix.required("size", one_of("a size of products", matrix_sizes)),
                    .rate = matrix.required("rate", compute_rate)};
  matrix.finish();
  return result;
}

}  // namespace

std::vector<LinkRate> read_links(Reader& file) {
  std::vector<LinkRate> links;
  for (auto& link : file.maps("links")) links.push_back(read_link(link));
  return links;
}

KernelRates read_kernels(Reader& file) {
  KernelRates rates;
  auto kernels = file.maybe_map("kernels");
  if (!kernels) return rates;
  for (auto& matrix : kernels->maps("matrix")) rates.matrix.push_back(read_matrix(matrix));
  rates.stream = kernels->maybe("memory_stream", bandwidth);
  rates.widen = kernels->maybe("memory_widen", bandwidth);
  rates.smallest_kernel = kernels->maybe("smallest_kernel", duration);
  rates.launch_cost = kernels->maybe("launch_cost", duration);
  kernels->finish();
  return rates;
}

std::optional<SampleOrigin> read_sample_origin(Reader& file) {
  auto samples = file.maybe_map("samples");
  if (!samples) return std::nullopt;
  SampleOrigin origin{samples->required("digest", text), samples->list("files", text)};
  samples->finish();
  return origin;
}

}  // namespace gradway::config
