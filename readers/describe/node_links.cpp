// SPDX-License-Identifier: Apache-2.0
#include "readers/describe/node_links.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include <fmt/format.h>

#include "readers/describe/nominal_rates.hpp"
#include "readers/fit/monotone.hpp"
#include "sim/base/problem.hpp"
#include "sim/base/quantiles.hpp"
#include "sim/cost/nccl_model.hpp"
#include "sim/cost/size_text.hpp"

namespace gradway {
namespace {

constexpr double alike = 1.03;  // Rates within this ratio are equal.
// Share of the rates alone above which concurrent copies did not slow each other down.
constexpr double not_slowed = 0.95;
constexpr std::array directions{HostWay::to_gpu, HostWay::from_gpu};

std::string rate_number(BytesPerSecond rate) {
  return fmt::format("{:.4g}", rate.value() / 1e9);
}

/// Such as "26.2 GB/s", or "26.1 to 26.3 GB/s" for several.
std::string range_text(const std::vector<CopyRate>& rates) {
  const auto [least, most] = std::ranges::minmax(rates, {}, &CopyRate::rate);
  const auto low = rate_number(least.rate);
  const auto high = rate_number(most.rate);
  return low == high ? fmt::format("{} GB/s", low) : fmt::format("{} to {} GB/s", low, high);
}

/// Such as "256 MiB", or "256 MiB to 1 GiB" for several.
std::string sizes_text(const std::vector<CopyRate>& rates) {
  const auto [least, most] = std::ranges::minmax(rates, {}, &CopyRate::size);
  return least.size == most.size ? size_text(least.size)
                                 : fmt::format("{} to {}", size_text(least.size), size_text(most.size));
}

BytesPerSecond median(const std::vector<CopyRate>& rates) {
  std::vector<BytesPerSecond> plain;
  for (const auto& copy : rates) plain.push_back(copy.rate);
  return lower_median(plain);
}

bool are_alike(const std::vector<CopyRate>& rates) {
  const auto [least, most] = std::ranges::minmax(rates, {}, &CopyRate::rate);
  return most.rate <= alike * least.rate;
}

class MeasuredRating {
 public:
  MeasuredRating(const NodeRow& node, const NodeLayout& layout, const NodeRates& rates)
      : node_{node}, layout_{layout}, rates_{rates} {}

  NodeLinks make() {
    rate_slots();
    rate_ways_up();
    rate_memories();
    rate_sockets();
    rate_nvlinks();
    return std::move(result_);
  }

 private:
  /// Rates to and from each GPU.
  struct Slots {
    std::array<std::vector<BytesPerSecond>, 2> rate;
  };

  const std::string& name(std::size_t part) const { return layout_.name(part); }

  BytesPerSecond slot(HostWay direction, int gpu) const {
    return slots_.rate[static_cast<std::size_t>(direction)][static_cast<std::size_t>(gpu)];
  }

  void rate_slots() {
    std::array<std::vector<CopyRate>, 2> measured;
    std::array<std::vector<std::optional<CopyRate>>, 2> by_gpu;
    for (const auto direction : directions) {
      const auto w = static_cast<std::size_t>(direction);
      for (int gpu = 0; gpu < static_cast<int>(layout_.gpus); ++gpu) {
        by_gpu[w].push_back(rates_.pinned(direction, gpu));
        if (by_gpu[w].back()) measured[w].push_back(*by_gpu[w].back());
      }
    }
    if (measured[0].empty() && measured[1].empty()) {
      refuse_at(node_.where, "the samples contain no copies between pinned memory and a GPU of this node",
                "measure rows h2d_pinned and d2h_pinned, the rates of PCIe, with the probe");
    }
    std::string source;
    for (const auto direction : directions) {
      const auto w = static_cast<std::size_t>(direction);
      const auto& rates = measured[w];
      const auto& used = rates.empty() ? measured[1 - w] : rates;
      for (std::size_t gpu = 0; gpu < layout_.gpus; ++gpu) {
        const bool is_own = by_gpu[w][gpu] && !are_alike(used);
        slots_.rate[w].push_back(is_own ? by_gpu[w][gpu]->rate : median(used));
      }
      const auto row = direction == HostWay::to_gpu ? "h2d_pinned" : "d2h_pinned";
      source += rates.empty() ? fmt::format("No rows {}: assumed to be as in the other direction. ", row)
                              : fmt::format("Rows {}: copies of {} {} a GPU reached {}{}. ", row,
                                            sizes_text(used), direction == HostWay::to_gpu ? "to" : "from",
                                            range_text(used), alone_text(rates.size()));
    }
    source.pop_back();
    LinkGroup group{std::move(source), {}};
    for (std::size_t gpu = 0; gpu < layout_.gpus; ++gpu) {
      const auto number = static_cast<int>(gpu);
      group.links.push_back({name(*layout_.parts[gpu].parent), name(gpu), LinkKind::pcie,
                             slot(HostWay::to_gpu, number), slot(HostWay::from_gpu, number)});
    }
    add(std::move(group));
  }

