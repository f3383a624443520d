// SPDX-License-Identifier: Apache-2.0
#include "sim/cost/plausible.hpp"

#include <fmt/format.h>

namespace gradway {

bool is_plausible(const SizedTime& measured) {
  constexpr BytesPerSecond largest_rate{1e16};
  constexpr BytesPerSecond smallest_rate{1e6};
  return measured.size / measured.time <= largest_rate &&
         measured.time <= Seconds{1} + measured.size / smallest_rate;
}

std::string implausible_text(const SizedTime& measured) {
  return fmt::format("a time of {:g} s for {:.0f} B is implausible", measured.time.value(),
                     measured.size.value());
}

}  // namespace gradway
