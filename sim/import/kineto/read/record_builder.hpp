// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "sim/import/kineto/read/raw_event.hpp"

namespace gradway {

/// A value of a trace's JSON.
struct JsonValue {
  std::string_view text{};  ///< of a string, or a number that has a point as it stands in the file
  std::int64_t number = 0;  ///< of a number, cut to a whole one; of a string of digits
  bool is_string = false;
  bool is_number = false;
};

/// Puts the values of one JSON object after the other into records. Depths count from the record's own
/// braces: its keys have depth 0, those of "args" depth 1, the items of a list in there depth 2.
class EventBuilder {
 public:
  /// @param file tells places; must outlive this
  explicit EventBuilder(CompressedFile& file) : file_{&file} {}

  void begin();
  /// @throws ConfigError if the record has the key already and it means something
  void key(int depth, std::string_view name);
  void value(int depth, const JsonValue& value);
  void begin_list(int depth);  ///< `depth` of its items
  void end_list(int depth);
  const RawEvent& event() const { return event_; }

 private:
  enum class Field { none, phase, category, name, process, thread, start, duration, arguments };
  enum class Argument {
    none,
    external,
    sequence,
    correlation,
    device,
    stream,
    bytes,
    allocated,
    address,
    device_type,
    registers,
    shared,
    grid,
    block,
    shapes,
    types,
    values
  };
  void record_value(const JsonValue& value);
  void argument_value(const JsonValue& value);
  void item(const JsonValue& value);
  void dimension(std::int64_t size);
  std::optional<std::int64_t> time(std::string_view key, const JsonValue& value, std::int64_t most);
  void see(std::size_t key, std::string_view name);

  CompressedFile* file_;
  RawEvent event_;
  std::uint64_t seen_ = 0;  ///< a bit for each key
  Field field_ = Field::none;
  Argument argument_ = Argument::none;
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