  std::string alone_text(std::size_t measured) const {
    return measured == layout_.gpus
               ? std::string{}
               : fmt::format(", measured on {} of {} GPUs: the others are assumed to be equal", measured,
                             layout_.gpus);
  }

  /// Rates between a PCIe switch or a root complex and its parent.
  void rate_ways_up() {
    LinkGroup of_one{"Inferred: the rate of the slot below it.", {}};
    std::vector<LinkGroup> of_several;
    for (const auto kind : {DeviceKind::root_complex, DeviceKind::pcie_switch}) {
      for (const auto part : layout_.of_kind(kind)) {
        const auto gpus = layout_.gpus_below(part);
        std::array<BytesPerSecond, 2> rate{};
        std::array<std::optional<CopyRate>, 2> together;
        for (const auto direction : directions) {
          const auto w = static_cast<std::size_t>(direction);
          for (const auto gpu : gpus) rate[w] = std::max(rate[w], slot(direction, gpu));
          if (gpus.size() > 1) together[w] = rates_.together(direction, gpus);
          if (together[w]) rate[w] = std::max(rate[w], together[w]->rate);
        }
        const NodeLink link{name(*layout_.parts[part].parent), name(part),
                            layout_.parts[part].is_across ? LinkKind::inter_socket : LinkKind::pcie, rate[0],
                            rate[1]};
        if (gpus.size() == 1) {
          of_one.links.push_back(link);
        } else {
          of_several.push_back({shared_text(gpus.size(), together), {link}});
        }
      }
    }
    if (!of_one.links.empty()) add(std::move(of_one));
    for (auto& group : of_several) add(std::move(group));
  }

  static std::string shared_text(std::size_t gpus, const std::array<std::optional<CopyRate>, 2>& together) {
    const auto start = fmt::format("Shared by {} GPUs. Inferred: at least the rate of the slot of one", gpus);
    if (!together[0] && !together[1]) return start + "; no pattern copies to all of them at once.";
    std::string text;
    for (const auto direction : directions) {
      const auto& rate = together[static_cast<std::size_t>(direction)];
      if (!rate) continue;
      text += fmt::format("{} {} all of them at once {} GB/s", text.empty() ? "; copies" : ",",
                          direction == HostWay::to_gpu ? "to" : "from", rate_number(rate->rate));
    }
    return fmt::format("{}{} (rows pattern).", start, text);
  }

  /// Consecutive groups with one source are merged.
  void add(LinkGroup group) {
    if (result_.groups.empty() || result_.groups.back().source != group.source) {
      result_.groups.push_back(std::move(group));
      return;
    }
    std::ranges::move(group.links, std::back_inserter(result_.groups.back().links));
  }

