// SPDX-License-Identifier: Apache-2.0
#include "sim/study/search/bucket_caps.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "sim/base/contract.hpp"
#include "sim/plan/ddp/buckets.hpp"

namespace gradway {
namespace {

constexpr auto one_mib = 1_MiB;

constexpr int most_digits = 17;  // more than the precision of a double

}  // namespace

int significant_digits(Bytes cap) {
  const auto count = cap / one_mib;
  if (count != std::floor(count)) return most_digits;
  auto number = static_cast<std::int64_t>(count);
  while (number > 0 && number % 10 == 0) number /= 10;
  int digits = 0;
  for (; number > 0; number /= 10) ++digits;
  return digits;
}

std::vector<int> bucket_ends(const std::vector<Unit>& buckets) {
  std::vector<int> ends;
  int end = 0;
  for (const auto& bucket : buckets) ends.push_back(end += static_cast<int>(bucket.gradients.size()));
  return ends;
}

CapRange full_cap_range(const Model& model) {
  const Bytes gradients{4 * static_cast<double>(model.parameter_count())};
  return {1, std::max(1, static_cast<int>(std::ceil(gradients / one_mib)))};
}

std::vector<EquivalentCaps> equivalent_caps(const Model& model, const std::vector<BucketCap>& caps,
                                            std::optional<CapRange> range) {
  expects(range || !caps.empty(), "there is a cap");
  std::vector<EquivalentCaps> cuts;
  std::map<std::vector<int>, std::size_t> known;
  const auto cut_of = [&](BucketCap cap) -> EquivalentCaps& {
    const auto [entry, is_new] = known.emplace(bucket_ends(ddp_buckets(model, cap)), cuts.size());
    if (is_new) cuts.emplace_back();
    return cuts[entry->second];
  };
  for (int cap = range ? range->first : 1; range && cap <= range->last; ++cap) {
    auto& cut = cut_of(cap * one_mib);
    cut.range = {cut.range ? cut.range->first : cap, cap};
  }
  for (const auto& cap : caps) cut_of(cap).caps.push_back(cap);
  return cuts;
}

BucketCap simplest_cap(const EquivalentCaps& cut, CapRange full) {
  if (std::ranges::find(cut.caps, BucketCap{}) != cut.caps.end()) return std::nullopt;
  if (!cut.caps.empty()) return cut.caps.front();
  const auto [first, end] = *cut.range;
  const auto last = end == full.last ? 10 * end : end;
  int best = first;
  for (int cap = first; cap <= last; ++cap) {
    if (significant_digits(cap * one_mib) < significant_digits(best * one_mib)) best = cap;
  }
  return best * one_mib;
}

}  // namespace gradway
