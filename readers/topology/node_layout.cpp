// SPDX-License-Identifier: Apache-2.0
#include "readers/topology/node_layout.hpp"

#include <algorithm>
#include <array>
#include <cctype>

#include <fmt/format.h>

namespace gradway {

std::string nic_name(const std::string& name, const std::set<std::string>& taken) {
  std::string plain;
  for (const unsigned char c : name) {
    const bool is_good = c < 0x80 && (std::isalnum(c) != 0 || c == '_' || c == '.' || c == '-');
    plain += is_good ? static_cast<char>(c) : '_';
  }
  constexpr std::array<std::string_view, 6> reserved{"gpu", "cpu", "rc", "plx", "nvswitch", "loopback"};
  const bool is_word = !plain.empty() && std::isalpha(static_cast<unsigned char>(plain[0])) != 0 &&
                       plain.find_first_of("0123456789") != std::string::npos;
  const bool is_own = std::ranges::any_of(reserved, [&](auto start) { return plain.starts_with(start); });
  if (!is_word || is_own) plain = "nic_" + plain;
  auto free = plain;
  for (int i = 2; taken.contains(free); ++i) free = fmt::format("{}_{}", plain, i);
  return free;
}

std::vector<std::size_t> NodeLayout::above(std::size_t part) const {
  std::vector<std::size_t> ancestors;
  for (auto ancestor = parts[part].parent; ancestor; ancestor = parts[*ancestor].parent)
    ancestors.push_back(*ancestor);
  return ancestors;
}

std::vector<int> NodeLayout::gpus_below(std::size_t part) const {
  std::vector<int> below;
  for (std::size_t gpu = 0; gpu < gpus; ++gpu) {
    const auto ancestors = above(gpu);
    if (std::ranges::find(ancestors, part) != ancestors.end()) below.push_back(static_cast<int>(gpu));
  }
  return below;
}

std::vector<std::size_t> NodeLayout::of_kind(DeviceKind kind) const {
  std::vector<std::size_t> matches;
  for (std::size_t part = 0; part < parts.size(); ++part) {
    if (parts[part].kind == kind) matches.push_back(part);
  }
  std::ranges::sort(matches, {}, [&](std::size_t part) { return std::pair{name(part).size(), name(part)}; });
  return matches;
}

NodeLayout without_nics(const NodeLayout& layout) {
  auto pruned = layout;
  pruned.parts.clear();
  pruned.nics = 0;
  std::vector<std::size_t> place(layout.parts.size());
  for (std::size_t part = 0; part < layout.parts.size(); ++part) {
    if (part >= layout.gpus && layout.gpus_below(part).empty()) continue;
    place[part] = pruned.parts.size();
    pruned.parts.push_back(layout.parts[part]);
  }
  for (auto& part : pruned.parts) {
    if (part.parent) part.parent = place[*part.parent];
  }
  return pruned;
}

PathType type_in_tree(const NodeLayout& layout, std::size_t device, std::size_t peer) {
  const auto ancestors = layout.above(device);
  const auto back = layout.above(peer);
  const auto meeting = std::ranges::find_first_of(ancestors, back);
  if (meeting == ancestors.end()) return PathType::sys;
  const auto kind = layout.parts[*meeting].kind;
  const auto crosses = [&](const std::vector<std::size_t>& chain) {
    const auto end = std::ranges::find(chain, *meeting);
    return std::any_of(chain.begin(), end, [&](std::size_t part) { return layout.parts[part].is_across; });
  };
  if (crosses(ancestors) || crosses(back)) return PathType::sys;
  if (kind == DeviceKind::socket) return PathType::node;
  if (kind == DeviceKind::root_complex) {
    const bool is_hub =
        meeting != ancestors.begin() && layout.parts[*(meeting - 1)].kind == DeviceKind::root_complex;
    return is_hub ? PathType::node : PathType::phb;
  }
  return layout.parts[device].parent == *meeting && layout.parts[peer].parent == *meeting ? PathType::pix
                                                                                          : PathType::pxb;
}

}  // namespace gradway
