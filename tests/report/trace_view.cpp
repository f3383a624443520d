// SPDX-License-Identifier: Apache-2.0
#include "tests/report/trace_view.hpp"

#include <algorithm>
#include <regex>
#include <sstream>

#include "sim/report/trace/trace.hpp"

namespace gradway::testing {
namespace {

using Json = nlohmann::json;

std::int64_t rounded_ns(const Json& microseconds) {
  return std::llround(microseconds.get<double>() * 1e3);
}

}  // namespace

std::int64_t covered_ns(std::vector<Stretch> stretches, Stretch window) {
  std::ranges::sort(stretches);
  std::int64_t sum = 0;
  auto until = window.first;
  for (const auto& [start, end] : stretches) {
    const auto from = std::max(start, until);
    const auto to = std::min(end, window.second);
    if (to > from) sum += to - from;
    until = std::max(until, to);
  }
  return sum;
}

double integral(const Series& series, Stretch window) {
  double sum = 0;
  for (std::size_t i = 0; i < series.size(); ++i) {
    const auto from = std::max(series[i].first, window.first);
    const auto to = i + 1 < series.size() ? std::min(series[i + 1].first, window.second) : window.second;
    if (to > from) sum += series[i].second * 1e-9 * static_cast<double>(to - from);
  }
  return sum;
}

TraceView::TraceView(Json trace) : trace_(std::move(trace)) {
  std::map<int, std::string> processes;
  std::map<std::pair<int, int>, std::string> threads;
  for (const auto& event : events("M")) {
    if (event["name"] == "process_name") processes[event["pid"]] = event["args"]["name"];
    if (event["name"] == "thread_name") threads[{event["pid"], event["tid"]}] = event["args"]["name"];
  }
  const std::regex row{R"(rank (\d+) \(.*?\): (.*?)( \(\d+\))?)"};
  for (const auto& event : events("X")) {
    SeenSlice slice;
    slice.process = processes[event["pid"]];
    slice.track = threads[{event["pid"], event["tid"]}];
    std::smatch match;
    const auto name = slice.track;
    if (std::regex_match(name, match, row)) {
      slice.rank = std::stoi(match[1]);
      slice.track = match[2];
    }
    slice.name = event["name"];
    slice.category = event["cat"];
    slice.args = event["args"];
    const auto start = rounded_ns(event["ts"]);
    slice.when = {start, start + rounded_ns(event["dur"])};
    slices_.push_back(std::move(slice));
  }
  for (const auto& event : events("C")) {
    for (const auto& [key, value] : event["args"].items()) {
      auto name = processes[event["pid"]] + " | " + event["name"].get<std::string>() + " | " + key;
      counters_[std::move(name)].emplace_back(rounded_ns(event["ts"]), value);
    }
  }
}

std::vector<Json> TraceView::events(std::string_view kind) const {
  std::vector<Json> found;
  for (const auto& event : trace_["traceEvents"]) {
    if (event["ph"] == kind) found.push_back(event);
  }
  return found;
}

Stretch TraceView::reported() const {
  for (const auto& slice : slices_) {
    if (slice.track == "steps" && slice.name.ends_with(", reported")) return slice.when;
  }
  return {};
}

TraceView trace_of(const Run& run) {
  std::ostringstream out;
  report::write_trace(out, run);
  return TraceView{Json::parse(out.str())};
}

}  // namespace gradway::testing
