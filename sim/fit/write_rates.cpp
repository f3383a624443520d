// SPDX-License-Identifier: Apache-2.0
#include "sim/fit/write_calibration.hpp"

#include <ostream>

#include <fmt/format.h>
#include <fmt/ostream.h>

#include "sim/cost/calibration_words.hpp"
#include "sim/cost/size_text.hpp"
#include "sim/fit/yaml_text.hpp"

namespace gradway {
namespace {

namespace words = calibration_words;

/// Such as ", samples: 6, median_residual: 0.5 %, worst_residual: 2.1 %", as far as known.
std::string fitted_text(const Fitted& fitted) {
  std::string text;
  if (fitted.samples > 0) text += fmt::format(", samples: {}", fitted.samples);
  if (fitted.residual) {
    text += fmt::format(", median_residual: {}, worst_residual: {}", percent_text(fitted.residual->median),
                        percent_text(fitted.residual->worst));
  }
  return text;
}

std::string of_peak_text(std::optional<double> of_peak) {
  return of_peak ? fmt::format(", of_peak: {}", percent_text(*of_peak)) : "";
}

std::string latency_text(std::string_view key, Seconds latency) {
  return latency > Seconds{} ? fmt::format(", {}: {}", key, time_text(latency)) : "";
}

void write(std::ostream& out, const MatrixRate& rate) {
  fmt::print(out, "precision: {}, size: {}, rate: {}{}{}", word_of(words::arithmetics, rate.arithmetic),
             word_of(words::product_shapes, rate.shape), compute_text(rate.rate), of_peak_text(rate.of_peak),
             fitted_text(rate.fitted));
}

void write(std::ostream& out, const MemoryRate& rate) {
  fmt::print(out, "kernel: {}{}, bandwidth: {}{}{}", word_of(words::memory_kernels, rate.kernel),
             latency_text("latency", rate.latency), rate_text(rate.bandwidth), of_peak_text(rate.of_peak),
             fitted_text(rate.fitted));
}

void write(std::ostream& out, const OptimizerRate& rate) {
  fmt::print(out, "optimizer: {}, tensors: {}{}, bandwidth: {}{}", word_of(words::optimizers, rate.optimizer),
             rate.tensors, latency_text("floor", rate.floor), rate_text(rate.bandwidth),
             fitted_text(rate.fitted));
}

void write(std::ostream& out, const AttentionRate& rate) {
  fmt::print(out, "precision: {}, causal: {}{}, rate: {}{}{}", word_of(words::arithmetics, rate.arithmetic),
             rate.causal, latency_text("latency", rate.latency), compute_text(rate.rate),
             of_peak_text(rate.of_peak), fitted_text(rate.fitted));
}

void write(std::ostream& out, const LaunchTime& cost) {
  fmt::print(out, "what: {}, time: {}{}", word_of(words::launch_costs, cost.what), time_text(cost.time),
             fitted_text(cost.fitted));
}

template <class Rate>
void write_rates(std::ostream& out, std::string_view key, const std::vector<Rate>& rates) {
  if (rates.empty()) return;
  fmt::print(out, "  {}:\n", key);
  for (const auto& rate : rates) {
    out << "    - { ";
    write(out, rate);
    out << " }\n";
  }
}

}  // namespace

void write_link(std::ostream& out, const LinkRate& link) {
  fmt::print(out, "  - link: {}\n    gpus: {}\n    bandwidth: {}\n", word_of(words::links, link.role),
             link.gpus, rate_text(link.bandwidth));
  if (link.least && link.most) {
    fmt::print(out, "    least_bandwidth: {}\n    most_bandwidth: {}\n", rate_text(*link.least),
               rate_text(*link.most));
  }
  if (link.latency > Seconds{}) fmt::print(out, "    latency: {}\n", time_text(link.latency));
  fmt::print(out, "    smallest: {}\n    largest: {}\n", size_text(link.smallest), size_text(link.largest));
  if (link.fitted.samples > 0) fmt::print(out, "    samples: {}\n", link.fitted.samples);
  if (const auto& residual = link.fitted.residual) {
    fmt::print(out, "    median_residual: {}\n    worst_residual: {}\n", percent_text(residual->median),
               percent_text(residual->worst));
  }
  fmt::print(out, "    source: {}\n", quoted_text(link.source));
}

void write_kernels(std::ostream& out, const KernelRates& kernels) {
  if (kernels.empty()) return;
  out << "kernels:\n";
  write_rates(out, "matrix", kernels.matrix);
  write_rates(out, "memory", kernels.memory);
  write_rates(out, "optimizers", kernels.optimizers);
  write_rates(out, "attention", kernels.attention);
  write_rates(out, "launches", kernels.launches);
  if (kernels.smallest_kernel)
    fmt::print(out, "  smallest_kernel: {}\n", time_text(*kernels.smallest_kernel));
}

}  // namespace gradway
