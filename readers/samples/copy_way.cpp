// SPDX-License-Identifier: Apache-2.0
#include "readers/samples/copy_way.hpp"

#include <charconv>

namespace gradway {
namespace {

constexpr int largest_number = 1024;

/// Removes a number from the front of a text. Empty if it is not a GPU's number or a count of GPUs.
std::optional<int> take_number(std::string_view& text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || number < 0 || number > largest_number) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

bool take(std::string_view& text, std::string_view start) {
  if (!text.starts_with(start)) return false;
  text.remove_prefix(start.size());
  return true;
}

/// Reads "h2d", "d2h" or both with '+' between, then "_x" and the number of GPUs.
std::vector<CopyWay> of_each_gpu(std::string_view name) {
  const bool in = take(name, "h2d");
  if (in) take(name, "+");
  const bool out = take(name, "d2h");
  const auto gpus = (in || out) && take(name, "_x") ? take_number(name) : std::nullopt;
  std::vector<CopyWay> copies;
  if (!gpus || !name.empty()) return copies;
  for (int gpu = 0; in && gpu < *gpus; ++gpu) copies.push_back({std::nullopt, gpu});
  for (int gpu = 0; out && gpu < *gpus; ++gpu) copies.push_back({gpu, std::nullopt});
  return copies;
}

/// Reads "h2d_0", "d2h_1", ... with '+' between.
std::vector<CopyWay> of_named_gpus(std::string_view name) {
  std::vector<CopyWay> copies;
  do {
    const bool in = take(name, "h2d_");
    const auto gpu = in || take(name, "d2h_") ? take_number(name) : std::nullopt;
    if (!gpu) return {};
    copies.push_back(in ? CopyWay{std::nullopt, gpu} : CopyWay{gpu, std::nullopt});
  } while (take(name, "+"));
  return name.empty() ? copies : std::vector<CopyWay>{};
}

std::vector<CopyWay> of_ring(std::string_view name) {
  const auto gpus = take(name, "ring_x") ? take_number(name) : std::nullopt;
  std::vector<CopyWay> copies;
  if (!gpus || *gpus < 2 || !name.empty()) return copies;
  for (int gpu = 0; gpu < *gpus; ++gpu) copies.push_back({gpu, (gpu + 1) % *gpus});
  return copies;
}

/// Reads "_0>1_2<>3".
std::vector<CopyWay> of_pairs(std::string_view name) {
  std::vector<CopyWay> copies;
  while (take(name, "_")) {
    const auto source = take_number(name);
    const bool is_mutual = take(name, "<");
    const auto target = take(name, ">") ? take_number(name) : std::nullopt;
    if (!source || !target || source == target) return {};
    copies.push_back({source, target});
    if (is_mutual) copies.push_back({target, source});
  }
  return name.empty() ? copies : std::vector<CopyWay>{};
}

}  // namespace

LinkRole CopyWay::role() const {
  if (!from) return LinkRole::to_gpu;
  if (!to) return LinkRole::from_gpu;
  return *from == *to ? LinkRole::same_gpu : LinkRole::peer;
}

std::vector<CopyWay> copies_of_pattern(std::string_view name) {
  if (take(name, "pairs") || take(name, "bidir")) return of_pairs(name);
  for (const auto read : {of_each_gpu, of_named_gpus, of_ring}) {
    if (auto copies = read(name); !copies.empty()) return copies;
  }
  return {};
}

}  // namespace gradway
