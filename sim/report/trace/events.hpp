// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>

namespace gradway::report {

/// Text as a JSON string, quotes included.
std::string json_text(std::string_view text);

/// Nanoseconds as the microseconds of a trace: "12.345".
/// Perfetto's importer multiplies by 1000 and truncates the fraction
/// (src/trace_processor/importers/json/json_utils.cc), so that 0.001 us more or less decide whether two
/// slices overlap. Where rounding would make it lose a nanosecond, a tenth of one is added: "0.2571".
std::string trace_time(std::int64_t nanoseconds);

/// A row of a trace. Thread ids are unique in a trace, because Perfetto merges threads of equal ids even
/// across processes.
struct TraceThread {
  std::size_t process = 0;
  std::size_t thread = 0;
};

/// Writes events of the Trace Event Format one per line, without a document in memory. Arguments named `json`
/// are written unchanged.
class TraceEvents {
 public:
  explicit TraceEvents(std::ostream& out) : out_{out} {}

  /// A process and its position. @param labels shown after its name; may be empty
  void process(std::size_t id, std::size_t position, std::string_view name, std::string_view labels = {});
  /// A row. Rows of a process are sorted by id.
  void thread(TraceThread thread, std::string_view name);
  /// @param args_json the members of an object
  void slice(TraceThread thread, std::string_view name_json, std::string_view category, std::int64_t start_ns,
             std::int64_t end_ns, std::string_view args_json);
  /// A value that holds until the next one of that name. @param thread any of the process
  void counter(TraceThread thread, std::string_view name_json, std::int64_t at_ns,
               std::string_view values_json);
  /// An arrow from the end of a slice that was written to the start of another, each in its thread.
  void arrow(std::string_view name_json, TraceThread from, std::int64_t end_ns, TraceThread to,
             std::int64_t start_ns);

 private:
  void metadata(std::string_view name, TraceThread thread, const std::string& arg);
  void event(const std::string& text);

  std::ostream& out_;
  bool first_ = true;
  std::size_t arrows_ = 0;
};

}  // namespace gradway::report
