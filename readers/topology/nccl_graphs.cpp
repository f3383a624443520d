// SPDX-License-Identifier: Apache-2.0
#include "readers/topology/nccl_xml.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "sim/files/xml_file.hpp"

namespace gradway {
namespace {

using pugi::xml_node;

struct NumberedWord {
  int number;
  std::string_view word;
};
constexpr std::array algorithms{NumberedWord{0, "ring"}, NumberedWord{1, "tree"}, NumberedWord{2, "collnet"},
                                NumberedWord{3, "nvls"}, NumberedWord{4, "collnet direct"}};
constexpr std::array patterns{NumberedWord{1, "balanced tree"}, NumberedWord{2, "split tree"},
                              NumberedWord{3, "tree"},          NumberedWord{4, "ring"},
                              NumberedWord{5, "nvls"},          NumberedWord{6, "collnet direct"}};

template <std::size_t size>
std::string word_of(const std::array<NumberedWord, size>& words, int number) {
  const auto* const entry = std::ranges::find(words, number, &NumberedWord::number);
  return entry == words.end() ? fmt::format("number {}", number) : std::string{entry->word};
}

int required(const XmlFile& file, const xml_node& node, const char* name, int most) {
  const auto value = file.whole(node, name, 0, most);
  if (!value) refuse_at(file.at(node), fmt::format("the <{}> has no '{}'", node.name(), name), "");
  return *value;
}

std::string order_of(const XmlFile& file, const xml_node& channel) {
  std::string order;
  for (const auto& stop : channel.children()) {
    const std::string_view name = stop.name();
    if (name != "gpu" && name != "net") continue;
    order += fmt::format("{}{}{}", order.empty() ? "" : " ", name == "net" ? "net" : "",
                         required(file, stop, "dev", 1 << 20));
  }
  return order;
}

NcclGraph read_graph(const XmlFile& file, const xml_node& node) {
  constexpr double most_speed = 1e6;
  constexpr int most_channels = 1024;
  NcclGraph graph;
  graph.algorithm = word_of(algorithms, required(file, node, "id", 1 << 16));
  graph.pattern = word_of(patterns, required(file, node, "pattern", 1 << 16));
  graph.channels = required(file, node, "nchannels", most_channels);
  graph.speed_intra = file.number(node, "speedintra", 0, most_speed).value_or(0);
  graph.speed_inter = file.number(node, "speedinter", 0, most_speed).value_or(0);
  graph.type_intra = file.attribute(node, "typeintra");
  graph.type_inter = file.attribute(node, "typeinter");
  int listed = 0;
  for (const auto& channel : node.children("channel")) {
    ++listed;
    auto order = order_of(file, channel);
    const auto same = std::ranges::find(graph.orders, order, &std::pair<std::string, int>::first);
    if (same == graph.orders.end()) {
      graph.orders.emplace_back(std::move(order), 1);
    } else {
      ++same->second;
    }
  }
  if (listed != graph.channels) {
    refuse_at(file.at(node, "nchannels"),
              fmt::format("'nchannels' is {}, but {} <channel> follow", graph.channels, listed),
              "check whether the file is truncated or was edited by hand");
  }
  return graph;
}

}  // namespace

std::vector<NcclGraph> read_nccl_graphs(const XmlFile& file) {
  std::vector<NcclGraph> graphs;
  for (const auto& node : file.root().children("graph")) graphs.push_back(read_graph(file, node));
  if (graphs.empty()) refuse_at(file.at(file.root()), "<graphs> has no <graph>", "");
  return graphs;
}

}  // namespace gradway
