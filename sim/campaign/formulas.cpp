// SPDX-License-Identifier: Apache-2.0
#include "sim/campaign/formulas.hpp"

#include <cmath>
#include <numbers>

namespace gradway {

Seconds young_interval(const Interruptions& what) {
  return Seconds{std::sqrt(2 * what.pause.value() * what.mttf.value())};
}

Seconds daly_interval(const Interruptions& what) {
  const auto share = what.pause / what.mttf;
  if (share >= 2) return what.mttf;
  return young_interval(what) * (1 + std::sqrt(share / 2) / 3 + share / 18) - what.pause;
}

double efficiency(const Interruptions& what, Seconds interval) {
  const auto of_restart = std::exp(what.restart / what.mttf);
  return interval / what.mttf / (of_restart * std::expm1((interval + what.pause) / what.mttf));
}

double expected_ettr(const Interruptions& what, Seconds interval) {
  return (1 - (what.restart + interval / 2) / what.mttf) / (1 + what.pause / interval);
}

double samples_to_target(double batch, double critical_batch) {
  return 1 + batch / critical_batch;
}

double expected_maximum(double count) {
  if (count <= 1) return 0;
  const auto below = [](double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); };
  const auto part = [&](double x) {
    const auto all = std::pow(below(x), count);
    return x >= 0 ? 1 - all : -all;
  };
  constexpr int pieces = 2000;
  constexpr double from = -10, width = 20.0 / pieces;
  double sum = 0;
  for (int i = 0; i < pieces; ++i) {  // the integrand jumps at zero, between two pieces
    const auto left = from + i * width;
    const auto edge = width * 1e-9;
    sum += part(left + edge) + 4 * part(left + width / 2) + part(left + width - edge);
  }
  return sum * width / 6;
}

}  // namespace gradway
