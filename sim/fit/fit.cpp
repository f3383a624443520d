// SPDX-License-Identifier: Apache-2.0
#include "sim/fit/fit.hpp"

#include "sim/base/problem.hpp"
#include "sim/fit/collective_tables.hpp"
#include "sim/fit/kernels.hpp"
#include "sim/fit/links.hpp"
#include "sim/fit/predict_shm.hpp"

namespace gradway {

Calibration fit(const Samples& samples, const CalibrationTitle& title, const NodeFacts& node) {
  Calibration calibration;
  calibration.source = title.source;
  calibration.date = title.date;
  calibration.tables = fit_collectives(samples.collectives);
  calibration.links = fit_links(samples);
  for (auto& table : predict_shm(calibration.links, calibration.tables))
    calibration.tables.push_back(std::move(table));
  calibration.kernels = fit_kernels(samples);
  calibration.side_by_side = fit_contention(samples.contention, node);
  calibration.samples = samples.origin;
  const auto& kernels = calibration.kernels;
  const bool has_kernels = !kernels.matrix.empty() || kernels.stream || kernels.widen ||
                           kernels.smallest_kernel || kernels.launch_cost;
  if (calibration.tables.empty() && calibration.links.empty() && calibration.side_by_side.empty() &&
      !has_kernels) {
    throw ConfigError{Problem{{},
                              "the samples hold nothing that a calibration could be made of",
                              {},
                              "collectives of all_reduce are what a prediction needs first"}};
  }
  return calibration;
}

}  // namespace gradway
