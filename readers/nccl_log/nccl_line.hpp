// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "readers/nccl_log/nccl_log.hpp"

namespace gradway::nccl_log {

/// A message of NCCL with its process.
struct Message {
  std::string_view host;
  std::string_view process;  ///< "host:pid"
  std::string_view text;
  bool is_warning = false;
};

/// A line as NCCL printed it: without the JSON of a container's log around it, and without HTML's entities.
std::string unwrapped(std::string_view line);

/// The messages in a line. Two processes that write at the same time can print into one line.
std::vector<Message> messages_in(std::string_view line);

/// The number after a word. @param word with the blank that follows it
std::optional<int> number_after(std::string_view text, std::string_view word);

/// "Channel 02/24 : 0 1 2 3"
struct RingLine {
  int channel = 0;
  std::vector<int> order;
};
std::optional<RingLine> ring_in(std::string_view message);

/// "Channel 02/0 : 0[0] -> 1[1] [send] via NET/IB/0/GDRDMA"
struct ConnectionLine {
  int channel = 0;
  NcclConnection connection;
};
std::optional<ConnectionLine> connection_in(std::string_view message);

/// "AllReduce: 1048576 Bytes -> Algo RING proto LL128 channel{Lo..Hi}={0..23}"
std::optional<NcclChoice> choice_in(std::string_view message);

}  // namespace gradway::nccl_log
