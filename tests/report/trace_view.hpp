// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "sim/run/simulate.hpp"

/// Traces as a viewer reads them.
namespace gradway::testing {

using Stretch = std::pair<std::int64_t, std::int64_t>;  ///< start and end, in nanoseconds

/// Time covered by at least one interval, within a window.
std::int64_t covered_ns(std::vector<Stretch> stretches, Stretch window);

/// A slice with the names of its row.
struct SeenSlice {
  std::string process;
  int rank = -1;  ///< -1: the run itself
  std::string track;
  std::string name;
  std::string category;
  Stretch when;
  nlohmann::json args;
};

/// Values that each hold until the next.
using Series = std::vector<std::pair<std::int64_t, double>>;

/// Integral of a series over a window, in units of its values times seconds.
double integral(const Series& series, Stretch window);

class TraceView {
 public:
  explicit TraceView(nlohmann::json trace);

  const nlohmann::json& json() const { return trace_; }
  std::vector<nlohmann::json> events(std::string_view kind) const;
  const std::vector<SeenSlice>& slices() const { return slices_; }
  /// Intervals of the slices of a rank that `wanted` accepts.
  template <class Wanted>
  std::vector<Stretch> stretches(int rank, Wanted wanted) const {
    std::vector<Stretch> found;
    for (const auto& slice : slices_)
      if (slice.rank == rank && wanted(slice)) found.push_back(slice.when);
    return found;
  }
  /// The reported step.
  Stretch reported() const;
  /// By process, name and key: "node 0: 2 x ideal | gpu0 -> gpu1 | %".
  const std::map<std::string, Series>& counters() const { return counters_; }

 private:
  nlohmann::json trace_;
  std::vector<SeenSlice> slices_;
  std::map<std::string, Series> counters_;
};

TraceView trace_of(const Run& run);

/// A time or duration of an event in nanoseconds, as Perfetto's importer reads it.
std::int64_t imported_ns(const nlohmann::json& microseconds);

/// Problems that Perfetto's importer and chrome://tracing would reject or show wrongly; empty if there are
/// none.
/// @source "Trace Event Format" (Duca and Sinclair); perfetto, src/trace_processor/importers/json and
/// importers/common/{slice,flow}_tracker.cc: slices of a thread nest, an arrow starts and ends where a slice
/// of its thread is open, threads are distinguished by their ids alone
std::vector<std::string> trace_problems(const nlohmann::json& trace);

}  // namespace gradway::testing
