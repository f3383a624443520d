// SPDX-License-Identifier: Apache-2.0
#include "sim/campaign/campaign_state.hpp"

namespace gradway {

std::array<std::pair<Bucket, Ticks>, 5> parts_of_steps(Ticks time, Ticks done, const SlowDowns& by) {
  auto rest = std::max<Ticks>(0, time - done);
  const auto take = [&](double part) {
    const auto taken = std::min(rest, static_cast<Ticks>(part));
    rest -= taken;
    return taken;
  };
  const auto alone = static_cast<double>(done);
  auto by_conditions = take(alone * (by.conditions - 1));
  const auto by_width = take(alone * by.conditions * (by.width - 1));
  const auto by_save = take(alone * by.conditions * by.width * (by.write - 1));
  constexpr Ticks rounding = 4;
  if (by.conditions > 1 && rest <= rounding) by_conditions += std::exchange(rest, 0);
  return {{{Bucket::productive, std::min(time, done)},
           {Bucket::conditions, by_conditions},
           {Bucket::narrow, by_width},
           {Bucket::saving, by_save},
           {Bucket::stragglers, rest}}};
}

const FailureCause* cause_at(std::span<const FailureCause> causes, double share) {
  double all = 0;
  for (const auto& cause : causes) all += cause.count;
  auto left = share * all;
  const FailureCause* found = nullptr;
  for (const auto& cause : causes) {
    found = &cause;
    if ((left -= cause.count) < 0) break;
  }
  return found;
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
