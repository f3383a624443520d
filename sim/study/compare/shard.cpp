// SPDX-License-Identifier: Apache-2.0
#include "sim/study/compare/shard.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "sim/base/contract.hpp"
#include "sim/base/random.hpp"
#include "sim/base/refuse.hpp"

namespace gradway {
namespace {

constexpr std::size_t most_shards = 100'000;

std::optional<Shard> shard_in(std::string_view text) {
  Shard shard;
  const auto* end = text.data() + text.size();
  const auto [slash, first_error] = std::from_chars(text.data(), end, shard.number);
  if (first_error != std::errc{} || slash == end || *slash != '/') return std::nullopt;
  const auto [rest, second_error] = std::from_chars(slash + 1, end, shard.of);
  return second_error == std::errc{} && rest == end ? std::optional{shard} : std::nullopt;
}

}  // namespace

Shard parse_shard(const std::string& text) {
  const auto shard = shard_in(text);
  if (!shard)
    refuse(fmt::format("'--shard {}' is not a shard", text),
           "write '--shard I/N', such as '--shard 3/8' for the third of eight shards");
  if (shard->number < 1 || shard->number > shard->of || shard->of > most_shards)
    refuse(shard->of > most_shards ? fmt::format("'--shard {}' has too many shards", text)
                                   : fmt::format("'--shard {}' does not exist", text),
           shard->of > most_shards
               ? fmt::format("the largest number of shards is {}", most_shards)
               : fmt::format("shards count from 1: '--shard 1/{0}' is the first, '--shard {0}/{0}' the last",
                             std::max<std::size_t>(shard->of, 1)));
  return *shard;
}

std::string in_words(const Shard& shard) {
  return fmt::format("shard {} of {}", shard.number, shard.of);
}

std::vector<std::size_t> points_of(const Shard& shard, std::size_t point_count) {
  expects(shard.number >= 1 && shard.number <= shard.of, "the shard exists");
  std::vector<std::pair<double, std::size_t>> dealt(point_count);
  for (std::size_t i = 0; i < point_count; ++i) dealt[i] = {Random{i, RandomStream::shards}.uniform(), i};
  std::ranges::sort(dealt);
  std::vector<std::size_t> points;
  for (auto i = shard.number - 1; i < point_count; i += shard.of) points.push_back(dealt[i].second);
  std::ranges::sort(points);
  return points;
}

}  // namespace gradway
