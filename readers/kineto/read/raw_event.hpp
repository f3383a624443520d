// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "readers/kineto/read/trace.hpp"
#include "sim/base/problem.hpp"

namespace gradway {

/// A value that is not a valid time although its key asks for one.
struct InvalidTime {
  std::string_view key;
  std::string value;  ///< Empty if it is neither a number nor a string.
  Where where;
};

/// An event as it is in the file. One object is reused for all events, so that reading allocates nothing.
/// Missing values are empty or zero.
struct RawEvent {
  Position at;               ///< Place of its opening brace.
  bool is_complete = false;  ///< It has a duration ("ph": "X").
  std::string category;
  std::string name;
  std::int64_t process = 0;
  std::int64_t thread = 0;
  std::optional<std::int64_t> start;  ///< Nanoseconds. Empty if missing or invalid.
  std::optional<std::int64_t> duration;
  /// Why `start` or `duration` is empty although its key is present.
  std::optional<InvalidTime> invalid_time;
  std::int64_t external = 0;
  std::int64_t sequence = 0;
  std::int64_t correlation = 0;
  std::int64_t device = 0;
  std::int64_t stream = 0;
  std::int64_t bytes = 0;
  std::int64_t allocated = 0;  ///< Bytes. Negative when memory is freed.
  std::int64_t address = 0;
  std::int64_t device_type = 0;
  std::int64_t registers = 0;
  std::int64_t shared = 0;
  std::int64_t blocks = 0;   ///< Product of the grid's dimensions.
  std::int64_t threads = 0;  ///< Product of the block's dimensions.
  bool has_shapes = false;
  std::string shapes;  ///< "[[32,3],[],[[1,2],[3]]]": shapes of operands, or of the tensors of a list.
  std::string types;   ///< Each is followed by a line break.
  std::string values;
  // Of kernels of NCCL, as ProcessGroupNCCL describes them:
  std::string collective;     ///< "allreduce"
  std::string element_type;   ///< "Float"
  std::string group;          ///< name of the process group
  std::string group_members;  ///< "[0, 1]"; shortened with "..." if they are many
  std::int64_t elements = 0;  ///< of the input, per rank
  std::int64_t elements_out = 0;
  std::int64_t group_size = 0;

  void clear();
};

/// A device as described by the trace.
struct RawDevice {
  std::string name;
  std::int64_t id = 0;
  std::int64_t major = 0;
  std::int64_t minor = 0;
  std::int64_t threads = 0;
  std::int64_t registers = 0;
  std::int64_t shared = 0;
};

/// Receives events and devices in the order of the file.
class TraceSink {
 public:
  virtual ~TraceSink() = default;
  virtual void event(const RawEvent& event) = 0;
  virtual void device(const RawDevice& device) = 0;
  /// The process's rank, and the number of ranks of the job.
  virtual void job(std::int64_t rank, std::int64_t ranks) = 0;
  /// The file ends in the middle of an event. @return whether what comes before may be used
  virtual bool cut(const Where&) { return false; }
};

}  // namespace gradway
