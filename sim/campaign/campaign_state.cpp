// SPDX-License-Identifier: Apache-2.0
#include "sim/campaign/campaign_state.hpp"

namespace gradway {

std::array<std::pair<Bucket, Ticks>, 5> parts_of_steps(Ticks time, Ticks done, const SlowDowns& slow_downs) {
  auto remaining = std::max<Ticks>(0, time - done);
  const auto take = [&](double amount) {
    const auto taken = std::min(remaining, static_cast<Ticks>(amount));
    remaining -= taken;
    return taken;
  };
  const auto alone = static_cast<double>(done);
  auto by_conditions = take(alone * (slow_downs.conditions - 1));
  const auto by_width = take(alone * slow_downs.conditions * (slow_downs.width - 1));
  const auto by_save = take(alone * slow_downs.conditions * slow_downs.width * (slow_downs.write - 1));
  constexpr Ticks rounding = 4;
  if (slow_downs.conditions > 1 && remaining <= rounding) by_conditions += std::exchange(remaining, 0);
  return {{{Bucket::productive, std::min(time, done)},
           {Bucket::conditions, by_conditions},
           {Bucket::narrow, by_width},
           {Bucket::saving, by_save},
           {Bucket::stragglers, remaining}}};
}

const FailureCause* cause_at(std::span<const FailureCause> causes, double share) {
  double total = 0;
  for (const auto& cause : causes) total += cause.count;
  auto remaining = share * total;
  const FailureCause* chosen = nullptr;
  for (const auto& cause : causes) {
    chosen = &cause;
    if ((remaining -= cause.count) < 0) break;
  }
  return chosen;
}

double keeping_usd(const std::vector<KeptStorage>& kept, Ticks end) {
  double usd = 0;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    const auto until = i + 1 < kept.size() ? std::min(end, kept[i + 1].from) : end;
    usd += kept[i].usd_per_s * seconds_of(std::max<Ticks>(0, until - kept[i].from)).value();
  }
  return usd;
}

}  // namespace gradway
