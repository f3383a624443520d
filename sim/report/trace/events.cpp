// SPDX-License-Identifier: Apache-2.0
#include "sim/report/trace/events.hpp"

#include <ostream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/report/format/json_document.hpp"

namespace gradway::report {

std::string json_text(std::string_view text) {
  return serialized(nlohmann::json(text));
}

std::string trace_time(std::int64_t nanoseconds) {
  const auto read_back = static_cast<std::int64_t>(static_cast<double>(nanoseconds) / 1000 * 1000);
  return fmt::format("{}.{:03}{}", nanoseconds / 1000, nanoseconds % 1000,
                     read_back == nanoseconds ? "" : "1");
}

void TraceEvents::process(std::size_t id, std::size_t position, std::string_view name,
                          std::string_view labels) {
  metadata("process_name", {id, id}, fmt::format(R"("name":{})", json_text(name)));
  if (!labels.empty()) metadata("process_labels", {id, id}, fmt::format(R"("labels":{})", json_text(labels)));
  metadata("process_sort_index", {id, id}, fmt::format(R"("sort_index":{})", position));
}

void TraceEvents::thread(TraceThread thread, std::string_view name) {
  metadata("thread_name", thread, fmt::format(R"("name":{})", json_text(name)));
  metadata("thread_sort_index", thread, fmt::format(R"("sort_index":{})", thread.thread));
}

void TraceEvents::slice(TraceThread thread, std::string_view name_json, std::string_view category,
                        std::int64_t start_ns, std::int64_t end_ns, std::string_view args_json) {
  event(fmt::format(R"({{"ph":"X","name":{},"cat":"{}","pid":{},"tid":{},"ts":{},"dur":{},"args":{{{}}}}})",
                    name_json, category, thread.process, thread.thread, trace_time(start_ns),
                    trace_time(end_ns - start_ns), args_json));
}

void TraceEvents::counter(TraceThread thread, std::string_view name_json, std::int64_t at_ns,
                          std::string_view values_json) {
  event(fmt::format(R"({{"ph":"C","name":{},"pid":{},"tid":{},"ts":{},"args":{{{}}}}})", name_json,
                    thread.process, thread.thread, trace_time(at_ns), values_json));
}

void TraceEvents::arrow(std::string_view name_json, TraceThread from, std::int64_t end_ns, TraceThread to,
                        std::int64_t start_ns) {
  const auto id = ++arrows_;
  // The arrow starts in the last nanosecond, because the end is outside the slice.
  event(fmt::format(R"({{"ph":"s","name":{},"cat":"arrow","id":{},"pid":{},"tid":{},"ts":{}}})", name_json,
                    id, from.process, from.thread, trace_time(end_ns - 1)));
  event(fmt::format(R"({{"ph":"f","bp":"e","name":{},"cat":"arrow","id":{},"pid":{},"tid":{},"ts":{}}})",
                    name_json, id, to.process, to.thread, trace_time(start_ns)));
}

void TraceEvents::metadata(std::string_view name, TraceThread thread, const std::string& arg) {
  event(fmt::format(R"({{"ph":"M","name":"{}","pid":{},"tid":{},"args":{{{}}}}})", name, thread.process,
                    thread.thread, arg));
}

void TraceEvents::event(const std::string& text) {
  out_ << (first_ ? "\n" : ",\n") << text;
  first_ = false;
}

}  // namespace gradway::report
