// SPDX-License-Identifier: Apache-2.0
#include "sim/fit/shared_limits.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "sim/base/quantiles.hpp"
#include "sim/fit/links.hpp"

namespace gradway {
namespace {

constexpr double noticeable = 1.05;  // repeated copies differ by 1 to 3 % on our node
constexpr std::array parts{SharedPart::gpu_out,     SharedPart::gpu_in,    SharedPart::gpu_port,
                           SharedPart::gpu_pcie,    SharedPart::host_read, SharedPart::host_write,
                           SharedPart::host_memory, SharedPart::gpu_fabric};

/// Copies of a pattern through the part that has the most of them, on any one GPU for parts of a GPU.
int copies_through(SharedPart part, const std::vector<CopyWay>& copies) {
  std::map<int, int> through;  // by GPU; one place for parts of the node
  for (const auto& copy : copies) {
    const bool is_peer = copy.role() == LinkRole::peer;
    if (copy.role() == LinkRole::same_gpu) continue;
    switch (part) {
      case SharedPart::gpu_out:
        if (is_peer) ++through[*copy.from];
        break;
      case SharedPart::gpu_in:
        if (is_peer) ++through[*copy.to];
        break;
      case SharedPart::gpu_port:
        if (is_peer) ++through[*copy.from];
        if (is_peer) ++through[*copy.to];
        break;
      case SharedPart::gpu_pcie:
        if (!is_peer) ++through[copy.from ? *copy.from : *copy.to];
        break;
      case SharedPart::host_read:
        if (!copy.from) ++through[0];
        break;
      case SharedPart::host_write:
        if (!copy.to) ++through[0];
        break;
      case SharedPart::host_memory:
        if (!is_peer) ++through[0];
        break;
      case SharedPart::gpu_fabric:
        if (is_peer) ++through[0];
        break;
      case SharedPart::other:
        break;
    }
  }
  int most = 0;
  for (const auto& [place, count] : through) most = std::max(most, count);
  return most;
}

/// Time of a copy alone: that of copies of its size if there are any, else of its link.
std::optional<Seconds> time_alone(const CopyWay& way, Bytes size, const std::vector<CopyRow>& copies,
                                  const std::vector<LinkRate>& links) {
  std::vector<double> times;
  for (const auto& copy : copies) {
    if (copy.role == way.role() && copy.size == size) times.push_back(copy.time.value());
  }
  if (!times.empty()) return Seconds{lower_median(times)};
  const auto* link = link_of(links, way.role());
  return link == nullptr ? std::nullopt : std::optional{copy_time(*link, size)};
}

/// The longest of the copies if each were alone.
std::optional<Seconds> longest_alone(const PatternRow& pattern, const std::vector<CopyRow>& copies,
                                     const std::vector<LinkRate>& links) {
  Seconds longest{};
  for (const auto& way : pattern.copies) {
    const auto alone = time_alone(way, pattern.size, copies, links);
    if (!alone) return std::nullopt;
    longest = std::max(longest, *alone);
  }
  return longest;
}

SharedLimit seen(SharedPart part, const PatternRow& pattern, double slowdown, int copies) {
  SharedLimit limit{.part = part,
                    .copies = copies,
                    .bandwidth = static_cast<double>(copies) * pattern.size / pattern.slowest(),
                    .most = {},
                    .slowdown = slowdown,
                    .source = fmt::format("{} of {:.0f} MB each", pattern.name, pattern.size.value() / 1e6)};
  if (static_cast<std::size_t>(copies) == pattern.copies.size()) {
    BytesPerSecond sum{};
    for (const auto time : pattern.times) sum += pattern.size / time;
    if (sum > 1.001 * limit.bandwidth) limit.most = sum;
  }
  return limit;
}

/// What each pattern got through each part that at least two of its copies share.
std::vector<std::vector<SharedLimit>> all_seen(const std::vector<PatternRow>& patterns,
                                               const std::vector<CopyRow>& copies,
                                               const std::vector<LinkRate>& links) {
  std::vector<std::vector<SharedLimit>> all;
  for (const auto& pattern : patterns) {
    const auto alone = longest_alone(pattern, copies, links);
    if (!alone) continue;
    auto& of_pattern = all.emplace_back();
    const auto slowdown = pattern.slowest() / *alone;
    for (const auto part : parts) {
      const auto through = copies_through(part, pattern.copies);
      if (through >= 2) of_pattern.push_back(seen(part, pattern, slowdown, through));
    }
    if (slowdown > noticeable) {
      of_pattern.push_back(
          seen(SharedPart::other, pattern, slowdown, static_cast<int>(pattern.copies.size())));
    }
  }
  return all;
}

/// Larger copies tell a bandwidth better; the name makes the choice the same whatever the order of the rows.
bool tells_more(const SharedLimit& a, const SharedLimit& b) {
  return std::tuple{a.copies, a.bandwidth.value(), b.source} >
         std::tuple{b.copies, b.bandwidth.value(), a.source};
}

}  // namespace

std::vector<SharedLimit> fit_shared_limits(const std::vector<PatternRow>& patterns,
                                           const std::vector<CopyRow>& copies,
                                           const std::vector<LinkRate>& links) {
  const auto all = all_seen(patterns, copies, links);
  std::map<SharedPart, SharedLimit> widest;  // the most that was seen
  for (const auto& of_pattern : all) {
    for (const auto& limit : of_pattern) {
      if (limit.part == SharedPart::other) continue;
      const auto [place, is_new] = widest.emplace(limit.part, limit);
      if (!is_new && limit.bandwidth > place->second.bandwidth) place->second = limit;
    }
  }
  std::map<std::pair<SharedPart, std::string>, SharedLimit> found;
  for (const auto& of_pattern : all) {
    if (of_pattern.empty() || of_pattern.front().slowdown <= noticeable) continue;
    const SharedLimit* culprit = &of_pattern.back();  // something else
    for (const auto& limit : of_pattern) {
      if (limit.part == SharedPart::other || limit.bandwidth * noticeable < widest.at(limit.part).bandwidth)
        continue;
      if (culprit->part == SharedPart::other || limit.copies > culprit->copies) culprit = &limit;
    }
    auto limit = *culprit;
    limit.limits = true;
    const auto name = limit.part == SharedPart::other ? limit.source : "";
    const auto [place, is_new] = found.emplace(std::pair{limit.part, name}, limit);
    if (!is_new && tells_more(limit, place->second)) place->second = limit;
  }
  for (const auto& [part, limit] : widest) found.emplace(std::pair{part, ""}, limit);
  std::vector<SharedLimit> limits;
  for (const auto& [part, limit] : found) limits.push_back(limit);
  return limits;
}

std::optional<Seconds> pattern_time(const PatternRow& pattern, const std::vector<LinkRate>& links,
                                    const std::vector<SharedLimit>& limits) {
  auto time = longest_alone(pattern, {}, links);
  if (!time) return std::nullopt;
  for (const auto& limit : limits) {
    const auto through = copies_through(limit.part, pattern.copies);
    if (limit.limits) time = std::max(*time, static_cast<double>(through) * pattern.size / limit.bandwidth);
  }
  return time;
}

}  // namespace gradway
