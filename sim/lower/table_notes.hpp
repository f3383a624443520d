// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "sim/cost/basis.hpp"
#include "sim/cost/collective_table.hpp"

namespace gradway {

/// What a time was looked up for.
struct TableQuestion {
  CollectiveKind kind = CollectiveKind::all_reduce;
  Transport transport = Transport::p2p;
  int ranks = 0;
  int nodes = 1;
};

/// What the collectives of a run rest on, and what to know before trusting it; each thing is told once.
class CollectiveNotes {
 public:
  void rests_on(Basis on, std::string text) {
    weakest_ = std::max(weakest_, on);
    add(basis_, std::move(text));
  }
  void warn(std::string text) { add(warnings_, std::move(text)); }

  /// Tells which table was used, of which day, how well it fits and how far off it is between its sizes; and
  /// warns of all about it that was not measured.
  void rests_on(const TableUse& use, const TableQuestion& question, const Calibration& calibration);

  const std::vector<std::string>& basis() const { return basis_; }
  Basis weakest() const { return weakest_; }  ///< of all that was told
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  static void add(std::vector<std::string>& list, std::string text);

  std::vector<TableUse> told_;  ///< spares making texts that stand there already
  Basis weakest_ = Basis::given;
  std::vector<std::string> basis_;
  std::vector<std::string> warnings_;
};

}  // namespace gradway
