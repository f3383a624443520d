// SPDX-License-Identifier: Apache-2.0
// Variables of NCCL without effect on any collective of the job's GPUs.
#include <algorithm>
#include <numeric>
#include <string_view>

#include <fmt/format.h>

#include "sim/config/check/check.hpp"
#include "sim/nccl/communicator.hpp"

namespace gradway::config {
namespace {

bool are_equal(const LoweredCollective& a, const LoweredCollective& b) {
  return a.latency == b.latency &&
         std::ranges::equal(a.flows, b.flows, [](const CollectiveFlow& flow, const CollectiveFlow& other) {
           return flow.amount == other.amount && flow.cap == other.cap &&
                  std::ranges::equal(flow.path, other.path);
         });
}

/// Whether NCCL carries out all collectives in the same way. Pairs of many ranks take long to map to links.
bool do_the_same(const Communicator& a, const Communicator& b, std::size_t ranks) {
  constexpr std::size_t many = 128;
  using enum CollectiveKind;
  for (const auto kind : {all_reduce, all_gather, all_to_all})
    for (const auto size : {16_KiB, 1_MiB, 256_MiB})
      if ((kind != all_to_all || ranks <= many) && !are_equal(a.lower(kind, size), b.lower(kind, size)))
        return false;
  return true;
}

/// Lists of what NCCL may choose, and switches that turn something off, say what holds where NCCL does so
/// anyway.
bool may_state_what_holds(std::string_view name, std::string_view value) {
  if (name == "NCCL_ALGO" || name == "NCCL_PROTO" || name.ends_with("_DISABLE")) return true;
  return value == "0" && (name == "NCCL_NVLS_ENABLE" || name.starts_with("NCCL_NET_GDR_"));
}

}  // namespace

void check_nccl_effects(const ScenarioSpec& scenario, const Platform& platform,
                        const Calibration& calibration, Problems& problems) {
  const auto& variables = scenario.job.nccl;
  const auto settings = nccl_settings(variables);
  if (settings == NcclSettings{}) return;
  const Routes routes{platform};
  const auto count = static_cast<std::size_t>(scenario.job.gpus);
  const auto communicator = [&](const NcclSettings& of) {
    GpuNumbers gpus(count);
    std::iota(gpus.begin(), gpus.end(), std::size_t{0});
    return Communicator{routes, of, calibration, std::move(gpus)};
  };
  const bool hashes = platform.network && platform.network->spread < 1;
  for (const auto& [name, value] : variables) {
    auto rest = variables;
    rest.erase(name);
    const auto without = nccl_settings(rest);
    const auto key = fmt::format("nccl.{}", name);
    if (may_state_what_holds(name, value) || without == settings || !must_have_effect(scenario, key))
      continue;
    if (hashes && without.queue_pairs != settings.queue_pairs) continue;
    try {
      if (count > 1 && !do_the_same(communicator(settings), communicator(without), count)) continue;
    } catch (const ConfigError&) {
      continue;  // a plan that NCCL cannot carry out, which is reported when the job is simulated
    }
    problems.add(Problem{
        scenario.place(key),
        fmt::format("{} {} has no effect: NCCL does the same without it on these {} GPUs", key, value, count),
        {},
        "leave it out"});
  }
}

}  // namespace gradway::config
