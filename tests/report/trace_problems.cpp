// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include "tests/report/trace_view.hpp"

namespace gradway::testing {
namespace {

using Json = nlohmann::json;

/// Required keys and types of each kind of event, in addition to "ph", "name", "pid" and "tid".
const std::map<std::string, std::map<std::string, Json::value_t>> required{
    {"M", {{"args", Json::value_t::object}}},
    {"X",
     {{"cat", Json::value_t::string},
      {"ts", Json::value_t::number_float},
      {"dur", Json::value_t::number_float},
      {"args", Json::value_t::object}}},
    {"C", {{"ts", Json::value_t::number_float}, {"args", Json::value_t::object}}},
    {"s",
     {{"cat", Json::value_t::string},
      {"ts", Json::value_t::number_float},
      {"id", Json::value_t::number_unsigned}}},
    {"f",
     {{"cat", Json::value_t::string},
      {"ts", Json::value_t::number_float},
      {"id", Json::value_t::number_unsigned},
      {"bp", Json::value_t::string}}},
};
const std::map<std::string, std::pair<std::string, Json::value_t>> metadata{
    {"process_name", {"name", Json::value_t::string}},
    {"process_labels", {"labels", Json::value_t::string}},
    {"process_sort_index", {"sort_index", Json::value_t::number_unsigned}},
    {"thread_name", {"name", Json::value_t::string}},
    {"thread_sort_index", {"sort_index", Json::value_t::number_unsigned}},
};

struct OpenSlice {
  std::int64_t start;
  std::int64_t end;
};

class Checker {
 public:
  std::vector<std::string> run(const Json& trace) {
    if (!trace.is_object() || !trace.contains("traceEvents") || !trace["traceEvents"].is_array())
      return {"no array of traceEvents"};
    for (const auto& event : trace["traceEvents"]) {
      if (has_shape(event)) take(event);
    }
    slices_nest();
    arrows_meet_slices();
    for (const auto& [id, arrow] : arrows_) {
      if (arrow.size() != 2) problems_.push_back("an arrow without its other end: " + std::to_string(id));
    }
    return problems_;
  }

 private:
  void complain(const std::string& what, const Json& event) {
    problems_.push_back(what + ": " + event.dump());
  }

  bool has_shape(const Json& event) {
    const auto is = [&](const char* key, Json::value_t type) {
      return event.contains(key) && event[key].type() == type;
    };
    using enum Json::value_t;
    if (!event.is_object() || !is("ph", string) || !is("name", string) || !is("pid", number_unsigned) ||
        !is("tid", number_unsigned)) {
      complain("lacks what every event has", event);
      return false;
    }
    const auto kind = required.find(event["ph"].get<std::string>());
    if (kind == required.end()) {
      complain("an unknown kind", event);
      return false;
    }
    for (const auto& [key, type] : kind->second) {
      if (is(key.c_str(), type)) continue;
      complain("lacks " + key, event);
      return false;
    }
    if (event.contains("ts") && event["ts"] < 0) complain("before the start", event);
    if (event["name"].get<std::string>().empty()) complain("an empty name", event);
    return true;
  }

  void take(const Json& event) {
    const auto kind = event["ph"].get<std::string>();
    const int process = event["pid"];
    const std::int64_t thread = event["tid"];
    if (kind == "M") return take_metadata(event, process, thread);
    if (!named_processes_.contains(process)) complain("its process has no name yet", event);
    if (kind == "C") {
      for (const auto& value : event["args"])
        if (!value.is_number() || value < 0 || value > 100 * (1 + 1e-6)) complain("not a share", event);
      const auto [last, is_new] = counter_dates_.try_emplace({process, event["name"]}, -1);
      if (imported_ns(event["ts"]) <= last->second) complain("a counter that goes back", event);
      last->second = imported_ns(event["ts"]);
      return;
    }
    if (!named_threads_.contains(thread)) complain("its thread has no name yet", event);
    if (named_threads_[thread] != process) complain("its thread is of another process", event);
    const auto start = imported_ns(event["ts"]);
    if (kind == "X") {
      if (imported_ns(event["dur"]) < 1) complain("no duration", event);
      slices_[thread].push_back({start, start + imported_ns(event["dur"])});
      return;
    }
    if (kind == "f" && event["bp"] != "e") complain("an arrow that does not end in its slice", event);
    arrows_[event["id"]].push_back(event);
  }

  void take_metadata(const Json& event, int process, std::int64_t thread) {
    const auto name = event["name"].get<std::string>();
    const auto known = metadata.find(name);
    if (known == metadata.end()) return complain("unknown metadata", event);
    const auto& [key, type] = known->second;
    if (!event["args"].contains(key) || event["args"][key].type() != type)
      return complain("lacks " + key, event);
    if (name == "process_name" && !named_processes_.insert(process).second)
      complain("a second name for a process", event);
    if (name == "thread_name" && !named_threads_.try_emplace(thread, process).second)
      complain("a second thread of that id", event);
  }

  void slices_nest() {
    for (auto& [thread, slices] : slices_) {
      std::ranges::stable_sort(slices, [](const OpenSlice& a, const OpenSlice& b) {
        return std::pair{a.start, -a.end} < std::pair{b.start, -b.end};
      });
      std::vector<OpenSlice> open;
      for (const auto& slice : slices) {
        while (!open.empty() && open.back().end <= slice.start) open.pop_back();
        if (!open.empty() && open.back().end < slice.end)
          problems_.push_back("slices that overlap in thread " + std::to_string(thread) + " at " +
                              std::to_string(slice.start) + " ns");
        open.push_back(slice);
      }
    }
  }

  void arrows_meet_slices() {
    for (const auto& [id, arrow] : arrows_) {
      for (const auto& event : arrow) {
        const auto at = imported_ns(event["ts"]);
        const bool ends = event["ph"] == "f";
        const auto& slices = slices_[event["tid"]];
        const auto is_there = [&](const OpenSlice& slice) {
          return ends ? slice.start == at : slice.start <= at && at < slice.end;
        };
        if (std::ranges::none_of(slices, is_there)) complain("an arrow that meets no slice", event);
      }
      if (arrow.size() != 2) continue;
      const auto& [start, end] = std::tie(arrow[0], arrow[1]);
      if (start["ph"] != "s" || end["ph"] != "f") complain("an arrow of two ends of a kind", start);
      if (start["name"] != end["name"] || start["cat"] != end["cat"]) complain("two arrows of one id", start);
      if (start["ts"] > end["ts"]) complain("an arrow back in time", start);
    }
  }

  std::vector<std::string> problems_;
  std::set<int> named_processes_;
  std::map<std::int64_t, int> named_threads_;
  std::map<std::int64_t, std::vector<OpenSlice>> slices_;
  std::map<std::uint64_t, std::vector<Json>> arrows_;
  std::map<std::pair<int, std::string>, std::int64_t> counter_dates_;
};

}  // namespace

std::int64_t imported_ns(const Json& microseconds) {
  return static_cast<std::int64_t>(microseconds.get<double>() * 1000.0);
}

std::vector<std::string> trace_problems(const Json& trace) {
  return Checker{}.run(trace);
}

}  // namespace gradway::testing