  void rate_memories() {
    for (const auto socket : layout_.of_kind(DeviceKind::socket)) {
      const auto gpus = layout_.gpus_below(socket);
      BytesPerSecond alone{};
      for (const auto gpu : gpus) alone += slot(HostWay::to_gpu, gpu) + slot(HostWay::from_gpu, gpu);
      const auto measured = rates_.memory(gpus);
      const auto numa = layout_.parts[socket].numa_node
                            ? fmt::format("NUMA node {}. ", *layout_.parts[socket].numa_node)
                            : std::string{};
      if (!measured) {
        result_.warnings.push_back(fmt::format(
            "no pattern copies both ways on all GPUs of {} at once: the rate of its memory is inferred",
            name(socket)));
        result_.sockets.push_back({name(socket), alone,
                                   numa + "Inferred, not measured: the sum of the rates of copies both ways "
                                          "on each of its GPUs alone."});
        continue;
      }
      const bool is_bound = measured->rate < not_slowed * alone;
      result_.sockets.push_back(
          {name(socket), measured->rate,
           fmt::format(
               "{}Rows pattern: copies of {} both ways on all its GPUs at once moved {} x {:.4g} GB/s{}.",
               numa, size_text(measured->size), measured->copies,
               measured->rate.value() / 1e9 / static_cast<double>(measured->copies),
               is_bound ? "" : "; no slower than alone, so the memory may be faster")});
    }
  }

  void rate_sockets() {
    const auto sockets = layout_.of_kind(DeviceKind::socket);
    const auto figure = socket_figure(node_.cpu_vendor, node_.cpu_model);
    const bool has_nvlinks = !layout_.switched.empty() || !layout_.pairs.empty();
    for (std::size_t a = 0; a < sockets.size(); ++a) {
      for (auto b = a + 1; b < sockets.size(); ++b) {
        std::array<BytesPerSecond, 2> rate{figure.rate, figure.rate};
        auto source =
            fmt::format("Inferred: NCCL's figure for the link between sockets ({}, src/graph/topo.h, 2.28.9)",
                        figure.name);
        const std::array gpus{layout_.gpus_below(sockets[a]), layout_.gpus_below(sockets[b])};
        for (std::size_t w = 0; w < 2 && !has_nvlinks; ++w) {
          const auto reached = rates_.across(gpus[w], gpus[1 - w]);
          if (!reached) continue;
          rate[w] = std::max(rate[w], reached->rate);
          source += fmt::format("; copies from GPUs of {} to GPUs of {} reached {} GB/s",
                                name(sockets[w == 0 ? a : b]), name(sockets[w == 0 ? b : a]),
                                rate_number(reached->rate));
        }
        add({source + '.', {{name(sockets[a]), name(sockets[b]), LinkKind::inter_socket, rate[0], rate[1]}}});
      }
    }
  }

  /// Rate of copies between two GPUs, or the sum of the driver's rates of the links.
  std::optional<CopyRate> nvlink_rate(std::size_t from, std::size_t to, int count, bool& is_measured) const {
    is_measured = true;
    const auto sender = static_cast<int>(from);
    const auto receiver = static_cast<int>(to);
    if (const auto rate = rates_.peer(sender, receiver)) return rate;
    if (const auto rate = rates_.peer(receiver, sender)) return rate;
    is_measured = false;
    const auto link = node_.gpus[from].nvlink_rate;
    return link ? std::optional{CopyRate{static_cast<double>(count) * *link, {}}} : std::nullopt;
  }

  void leave_out_nvlinks() {
    result_.warnings.emplace_back(
        "NVLinks are left out: neither a row d2d_peer nor the driver gives their rate");
    add({result_.warnings.back() + '.', {}});
  }

  static std::string peer_text(const std::vector<CopyRate>& rates, bool is_measured) {
    return is_measured
               ? fmt::format("Rows d2d_peer: copies of {} from GPU to GPU reached {}.", sizes_text(rates),
                             range_text(rates))
               : fmt::format("Nominal, not measured: the driver's rate of a link times their number, {}.",
                             range_text(rates));
  }

