// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

#include "sim/scenario/scenario.hpp"
#include "sim/scenario/stage_in.hpp"

namespace gradway {

/// Time and money of a training, epoch by epoch, for one way of the samples to the GPUs.
struct WayIn {
  Seconds staging{};      ///< before the job starts
  Seconds first_batch{};  ///< of all ranks, from the start of staging or of the job
  Seconds first_epoch{};  ///< its length, without `staging`
  Seconds later_epoch{};
  Seconds catching_up{};     ///< of further epochs beyond `later_epoch`, as long as samples are being staged
  double usd_once = 0;       ///< requests, egress and writing of the copy; caches that are filled
  double usd_per_epoch = 0;  ///< requests and egress of reads
  double usd_per_s = 0;      ///< nodes, and keeping the dataset on its tiers

  /// @pre at least one epoch
  Seconds time_of(double epochs) const;
  double usd_of(double epochs) const;
};

/// The ways of a dataset that is staged, and the alternative: without staging.
struct WaysIn {
  StageInCopy copy;
  bool has_node_price = false;
  WayIn before;           ///< the job starts when the dataset is staged
  WayIn during;           ///< it is staged while the job trains
  WayIn direct;           ///< every epoch reads from the cold tier
  Seconds staged{};       ///< `during`: from the start of the job until all is staged
  double cold_reads = 0;  ///< `during`: share of the first epoch's reads that the cold tier serves

  const WayIn& chosen(StageIn when) const { return when == StageIn::before ? before : during; }
};

/// Simulates steps with all samples on the hot tier, all on the cold one, and several shares in between,
/// while the copy takes a part of both tiers: what loaders leave, or at least half. The epoch in which
/// samples are staged follows by integration. Samples that training reads from the cold tier are kept on the
/// hot one, and the copy skips them, so that each leaves the cold tier once. @source AWS, Amazon FSx for
/// Lustre and File Cache: files are loaded at their first read (lazy load) or ahead of it (lfs hsm_restore)
///
/// @return empty if the scenario stages nothing
std::optional<WaysIn> ways_in(const Scenario& scenario, std::string_view engine, int threads);

/// First number of epochs after which a way has taken no more time (USD) than another; empty: never.
std::optional<double> epochs_until_faster(const WayIn& way, const WayIn& rival);
std::optional<double> epochs_until_cheaper(const WayIn& way, const WayIn& rival);

}  // namespace gradway
