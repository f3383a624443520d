// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "observe/diagnose/job_run.hpp"
#include "sim/cost/calibration.hpp"
#include "sim/cost/nccl_settings.hpp"
#include "sim/nccl/communicator.hpp"
#include "sim/platform/platform.hpp"
#include "sim/platform/routes.hpp"
#include "sim/scenario/scenario.hpp"

namespace gradway {

struct ExpectedStep {
  Seconds low{};  ///< of the prediction interval
  Seconds time{};
  Seconds high{};
};

/// What the run is compared with: a platform with its calibration, and the scenario if one is given.
struct DiagnosisBasis {
  Platform platform;
  Calibration calibration;
  std::string platform_name;
  bool is_platform_assumed = false;  ///< chosen by the GPU and the number of ranks
  NcclSettings nccl{};
  std::optional<Precision> precision{};  ///< that is meant; empty: 16 bits
  std::optional<ExpectedStep> step{};    ///< predicted for the scenario
};

/// A way in which NCCL could run a collective more slowly.
enum class SlowWay : std::uint8_t {
  few_channels,  ///< the expected transport with the channels that were found
  shm,           ///< through host memory
  net,           ///< through the network stack
  low_latency,   ///< protocol LL
  tree,
};
inline constexpr int slow_ways = 5;

/// What messages call a way, and the settings by which NCCL takes it.
struct SlowWayFacts {
  std::string_view words;
  void (*set)(NcclSettings& settings);
};
const SlowWayFacts& facts_of(SlowWay way);

/// Predicts collectives of the job on the platform. Ranks fill node after node.
class CollectiveExpectations {
 public:
  /// @param basis must outlive this
  explicit CollectiveExpectations(const DiagnosisBasis& basis);

  /// Nanoseconds of a collective alone as expected; empty without transport or for unknown sizes.
  std::optional<double> time(const JobCollective& collective);
  /// The same if NCCL took this way, with the channels that were found.
  std::optional<double> time(const JobCollective& collective, SlowWay way);
  /// Channels of a large all-reduce of these ranks; 0 if unknown.
  int channels(int ranks);
  /// The same if NCCL took this way, with as many channels as it then chooses.
  int channels(int ranks, SlowWay way);
  /// Of kernels while a collective runs with as many channels, over their duration without it.
  double kernel_slow_down(int channels) const;
  /// "P2P", "SHM" or "NET" between ranks of a node.
  Transport transport(int ranks);

 private:
  struct Choice {
    int ranks;
    int way;  ///< -1: as expected
    int channels;
    auto operator<=>(const Choice&) const = default;
  };
  NcclSettings settings_of(const Choice& choice) const;
  int channels(const Choice& choice);
  const Communicator* communicator(const Choice& choice);
  std::optional<double> time(const JobCollective& collective, const Choice& choice);

  const DiagnosisBasis& basis_;
  Routes routes_;
  std::map<Choice, std::unique_ptr<Communicator>> communicators_;
};

}  // namespace gradway