  void rate_nvswitch() {
    std::vector<CopyRate> measured;
    std::optional<CopyRate> nominal;
    for (const auto& from : layout_.switched) {
      for (const auto& to : layout_.switched) {
        bool is_measured = false;
        const auto rate = from.gpu == to.gpu || from.nvswitch != to.nvswitch
                              ? std::nullopt
                              : nvlink_rate(from.gpu, to.gpu, from.links, is_measured);
        if (rate && is_measured) measured.push_back(*rate);
        if (rate && !is_measured) nominal = rate;
      }
    }
    if (measured.empty() && !nominal) return leave_out_nvlinks();
    const auto used = measured.empty() ? std::vector{*nominal} : measured;
    LinkGroup group{peer_text(used, !measured.empty()), {}};
    for (const auto& uplink : layout_.switched) {
      group.links.push_back(
          {name(uplink.gpu), uplink.nvswitch, LinkKind::nvlink, median(used), median(used), uplink.links});
    }
    add(std::move(group));
  }

  void rate_nvlinks() {
    if (!layout_.switched.empty()) rate_nvswitch();
    LinkGroup measured_group;
    LinkGroup nominal_group;
    std::array<std::vector<CopyRate>, 2> rates;  // Nominal, measured.
    for (const auto& pair : layout_.pairs) {
      std::array<bool, 2> is_measured{};
      const auto forward = nvlink_rate(pair.one, pair.other, pair.count, is_measured[0]);
      const auto backward = nvlink_rate(pair.other, pair.one, pair.count, is_measured[1]);
      if (!forward || !backward) return leave_out_nvlinks();
      for (const auto& rate : {*forward, *backward}) rates[is_measured[0] ? 1 : 0].push_back(rate);
      auto& group = is_measured[0] ? measured_group : nominal_group;
      group.links.push_back(
          {name(pair.one), name(pair.other), LinkKind::nvlink, forward->rate, backward->rate, pair.count});
    }
    for (auto* group : {&measured_group, &nominal_group}) {
      if (group->links.empty()) continue;
      const bool is_measured = group == &measured_group;
      group->source = peer_text(rates[is_measured ? 1 : 0], is_measured);
      add(std::move(*group));
    }
  }

