// SPDX-License-Identifier: Apache-2.0
#include "calibration/harness/world.hpp"

#include <charconv>
#include <cstring>
#include <stdexcept>

#include <fmt/format.h>

namespace gradway::probe {
namespace {

constexpr int most = 1 << 20;

int number(const std::function<const char*(const char*)>& variable, const char* name, int least,
           int largest) {
  const char* text = variable(name);
  if (text == nullptr) {
    throw std::invalid_argument{fmt::format(
        "RANK is set, but {} is not: start all ranks with torchrun, or unset RANK to measure one node",
        name)};
  }
  int value = 0;
  const auto* const text_end = text + std::strlen(text);
  const auto [end, error] = std::from_chars(text, text_end, value);
  if (error != std::errc{} || end != text_end || value < least || value > largest) {
    throw std::invalid_argument{
        fmt::format("{} is '{}': expected a number from {} to {}", name, text, least, largest)};
  }
  return value;
}

}  // namespace

std::optional<World> read_world(const std::function<const char*(const char*)>& variable) {
  if (variable("RANK") == nullptr) return std::nullopt;
  World world;
  world.ranks = number(variable, "WORLD_SIZE", 1, most);
  world.rank = number(variable, "RANK", 0, world.ranks - 1);
  world.local_ranks = number(variable, "LOCAL_WORLD_SIZE", 1, world.ranks);
  world.local_rank = number(variable, "LOCAL_RANK", 0, world.local_ranks - 1);
  constexpr int ports = 65535;
  constexpr int ports_of_jobs = 32;
  world.port = number(variable, "MASTER_PORT", 1, ports - ports_of_jobs);
  const char* host = variable("MASTER_ADDR");
  if (host == nullptr || *host == '\0')
    throw std::invalid_argument{"RANK is set, but MASTER_ADDR is not: start all ranks with torchrun"};
  world.host = host;
  if (world.ranks % world.local_ranks != 0) {
    throw std::invalid_argument{
        fmt::format("{} ranks are not divisible by {} per node: start the same number on each node",
                    world.ranks, world.local_ranks)};
  }
  return world;
}

}  // namespace gradway::probe
