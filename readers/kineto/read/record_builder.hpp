// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string_view>

#include "readers/kineto/read/raw_event.hpp"
#include "readers/kineto/read/trace_text.hpp"

namespace gradway {

/// A value of a trace's JSON.
struct JsonValue {
  std::string_view text{};  ///< A string, or a number with a decimal point as written in the file.
  /// A number without its fraction, or the number that a string of digits stands for.
  std::int64_t number = 0;
  bool is_string = false;
  bool is_number = false;
};

inline bool has_exponent(std::string_view number) {
  return std::ranges::any_of(number, [](char c) { return c == 'e' || c == 'E'; });
}

/// Builds events from JSON objects. Depths count from the braces of the event: its keys have depth 0, those
/// of "args" depth 1, the items of a list in "args" depth 2.
class EventBuilder {
 public:
  /// gives places for errors; must outlive this
  explicit EventBuilder(const TraceText& text) : text_of_trace_{&text} {}

  void begin();
  /// if a key that is used occurs twice in the event
  void key(int depth, std::string_view name);
  void value(int depth, const JsonValue& value);
  void begin_list(int depth);  ///< @param depth of its items.
  void end_list(int depth);
  const RawEvent& event() const { return event_; }

 private:
  enum class Field { none, phase, category, name, process, thread, start, duration, arguments };
  enum class Argument { none, number, text, grid, block, shapes, types, values };

  void record_value(const JsonValue& value);
  void item(const JsonValue& value);
  void dimension(std::int64_t size);
  std::optional<std::int64_t> time(std::string_view key, const JsonValue& value, std::int64_t most);
  void mark_seen(std::size_t key, std::string_view name);

  const TraceText* text_of_trace_;
  RawEvent event_;
  std::uint64_t seen_ = 0;  ///< One bit per key.
  Field field_ = Field::none;
  Argument argument_ = Argument::none;
  std::int64_t RawEvent::*number_ = nullptr;  ///< Set for Argument::number.
  std::string RawEvent::*text_ = nullptr;     ///< Set for Argument::text.
};

class DeviceBuilder {
 public:
  void begin() { device_ = {}; }
  void key(int depth, std::string_view name);
  void value(int depth, const JsonValue& value);
  const RawDevice& device() const { return device_; }

 private:
  RawDevice device_;
  bool is_name_ = false;
  std::int64_t RawDevice::*field_ = nullptr;
};

}  // namespace gradway
