// SPDX-License-Identifier: Apache-2.0
#include "readers/fit/links.hpp"

#include <algorithm>
#include <array>
#include <map>

#include <fmt/format.h>

#include "readers/fit/monotone.hpp"
#include "readers/fit/robust_line.hpp"

namespace gradway {
namespace {

constexpr std::array roles{LinkRole::to_gpu, LinkRole::from_gpu,          LinkRole::pageable_to_gpu,
                           LinkRole::peer,   LinkRole::pageable_from_gpu, LinkRole::same_gpu};

std::string_view copies_of(LinkRole role) {
  switch (role) {
    case LinkRole::to_gpu:
      return "copies from pinned memory to a GPU";
    case LinkRole::from_gpu:
      return "copies from a GPU to pinned memory";
    case LinkRole::pageable_to_gpu:
      return "copies from pageable memory to a GPU";
    case LinkRole::pageable_from_gpu:
      return "copies from a GPU to pageable memory";
    case LinkRole::peer:
      return "copies from a GPU to another";
    case LinkRole::same_gpu:
      return "copies within a GPU";
    case LinkRole::host_memory:
      break;
  }
  return "copies of several GPUs at once";
}

void add_link(LinkRole role, const std::vector<CopyRow>& copies, std::vector<LinkRate>& links) {
  std::vector<SizedTime> samples;
  for (const auto& copy : copies) {
    if (copy.role == role) samples.push_back({copy.size, copy.time});
  }
  if (samples.empty()) return;
  std::vector<AmountTime> points;
  for (const auto& [size, time] : merged_by_size(samples)) points.push_back({size.value(), time.value()});
  const auto line = robust_line(points, LineForm::sum);
  LinkRate link{.role = role,
                .gpus = 1,
                .bandwidth = BytesPerSecond{1 / line.slope},
                .least = {},
                .most = {},
                .latency = Seconds{line.base},
                .smallest = Bytes{points.front().amount},
                .largest = Bytes{points.back().amount},
                .source = fmt::format("{}, {} sizes", copies_of(role), points.size())};
  if (const auto slopes = leave_one_out_slopes(points, LineForm::sum)) {
    link.least = BytesPerSecond{1 / slopes->second};
    link.most = BytesPerSecond{1 / slopes->first};
  }
  std::vector<double> errors;
  for (const auto& sample : samples) errors.push_back(copy_time(link, sample.size) / sample.time - 1);
  link.fitted = {static_cast<int>(samples.size()), fit_error(std::move(errors))};
  links.push_back(std::move(link));
}

/// Number of GPUs with a copy from and a copy to host memory at once; 0 for other patterns.
int gpus_both_ways(const PatternRow& pattern) {
  std::map<int, int> directions;  // Bits by GPU: 1 for copies to it, 2 for copies from it.
  for (const auto& copy : pattern.copies) {
    if (copy.from && copy.to) return 0;
    directions[copy.from ? *copy.from : *copy.to] += copy.from ? 2 : 1;
  }
  const bool is_good = std::ranges::all_of(directions, [](const auto& entry) { return entry.second == 3; }) &&
                       2 * directions.size() == pattern.copies.size();
  return is_good ? static_cast<int>(directions.size()) : 0;
}

LinkRate host_memory(const PatternRow& pattern, int gpus) {
  return {.role = LinkRole::host_memory,
          .gpus = gpus,
          .bandwidth = static_cast<double>(pattern.times.size()) * pattern.size / pattern.slowest(),
          .least = {},
          .most = {},
          .latency = {},
          .smallest = pattern.size,
          .largest = pattern.size,
          .source = fmt::format("copies to and from each of {} GPUs at once, the slowest of {}", gpus,
                                pattern.times.size())};
}

}  // namespace

std::vector<LinkRate> fit_links(const Samples& samples) {
  std::vector<LinkRate> links;
  for (const auto role : roles) add_link(role, samples.copies, links);
  // Pattern by number of GPUs: the one with the largest copies.
  std::map<int, LinkRate> memories;
  for (const auto& pattern : samples.patterns) {
    const auto gpus = gpus_both_ways(pattern);
    if (gpus < 2) continue;
    const auto rate = host_memory(pattern, gpus);
    const auto [place, is_new] = memories.emplace(gpus, rate);
    if (!is_new && rate.largest > place->second.largest) place->second = rate;
  }
  for (const auto& [gpus, rate] : memories) links.push_back(rate);
  return links;
}

Seconds copy_time(const LinkRate& link, Bytes size) {
  return link.latency + size / link.bandwidth;
}

const LinkRate* link_of(const std::vector<LinkRate>& links, LinkRole role) {
  const auto link = std::ranges::find(links, role, &LinkRate::role);
  return link == links.end() ? nullptr : &*link;
}

BytesPerSecond ring_rate(const LinkRate& host_memory) {
  return host_memory.bandwidth / (2.0 * host_memory.gpus);
}

}  // namespace gradway
