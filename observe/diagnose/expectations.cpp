// SPDX-License-Identifier: Apache-2.0
#include "observe/diagnose/expectations.hpp"

#include <algorithm>
#include <numeric>

#include "sim/base/problem.hpp"
#include "sim/cost/contention.hpp"
#include "sim/nccl/alone_time.hpp"

namespace gradway {
const SlowWayFacts& facts_of(SlowWay way) {
  static constexpr std::array<SlowWayFacts, slow_ways> facts{
      {{"over few channels", [](NcclSettings&) {}},
       {"through host memory (SHM)", [](NcclSettings& settings) { settings.p2p_disable = true; }},
       {"through the network stack (NET)",
        [](NcclSettings& settings) { settings.p2p_disable = settings.shm_disable = true; }},
       {"with the protocol LL", [](NcclSettings& settings) { settings.proto = "LL"; }},
       {"along trees", [](NcclSettings& settings) { settings.algo = "TREE"; }}}};
  return facts[static_cast<std::size_t>(way)];
}

CollectiveExpectations::CollectiveExpectations(const DiagnosisBasis& basis)
    : basis_{basis}, routes_{basis.platform} {}

NcclSettings CollectiveExpectations::settings_of(const Choice& choice) const {
  auto settings = basis_.nccl;
  if (choice.way >= 0) facts_of(static_cast<SlowWay>(choice.way)).set(settings);
  if (choice.channels > 0) settings.max_channels = choice.channels;
  // NVLS needs three GPUs. @source NCCL 2.28.9, src/transport/nvls.cc (ncclNvlsInit)
  if (choice.ranks < 3 || choice.way >= 0) settings.nvls = false;
  return settings;
}

const Communicator* CollectiveExpectations::communicator(const Choice& choice) {
  auto& known = communicators_[choice];
  if (known != nullptr) return known.get();
  if (choice.ranks < 2 || static_cast<std::size_t>(choice.ranks) > basis_.platform.gpus.size())
    return nullptr;
  GpuNumbers gpus(static_cast<std::size_t>(choice.ranks));
  std::iota(gpus.begin(), gpus.end(), std::size_t{0});
  try {
    known = std::make_unique<Communicator>(routes_, settings_of(choice), basis_.calibration, std::move(gpus));
  } catch (const ConfigError&) {
    return nullptr;  // No transport, or no plan that the settings allow.
  }
  return known.get();
}

std::optional<double> CollectiveExpectations::time(const JobCollective& collective, const Choice& choice) {
  const auto* const chosen = communicator(choice);
  if (chosen == nullptr || collective.bytes <= 0) return std::nullopt;
  try {
    return time_alone(chosen->lower(collective.kind, Bytes{collective.bytes}), basis_.platform).value() * 1e9;
  } catch (const ConfigError&) {
    return std::nullopt;
  }
}

std::optional<double> CollectiveExpectations::time(const JobCollective& collective) {
  return time(collective, Choice{collective.ranks, -1, 0});
}

std::optional<double> CollectiveExpectations::time(const JobCollective& collective, SlowWay way) {
  return time(collective, Choice{collective.ranks, static_cast<int>(way), collective.channels});
}

int CollectiveExpectations::channels(const Choice& choice) {
  const auto* const chosen = communicator(choice);
  return chosen == nullptr ? 0 : search_channels(chosen->facts(), settings_of(choice)).count;
}

int CollectiveExpectations::channels(int ranks) {
  return channels(Choice{ranks, -1, 0});
}

int CollectiveExpectations::channels(int ranks, SlowWay way) {
  return channels(Choice{ranks, static_cast<int>(way), 0});
}

double CollectiveExpectations::kernel_slow_down(int channels) const {
  return wave_slowdown({}, basis_.platform.gpu_models.front().multiprocessors, channels);
}

Transport CollectiveExpectations::transport(int ranks) {
  const auto* const expected = communicator({ranks, -1, 0});
  return expected == nullptr ? Transport::none : expected->facts().transport;
}

}  // namespace gradway
