// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sim/base/problem.hpp"
#include "sim/files/compressed_file.hpp"

namespace gradway {

/// What stands in the place of a time and is none.
struct WrongTime {
  std::string_view key;
  std::string value;  ///< empty if it is neither a number nor a text
  Where where;
};

/// An event of a trace as it stands in the file; reused from event to event, so that reading allocates
/// nothing. What an event lacks is empty or zero.
struct RawEvent {
  Position at;               ///< its brace in the file
  bool is_complete = false;  ///< has a duration ("ph": "X")
  std::string category;
  std::string name;
  std::int64_t process = 0;
  std::int64_t thread = 0;
  std::optional<std::int64_t> start;  ///< nanoseconds; nothing if it has none that can be
  std::optional<std::int64_t> duration;
  std::optional<WrongTime> wrong_time;  ///< why
  std::int64_t external = 0;
  std::int64_t sequence = 0;
  std::int64_t correlation = 0;
  std::int64_t device = 0;
  std::int64_t stream = 0;
  std::int64_t bytes = 0;
  std::int64_t allocated = 0;  ///< bytes; given back if negative
  std::int64_t address = 0;
  std::int64_t device_type = 0;
  std::int64_t registers = 0;
  std::int64_t shared = 0;
  std::int64_t blocks = 0;   ///< product of the grid
  std::int64_t threads = 0;  ///< product of the block
  bool has_shapes = false;
  std::string shapes;  ///< "[[32,3],[],[[1,2],[3]]]": of operands, or of the tensors of a list
  std::string types;   ///< each with a line break behind it
  std::string values;

  void clear();
};

/// A device as the trace describes it.
struct RawDevice {
  std::string name;
  std::int64_t id = 0;
  std::int64_t major = 0;
  std::int64_t minor = 0;
  std::int64_t threads = 0;
  std::int64_t registers = 0;
  std::int64_t shared = 0;
};

/// What a reader of traces hands on, in the order of the file.
class TraceSink {
 public:
  virtual ~TraceSink() = default;
  virtual void event(const RawEvent& event) = 0;
  virtual void device(const RawDevice& device) = 0;
};

}  // namespace gradway
