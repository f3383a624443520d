// SPDX-License-Identifier: Apache-2.0
#include "sim/fit/links.hpp"

#include <algorithm>
#include <array>
#include <map>

#include <fmt/format.h>

#include "sim/fit/monotone.hpp"

namespace gradway {
namespace {

constexpr std::array roles{LinkRole::to_gpu, LinkRole::from_gpu, LinkRole::pageable_to_gpu, LinkRole::peer};

std::string_view copies_of(LinkRole role) {
  switch (role) {
    case LinkRole::to_gpu:
      return "copies from pinned memory to a GPU";
    case LinkRole::from_gpu:
      return "copies from a GPU to pinned memory";
    case LinkRole::pageable_to_gpu:
      return "copies from pageable memory to a GPU";
    case LinkRole::peer:
      return "copies from a GPU to another";
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
  const auto points = merged_by_size(std::move(samples));
  links.push_back({.role = role,
                   .gpus = 1,
                   .bandwidth = points.back().size / points.back().time,
                   .latency = points.front().time,
                   .smallest = points.front().size,
                   .largest = points.back().size,
                   .source = fmt::format("{}, {} sizes", copies_of(role), points.size())});
}

LinkRate host_memory(const PatternRow& pattern) {
  const auto slowest = *std::ranges::max_element(pattern.times);
  return {.role = LinkRole::host_memory,
          .gpus = pattern.both_ways,
          .bandwidth = static_cast<double>(pattern.times.size()) * pattern.size / slowest,
          .latency = {},
          .smallest = pattern.size,
          .largest = pattern.size,
          .source = fmt::format("copies to and from each of {} GPUs at once, the slowest of {}",
                                pattern.both_ways, pattern.times.size())};
}

}  // namespace

std::vector<LinkRate> fit_links(const Samples& samples) {
  std::vector<LinkRate> links;
  for (const auto role : roles) add_link(role, samples.copies, links);
  std::map<int, LinkRate> memories;  // by GPUs; of several patterns the largest copies
  for (const auto& pattern : samples.patterns) {
    if (pattern.both_ways < 2) continue;
    const auto rate = host_memory(pattern);
    const auto [place, is_new] = memories.emplace(pattern.both_ways, rate);
    if (!is_new && rate.largest > place->second.largest) place->second = rate;
  }
  for (const auto& [gpus, rate] : memories) links.push_back(rate);
  return links;
}

BytesPerSecond ring_rate(const LinkRate& host_memory) {
  return host_memory.bandwidth / (2.0 * host_memory.gpus);
}

}  // namespace gradway
