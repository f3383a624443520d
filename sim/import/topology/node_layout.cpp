// SPDX-License-Identifier: Apache-2.0
#include "sim/import/topology/node_layout.hpp"

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
  constexpr std::array<std::string_view, 6> own{"gpu", "cpu", "rc", "plx", "nvswitch", "loopback"};
  const bool is_word = !plain.empty() && std::isalpha(static_cast<unsigned char>(plain[0])) != 0 &&
                       plain.find_first_of("0123456789") != std::string::npos;
  const bool is_own = std::ranges::any_of(own, [&](auto start) { return plain.starts_with(start); });
  if (!is_word || is_own) plain = "nic_" + plain;
  auto free = plain;
  for (int i = 2; taken.contains(free); ++i) free = fmt::format("{}_{}", plain, i);
  return free;
}

std::vector<std::size_t> NodeLayout::above(std::size_t part) const {
  std::vector<std::size_t> way;
  for (auto at = parts[part].parent; at; at = parts[*at].parent) way.push_back(*at);
  return way;
}

std::vector<int> NodeLayout::gpus_below(std::size_t part) const {
  std::vector<int> found;
  for (std::size_t gpu = 0; gpu < gpus; ++gpu) {
    const auto way = above(gpu);
    if (std::ranges::find(way, part) != way.end()) found.push_back(static_cast<int>(gpu));
  }
  return found;
}

std::vector<std::size_t> NodeLayout::of_kind(DeviceKind kind) const {
  std::vector<std::size_t> found;
  for (std::size_t part = 0; part < parts.size(); ++part) {
    if (parts[part].kind == kind) found.push_back(part);
  }
  std::ranges::sort(found, {}, [&](std::size_t part) { return std::pair{name(part).size(), name(part)}; });
  return found;
}

NodeLayout without_nics(const NodeLayout& layout) {
  auto left = layout;
  left.parts.clear();
  left.nics = 0;
  std::vector<std::size_t> place(layout.parts.size());
  for (std::size_t part = 0; part < layout.parts.size(); ++part) {
    if (part >= layout.gpus && layout.gpus_below(part).empty()) continue;
    place[part] = left.parts.size();
    left.parts.push_back(layout.parts[part]);
  }
  for (auto& part : left.parts) {
    if (part.parent) part.parent = place[*part.parent];
  }
  return left;
}

PathType type_in_tree(const NodeLayout& layout, std::size_t one, std::size_t other) {
  const auto way = layout.above(one);
  const auto back = layout.above(other);
  const auto meeting = std::ranges::find_first_of(way, back);
  if (meeting == way.end()) return PathType::sys;
  const auto kind = layout.parts[*meeting].kind;
  const auto crosses = [&](const std::vector<std::size_t>& parts) {
    const auto end = std::ranges::find(parts, *meeting);
    return std::any_of(parts.begin(), end, [&](std::size_t part) { return layout.parts[part].is_across; });
  };
  if (crosses(way) || crosses(back)) return PathType::sys;
  if (kind == DeviceKind::socket) return PathType::node;
  if (kind == DeviceKind::root_complex) {
    const bool is_hub =
        meeting != way.begin() && layout.parts[*(meeting - 1)].kind == DeviceKind::root_complex;
    return is_hub ? PathType::node : PathType::phb;
  }
  return layout.parts[one].parent == *meeting && layout.parts[other].parent == *meeting ? PathType::pix
                                                                                        : PathType::pxb;
}

}  // namespace gradway
