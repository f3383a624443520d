// SPDX-License-Identifier: Apache-2.0
#include "readers/fit/fit.hpp"

#include "readers/fit/collective_tables.hpp"
#include "readers/fit/contention.hpp"
#include "readers/fit/kernels.hpp"
#include "readers/fit/links.hpp"
#include "readers/fit/predictions.hpp"
#include "sim/base/problem.hpp"

namespace gradway {
namespace {

Calibration fit_parts(const Samples& samples, const NodeFacts& node) {
  Calibration calibration;
  calibration.tables = fit_collectives(samples.collectives);
  calibration.links = fit_links(samples);
  for (auto& table : predict_shm(calibration.links, calibration.tables))
    calibration.tables.push_back(std::move(table));
  calibration.kernels = fit_kernels(samples, node);
  calibration.contention = fit_contention(samples.contention, node);
  return calibration;
}

bool is_empty(const Calibration& calibration) {
  return calibration.tables.empty() && calibration.links.empty() && calibration.contention.empty() &&
         calibration.kernels.empty() && !calibration.kernel_times;
}

std::vector<HoldoutError> held_back_errors(const Samples& samples, const NodeFacts& node) {
  const auto [kept, held] = hold_back(samples);
  std::vector<HoldoutError> errors;
  for (const auto& group : errors_by_group(predict_samples(fit_parts(kept, node), held, node)))
    errors.push_back({std::string{name_of(group.group)}, group.rows, group.error});
  return errors;
}

}  // namespace

Calibration fit(const Samples& samples, const CalibrationTitle& title, const NodeFacts& node) {
  auto calibration = fit_parts(samples, node);
  calibration.kernel_times = fit_kernel_times(samples, node, title.source);
  if (is_empty(calibration)) {
    refuse("the samples contain no row to which a calibration can be fitted",
           "measure collectives first: a prediction needs rows of all_reduce");
  }
  calibration.source = title.source;
  calibration.date = title.date;
  calibration.samples = samples.origin;
  calibration.holdout_errors = held_back_errors(samples, node);
  return calibration;
}

}  // namespace gradway