  const NodeRow& node_;
  const NodeLayout& layout_;
  const NodeRates& rates_;
  Slots slots_;
  NodeLinks result_;
};

}  // namespace

NodeLinks node_links(const NodeRow& node, const NodeLayout& layout, const NodeRates& rates) {
  return MeasuredRating{node, layout, rates}.make();
}

namespace {

/// @param is_wanted selects rows.
template <class Wanted>
std::optional<CopyRate> largest(const std::vector<CopyRow>& rows, const Wanted& is_wanted) {
  std::vector<SizedTime> times;
  for (const auto& row : rows) {
    if (is_wanted(row)) times.push_back({row.size, row.time});
  }
  if (times.empty()) return std::nullopt;
  const auto best = merged_by_size(std::move(times)).back();
  return CopyRate{best.size / best.time, best.size};
}

bool contains(std::span<const int> gpus, std::optional<int> gpu) {
  return gpu && std::ranges::find(gpus, *gpu) != gpus.end();
}

void keep_faster(std::optional<CopyRate>& best, const CopyRate& candidate) {
  if (candidate.rate > BytesPerSecond{} && (!best || candidate.rate > best->rate)) best = candidate;
}

/// The sum of the rates of a pattern's selected copies, and their number.
template <class Wanted>
std::pair<CopyRate, std::size_t> sum_of(const PatternRow& pattern, const Wanted& is_wanted) {
  CopyRate sum{{}, pattern.size};
  std::size_t count = 0;
  for (std::size_t i = 0; i < pattern.copies.size(); ++i) {
    if (!is_wanted(pattern.copies[i])) continue;
    sum.rate += pattern.size / pattern.times[i];
    ++count;
  }
  return {sum, count};
}

/// The GPU at the other end of a copy from or to host memory.
std::optional<int> gpu_of(const CopyWay& copy, HostWay direction) {
  if (direction == HostWay::to_gpu) return copy.from ? std::nullopt : copy.to;
  return copy.to ? std::nullopt : copy.from;
}

}  // namespace

std::optional<CopyRate> NodeRates::pinned(HostWay direction, int gpu) const {
  const auto role = direction == HostWay::to_gpu ? LinkRole::to_gpu : LinkRole::from_gpu;
  return largest(samples_.copies, [&](const CopyRow& row) {
    return row.role == role && (row.gpus.empty() || contains(row.gpus, gpu));
  });
}

std::optional<CopyRate> NodeRates::pageable() const {
  return largest(samples_.copies, [](const CopyRow& row) { return row.role == LinkRole::pageable_to_gpu; });
}

std::optional<CopyRate> NodeRates::peer(int from, int to) const {
  const auto named = largest(samples_.copies, [&](const CopyRow& row) {
    return row.role == LinkRole::peer && row.gpus == std::vector{from, to};
  });
  if (named) return named;
  return largest(samples_.copies,
                 [](const CopyRow& row) { return row.role == LinkRole::peer && row.gpus.size() < 2; });
}

std::optional<CopyRate> NodeRates::together(HostWay direction, std::span<const int> gpus) const {
  std::optional<CopyRate> best;
  for (const auto& pattern : samples_.patterns) {
    const auto [sum, count] =
        sum_of(pattern, [&](const CopyWay& copy) { return contains(gpus, gpu_of(copy, direction)); });
    if (count >= gpus.size()) keep_faster(best, sum);
  }
  return best;
}

std::optional<NodeRates::MemoryRate> NodeRates::memory(std::span<const int> gpus) const {
  std::optional<MemoryRate> best;
  for (const auto& pattern : samples_.patterns) {
    MemoryRate rate{{}, pattern.size, 0, pattern.times.size()};
    Seconds slowest{};
    for (std::size_t i = 0; i < pattern.copies.size(); ++i) {
      const auto& copy = pattern.copies[i];
      if (!contains(gpus, gpu_of(copy, HostWay::to_gpu)) && !contains(gpus, gpu_of(copy, HostWay::from_gpu)))
        continue;
      slowest = std::max(slowest, pattern.times[i]);
      ++rate.copies;
    }
    if (rate.copies < 2 * gpus.size()) continue;
    rate.rate = static_cast<double>(rate.copies) * pattern.size / slowest;
    const auto rank = [](const MemoryRate& candidate) {
      return std::pair{candidate.copies_of_node, candidate.size};
    };
    if (!best || rank(rate) > rank(*best)) best = rate;
  }
  return best;
}

std::optional<CopyRate> NodeRates::across(std::span<const int> from, std::span<const int> to) const {
  std::optional<CopyRate> best;
  for (const auto sender : from) {
    for (const auto receiver : to) {
      const auto alone = largest(samples_.copies, [&](const CopyRow& row) {
        return row.role == LinkRole::peer && row.gpus == std::vector{sender, receiver};
      });
      if (alone) keep_faster(best, *alone);
    }
  }
  for (const auto& pattern : samples_.patterns) {
    keep_faster(best, sum_of(pattern, [&](const CopyWay& copy) {
                        return contains(from, copy.from) && contains(to, copy.to);
                      }).first);
  }
  return best;
}

std::optional<NodeRates::RingRate> NodeRates::through_net() const {
  std::optional<RingRate> best;
  for (const auto& row : samples_.collectives) {
    const bool is_ring = row.kind == CollectiveKind::all_reduce || row.kind == CollectiveKind::all_gather ||
                         row.kind == CollectiveKind::reduce_scatter;
    if (row.transport != Transport::net || row.nodes > 1 || !is_ring || row.algorithm == Algorithm::tree)
      continue;
    const auto rank_rate = bus_factor(row.kind, row.ranks) * (row.size / row.time);
    const auto total = static_cast<double>(row.ranks) * rank_rate;
    if (!best || total > best->rate) best = RingRate{total, row.ranks, rank_rate};
  }
  return best;
}

}  // namespace gradway
