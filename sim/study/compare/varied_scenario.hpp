// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/config/config.hpp"
#include "sim/study/ask/ask.hpp"
#include "sim/study/compare/sweep.hpp"

namespace gradway {

/// A scenario with several values of some keys.
struct VariedScenario {
  std::string scenario;
  std::vector<Override> fixed;
  std::vector<Axis> axes;
  DataPath data;
  PriceChoice price;

  /// The overrides of a point. The place of a value is its option, "--vary job.gpus=4".
  /// @param values one per axis
  std::vector<Override> overrides_of(const std::vector<std::string>& values) const;
  /// @throws ConfigError for values that the scenario cannot have
  Scenario at(const std::vector<std::string>& values) const;

  /// Finds the errors that concern a value at every point that has it, such as a typing error, and those that
  /// concern no value and occur at every point, before any point runs. Errors at some points only are left to
  /// these points: a value of one axis may be incompatible with some values of another.
  /// @throws ConfigError with each of these errors once, and for a key that is set and varied
  void check() const;
};

/// Simulates points of a sweep. Thread-safe.
class Sweeper {
 public:
  /// @param program identifies the build, on which results depend
  /// @throws ConfigError as `VariedScenario::check` does
  Sweeper(VariedScenario varied, std::string engine, FoldRanks fold, std::string_view program);

  const std::vector<Axis>& axes() const { return varied_.axes; }
  /// The name of the scenario's file.
  std::string name() const;

  /// A digest of everything that the sweep depends on except the program: its options, and the files that its
  /// first values name.
  std::string settings_digest() const;

  /// Simulates a point unless its result is known.
  /// @param is_known whether there is a result with this key, which is a digest of everything that it depends
  /// on: the program, its input and its options
  /// @param take gets the key and the run
  void answer(const std::vector<std::string>& values,
              const std::function<bool(const std::string& key)>& is_known,
              const std::function<void(const std::string& key, const Run& run)>& take);

 private:
  std::string_view folding() const { return fold_ == FoldRanks::no ? "all ranks" : "folded"; }

  VariedScenario varied_;
  std::string engine_;
  FoldRanks fold_;
  std::string_view program_;
  TimelineCache timelines_;
};

}  // namespace gradway
