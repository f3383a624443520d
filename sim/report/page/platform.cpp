// SPDX-License-Identifier: Apache-2.0
#include "sim/report/page/page_parts.hpp"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "sim/report/format/words.hpp"
#include "sim/report/show/connections.hpp"

namespace gradway::report {
namespace {

using Json = nlohmann::ordered_json;

// A drawing with more devices would be unreadable.
constexpr std::size_t most_gpus = 16;  // per node, and in total beyond the minimum number of nodes
constexpr int least_nodes = 2;
constexpr int most_switches = 24;

/// "root complex" -> "root_complex"
std::string key_of(std::string_view name) {
  std::string key{name};
  for (auto& c : key)
    c = c == ' ' || c == '-' ? '_' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return key;
}

/// The part of a platform that the page draws.
class Drawing {
 public:
  explicit Drawing(const Run& run)
      : run_{run}, platform_{run.scenario.platform}, is_shown_(platform_.devices.size(), false) {
    for (const auto& use : run.measured.links) used_.emplace(use.name, &use);
    choose_nodes(run.scenario.job.gpus);
    add_switches();
    add_switches();  // switches above the leaves
  }

  Json json() const {
    return {{"name", platform_.name}, {"nodes", used_nodes_},      {"nodes_shown", nodes_shown_},
            {"gpus", used_gpus_},     {"gpus_shown", gpus_shown_}, {"devices", devices()},
            {"links", links()},       {"memories", memories()}};
  }

 private:
  /// Selects the first nodes with ranks until the limit of GPUs; of a larger node its first GPUs.
  void choose_nodes(int ranks) {
    used_gpus_ = std::min(static_cast<std::size_t>(ranks), platform_.gpus.size());
    std::vector<std::size_t> gpus_of_node(static_cast<std::size_t>(platform_.nodes), 0);
    for (std::size_t i = 0; i < platform_.gpus.size(); ++i) {
      const auto node = platform_.device(platform_.gpus[i]).node;
      ++gpus_of_node[static_cast<std::size_t>(node)];
      if (i < used_gpus_) used_nodes_ = std::max(used_nodes_, node + 1);
    }
    for (std::size_t gpus = 0; nodes_shown_ < used_nodes_; ++nodes_shown_) {
      gpus += gpus_of_node[static_cast<std::size_t>(nodes_shown_)];
      if (gpus > most_gpus && nodes_shown_ >= least_nodes) break;
    }
    std::vector<std::size_t> gpus_seen(static_cast<std::size_t>(nodes_shown_), 0);
    for (std::size_t i = 0; i < platform_.devices.size(); ++i) {
      const auto& device = platform_.devices[i];
      if (device.node < 0 || device.node >= nodes_shown_) continue;
      is_shown_[i] =
          device.kind != DeviceKind::gpu || gpus_seen[static_cast<std::size_t>(device.node)]++ < most_gpus;
    }
    for (std::size_t i = 0; i < used_gpus_; ++i) gpus_shown_ += is_shown_[platform_.gpus[i].index()];
  }

  bool is_used(const Link& link) const { return busy(link.resource).bytes.value() > 0; }

  struct ResourceLoad {
    double fraction = 0;
    Bytes bytes{};
  };

  /// Use of a resource as in the report, which lists identical resources once.
  ResourceLoad busy(ResourceId id) const {
    const auto listed = used_.find(platform_.name_of(id));
    if (listed != used_.end()) return {listed->second->busy_fraction, listed->second->bytes};
    const auto alike = run_.folding.resources.of(id);
    const auto& carried = run_.measured.carried;
    const auto load = std::ranges::lower_bound(carried, alike, {}, &std::pair<ResourceId, Bytes>::first);
    if (load == carried.end() || load->first != alike) return {};
    const BytesPerSecond rate{platform_.resources[id.index()].rate()};
    return {load->second / (rate * run_.measured.metrics.step_time), load->second};
  }

  /// Adds switches outside nodes that shown devices are linked to. With a single node, only links in use
  /// count.
  void add_switches() {
    const auto shown = is_shown_;
    for (const auto& link : platform_.links) {
      const auto neighbour = link.to.index();
      if (!shown[link.from.index()] || is_shown_[neighbour] || platform_.devices[neighbour].node >= 0)
        continue;
      if (used_nodes_ == 1 && !is_used(link)) continue;
      if (++switches_ > most_switches) return;
      is_shown_[neighbour] = true;
    }
  }

  Json devices() const {
    Json list = Json::array();
    for (std::size_t i = 0; i < platform_.devices.size(); ++i) {
      const auto& device = platform_.devices[i];
      if (is_shown_[i])
        list.push_back({{"name", platform_.name_of(DeviceId{i})},
                        {"kind", key_of(name_of(device.kind))},
                        {"node", device.node}});
    }
    return list;
  }

  /// Capacity and use of a resource.
  Json use(ResourceId id) const {
    const auto& resource = platform_.resources[id.index()];
    const auto used = busy(id);
    return {{"name", platform_.name_of(id)},
            {"capacity_bytes_per_s", resource.rate()},
            {"busy_fraction", used.fraction},
            {"bytes", used.bytes.value()}};
  }

  Json direction(const Link& link) const {
    auto json = use(link.resource);
    json["latency_s"] = link.latency.value();
    return json;
  }

  Json links() const {
    std::vector<Link> shown;
    std::ranges::copy_if(platform_.links, std::back_inserter(shown), [&](const Link& link) {
      return is_shown_[link.from.index()] && is_shown_[link.to.index()];
    });
    Json list = Json::array();
    for (const auto& connection : connections(shown)) {
      const auto& link = *connection.there;
      list.push_back({{"a", platform_.name_of(link.from)},
                      {"b", platform_.name_of(link.to)},
                      {"kind", key_of(name_of(link.kind))},
                      {"count", link.count},
                      {"there", direction(link)},
                      {"back", connection.back ? direction(*connection.back) : Json{}}});
    }
    return list;
  }

  Json memories() const {
    Json list = Json::array();
    for (std::size_t i = 0; i < platform_.memories.size(); ++i) {
      if (!is_shown_[i] || !platform_.memories[i]) continue;
      auto json = use(*platform_.memories[i]);
      json["device"] = platform_.name_of(DeviceId{i});
      list.push_back(std::move(json));
    }
    return list;
  }

  const Run& run_;
  const Platform& platform_;
  std::map<std::string, const ResourceUse*> used_;
  std::vector<bool> is_shown_;
  int used_nodes_ = 0;
  int nodes_shown_ = 0;
  std::size_t used_gpus_ = 0;
  std::size_t gpus_shown_ = 0;
  int switches_ = 0;
};

}  // namespace

Json platform_json(const Run& run) {
  return Drawing{run}.json();
}

}  // namespace gradway::report
