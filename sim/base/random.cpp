// SPDX-License-Identifier: Apache-2.0
#include "sim/base/random.hpp"

#include <cmath>
#include <numbers>

namespace gradway {
namespace {

constexpr std::uint64_t golden = 0x9e3779b97f4a7c15;

std::uint64_t mixed(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

}  // namespace

Random::Random(std::uint64_t seed, RandomStream stream)
    : state_{mixed(mixed(seed + golden) + golden * (static_cast<std::uint64_t>(stream) + 1))} {}

std::uint64_t Random::next() {
  state_ += golden;
  return mixed(state_);
}

double Random::uniform() {
  constexpr double of_53_bits = 1.0 / 9007199254740992.0;
  return (static_cast<double>(next() >> 11) + 0.5) * of_53_bits;
}

double Random::exponential(double mean) {
  return -mean * std::log(uniform());
}

double Random::normal() {
  const auto radius = std::sqrt(-2 * std::log(uniform()));
  return radius * std::cos(2 * std::numbers::pi * uniform());
}

double Random::log_normal(double mean, double mean_over_median) {
  if (mean_over_median <= 1) return exponential(mean);
  const auto sigma = std::sqrt(2 * std::log(mean_over_median));
  return mean / mean_over_median * std::exp(sigma * normal());
}

double Random::gamma(double deviation) {
  const double shape = 1 / (deviation * deviation);
  // For a shape below 1, a variate of shape + 1 is drawn and scaled by a power of a uniform number.
  const double scale = shape < 1 ? std::pow(uniform(), 1 / shape) : 1;
  const double d = (shape < 1 ? shape + 1 : shape) - 1.0 / 3;
  const double c = 1 / std::sqrt(9 * d);
  for (;;) {
    const auto x = normal();
    const auto root = 1 + c * x;
    if (root <= 0) continue;
    const auto v = root * root * root;
    if (std::log(uniform()) < 0.5 * x * x + d - d * v + d * std::log(v)) return scale * d * v / shape;
  }
}

}  // namespace gradway
