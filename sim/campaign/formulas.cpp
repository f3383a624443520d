// SPDX-License-Identifier: Apache-2.0
#include "sim/campaign/formulas.hpp"

#include <cmath>
#include <numbers>

namespace gradway {

Seconds young_interval(const Interruptions& interruptions) {
  return Seconds{std::sqrt(2 * interruptions.pause.value() * interruptions.mttf.value())};
}

Seconds daly_interval(const Interruptions& interruptions) {
  const auto share = interruptions.pause / interruptions.mttf;
  if (share >= 2) return interruptions.mttf;
  return young_interval(interruptions) * (1 + std::sqrt(share / 2) / 3 + share / 18) - interruptions.pause;
}

double efficiency(const Interruptions& interruptions, Seconds interval) {
  const auto of_restart = std::exp(interruptions.restart / interruptions.mttf);
  return interval / interruptions.mttf /
         (of_restart * std::expm1((interval + interruptions.pause) / interruptions.mttf));
}

double expected_ettr(const Interruptions& interruptions, Seconds interval) {
  return (1 - (interruptions.restart + interval / 2) / interruptions.mttf) /
         (1 + interruptions.pause / interval);
}

double samples_to_target(double batch, double critical_batch) {
  return 1 + batch / critical_batch;
}

double expected_maximum(double count) {
  if (count <= 1) return 0;
  const auto below = [](double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); };
  const auto integrand = [&](double x) {
    const auto power = std::pow(below(x), count);
    return x >= 0 ? 1 - power : -power;
  };
  constexpr int pieces = 2000;
  constexpr double from = -10, width = 20.0 / pieces;
  double sum = 0;
  for (int i = 0; i < pieces; ++i) {  // the integrand jumps at zero, between two pieces
    const auto start = from + i * width;
    const auto edge = width * 1e-9;
    sum += integrand(start + edge) + 4 * integrand(start + width / 2) + integrand(start + width - edge);
  }
  return sum * width / 6;
}

}  // namespace gradway
