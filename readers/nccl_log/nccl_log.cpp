// SPDX-License-Identifier: Apache-2.0
#include "readers/nccl_log/nccl_log.hpp"

#include <algorithm>
#include <istream>
#include <utility>

#include <fmt/format.h>

#include "readers/nccl_log/nccl_line.hpp"
#include "sim/base/printable.hpp"
#include "sim/base/text.hpp"
#include "sim/files/text_file.hpp"

namespace gradway {
namespace {

using namespace nccl_log;

/// Key of the communicator of processes that print none.
constexpr auto unknown = "unknown";

double rate_after(std::string_view text, std::string_view word) {
  const auto digits = std::string{after(text, word).substr(0, 16)};
  return digits.empty() ? 0 : std::strtod(digits.c_str(), nullptr);
}

/// Adds what one rank printed to what others printed of the same communicator.
void merge_into(NcclLogCommunicator& total, NcclLogCommunicator&& addition) {
  total.ranks = std::max(total.ranks, addition.ranks);
  if (addition.nodes) total.nodes = addition.nodes;
  total.seen.merge(addition.seen);
  for (const auto& [order, channels] : addition.rings) total.rings[order] += channels;
  for (auto& [connection, channels] : addition.ways) total.ways[connection].merge(channels);
  if (addition.collective_channels) total.collective_channels = addition.collective_channels;
  if (addition.nvls_channels) total.nvls_channels = addition.nvls_channels;
  if (addition.pair_channels) total.pair_channels = addition.pair_channels;
  total.has_trees |= addition.has_trees;
  total.uses_sharp |= addition.uses_sharp;
  total.is_complete |= addition.is_complete;
}

}  // namespace

/// NCCL names the communicator in a few lines only. All others belong to the communicator that their process
/// is initialising, or initialised last: since 2.22 connections are made when they are first needed.
class NcclLogReader::Reading {
 public:
  void read(const Message& message) {
    ++log_.lines;
    if (message.is_warning) {
      constexpr std::size_t most_warnings = 1000;
      if (log_.warnings.size() < most_warnings) ++log_.warnings[printable(message.text)];
    }
    auto entry = processes_.find(message.process);
    if (entry == processes_.end()) entry = processes_.emplace(message.process, Process{}).first;
    auto& process = entry->second;
    read_process(message.text, process, message);
  }

  NcclLog finish() {
    for (auto& [name, process] : processes_) end(process);
    give_unknown_to_only_one();
    for (auto& [id, communicator] : communicators_) {
      count_nodes(communicator);
      // Ranks that write into one another's lines cut some rings off.
      const auto is_whole = [&](const auto& ring) { return std::ssize(ring.first) == communicator.ranks; };
      if (std::ranges::any_of(communicator.rings, is_whole))
        std::erase_if(communicator.rings, [&](const auto& ring) { return !is_whole(ring); });
      if (communicator.ranks > 0) log_.communicators.push_back(std::move(communicator));
    }
    return std::move(log_);
  }

  const NcclLog& log() const { return log_; }

  /// The version on a line of its own, without a process: as NCCL before 2.24 prints it.
  void read_bare_version(std::string_view line) {
    auto version = word_after(line, "NCCL version ");
    if (version.empty())
      version = word_after(line, contains(line, "RCCL version : ") ? "RCCL version : " : "RCCL version ");
    if (log_.version.empty() && leading_number(version)) log_.version = printable(version);
  }

 private:
  struct Process {
    NcclLogCommunicator pending;  ///< Lines since its last communicator was named.
    bool announces = false;       ///< It prints the start of each initialisation, as NCCL does since 2.17.
    std::string current;          ///< Key of its last communicator; empty if unknown.
    /// Communicators without an id, by their size and the process's GPU: one process may have all ranks.
    std::map<std::pair<int, int>, int> unnamed;
    std::string topology_gpu;  ///< The last one in the printed topology.
  };

  void read_process(std::string_view text, Process& process, const Message& message) {
    if (const auto line = connection_in(text)) {
      process.pending.ways[line->connection].insert(line->channel);
      process.pending.uses_sharp |= text.starts_with("CollNet ");
    } else if (const auto ring = ring_in(text)) {
      ++process.pending.rings[ring->order];
    } else if (contains(text, " - Init ") && contains(text, "comm 0x")) {
      read_initialisation(text, process, message);
    } else if (contains(text, " coll channels, ")) {
      process.pending.collective_channels = leading_number(text);
      process.pending.nvls_channels = number_before(text, " nvls channels");
      process.pending.pair_channels = number_before(text, " p2p channels");
    } else if (text.starts_with("Trees [") || text.starts_with("Connected all trees")) {
      process.pending.has_trees = true;
    } else if (text.starts_with("comm 0x") && contains(text, " nNodes ")) {
      process.pending.nodes = number_after(text, " nNodes ");
    } else if (const auto choice = choice_in(text)) {
      ++log_.choices[*choice];
    } else {
      read_job(text, process);
    }
  }

  static std::optional<int> number_before(std::string_view text, std::string_view word) {
    const auto end = text.find(word);
    if (end == std::string_view::npos) return std::nullopt;
    const auto start = text.find_last_not_of("0123456789", end == 0 ? 0 : end - 1);
    return leading_number(text.substr(start == std::string_view::npos ? 0 : start + 1));
  }

  /// "comm 0x55d0 rank 0 nranks 8 cudaDev 0 nvmlDev 0 busId 60 commId 0x2497 - Init START"
  void read_initialisation(std::string_view text, Process& process, const Message& message) {
    const auto rank = number_after(text, " rank ");
    const auto ranks = number_after(text, " nranks ");
    constexpr int most_ranks = 1 << 20;
    if (!rank || !ranks || *ranks < 1 || *ranks > most_ranks || *rank >= *ranks) return;
    const bool starts = contains(text, "Init START");
    if (starts) {
      end(process);
      process.announces = true;
    }
    const auto id = word_after(text, " commId ");
    if (starts || process.current.empty() || !process.announces) {
      // Without ids the k-th communicator of a size is the same one on all GPUs.
      const auto device = number_after(text, " cudaDev ").value_or(0);
      process.current = id.empty() ? fmt::format("{} ranks, {}", *ranks, process.unnamed[{*ranks, device}]++)
                                   : fmt::format("{} ranks, {}", *ranks, id);
    }
    auto& pending = process.pending;
    pending.ranks = *ranks;
    pending.is_complete = !starts;
    const auto nvml = number_after(text, " nvmlDev ");
    pending.seen[*rank] = {printable(message.host), nvml ? nvml : number_after(text, " cudaDev ")};
    if (!starts && !process.announces) end(process);
  }

  /// Gives the lines of a process to its communicator.
  void end(Process& process) {
    if (process.current.empty() && process.pending.ranks == 0) {
      if (process.pending.ways.empty() && process.pending.rings.empty()) return;
      process.current = unknown;
    }
    auto& communicator = communicators_[process.current];
    merge_into(communicator, std::exchange(process.pending, {}));
    process.current.clear();
  }

  /// What concerns the whole job, not a communicator.
  void read_job(std::string_view text, Process& process) {
    constexpr std::string_view set_by = " set by environment to ";
    constexpr std::string_view set_to = " set to ";  // of lists of devices
    if (text.starts_with("NCCL_") && (contains(text, set_by) || contains(text, set_to))) {
      auto value = after(text, contains(text, set_by) ? set_by : set_to);
      if (value.size() > 1 && value.ends_with('.')) value.remove_suffix(1);
      log_.variables[printable(text.substr(0, text.find(' ')))] = printable(value);
    } else if (text.starts_with("NCCL version ") || text.starts_with("RCCL version ")) {
      read_bare_version(text);
    } else if (text.starts_with("Using network ")) {
      log_.networks.insert(printable(after(text, "Using network ")));
    } else if (text.starts_with("NET/IB : Using ") || text.starts_with("NET/Socket : Using ")) {
      read_nics(after(text, "Using "));
    } else if (text.starts_with("+ ") || text.starts_with("=== System")) {
      read_topology(text, process);
    } else {
      read_remark(text);
    }
  }

  /// "[0]mlx5_0:1/IB [1]mlx5_1:1/RoCE [RO]; OOB eth0:10.0.0.1<0>". Of sockets the name is enough: addresses
  /// differ from node to node.
  void read_nics(std::string_view text) {
    text = text.substr(0, std::min(text.find(';'), text.size()));
    while (!(text = after(text, "[")).empty()) {
      if (!leading_number(text)) continue;
      auto name = word_after(text, "]");
      // RCCL lists the ports of each virtual device: "[0]={[0] rocep1s0:1/RoCE, [1] ...}"
      if (name.starts_with('=')) continue;
      while (!name.empty() && (name.ends_with(',') || name.ends_with('}'))) name.remove_suffix(1);
      const bool is_socket = name.ends_with('>');
      log_.nics.insert(printable(is_socket ? name.substr(0, name.find(':')) : name));
    }
  }

  /// "+ PCI[48.0] - GPU/0-60 (0)" and, below it, "+ NVL[370.8] - NVS/0-0".
  void read_topology(std::string_view text, Process& process) {
    if (text.starts_with("+ PCI[") && contains(text, " - GPU/")) {
      process.topology_gpu = printable(word_after(text, " - "));
      // Each rank prints the whole topology of its node.
      log_.topology[process.topology_gpu] = {rate_after(text, "+ PCI["), 0};
    } else if (text.starts_with("+ NVL[") && !process.topology_gpu.empty()) {
      log_.topology[process.topology_gpu].nvlink += rate_after(text, "+ NVL[");
    } else {
      process.topology_gpu.clear();
    }
  }

  void read_remark(std::string_view text) {
    const auto add = [&](NcclRemark remark, bool is) {
      if (is) log_.remarks.insert(remark);
    };
    add(NcclRemark::no_infiniband_device, text.starts_with("NET/IB : No device found"));
    add(NcclRemark::no_network_plugin, text.starts_with("NET/Plugin") && (contains(text, "Could not find") ||
                                                                          contains(text, "No plugin found")));
    add(NcclRemark::p2p_not_enabled,
        contains(text, "Could not enable P2P between") || contains(text, "P2P is disabled between"));
    add(NcclRemark::gpudirect_disabled, contains(text, "GPU Direct RDMA Disabled"));
  }

  /// Processes whose initialisation is not in the log take part in its only communicator.
  void give_unknown_to_only_one() {
    const auto entry = communicators_.find(unknown);
    if (entry == communicators_.end() || communicators_.size() != 2) return;
    auto unplaced = std::move(entry->second);
    communicators_.erase(entry);
    merge_into(communicators_.begin()->second, std::move(unplaced));
  }

  static void count_nodes(NcclLogCommunicator& communicator) {
    for (const auto& [connection, channels] : communicator.ways)
      communicator.ranks = std::max({communicator.ranks, connection.from + 1, connection.to + 1});
    if (communicator.nodes && (*communicator.nodes < 1 || *communicator.nodes > communicator.ranks))
      communicator.nodes.reset();
    if (communicator.nodes || static_cast<int>(communicator.seen.size()) != communicator.ranks) return;
    std::set<std::string> hosts;
    std::map<int, int> ranks_of_gpu;
    for (const auto& [rank, process] : communicator.seen) {
      hosts.insert(process.host);
      if (process.gpu) ++ranks_of_gpu[*process.gpu];
    }
    auto nodes = static_cast<int>(hosts.size());
    // Names of hosts may be masked, or equal: each node has a GPU of a number once.
    const bool uses_network = std::ranges::any_of(
        communicator.ways, [](const auto& way) { return way.first.transport == Transport::net; });
    if (uses_network)
      for (const auto& [gpu, ranks] : ranks_of_gpu) nodes = std::max(nodes, ranks);
    communicator.nodes = nodes;
  }

  NcclLog log_;
  std::map<std::string, Process, std::less<>> processes_;
  std::map<std::string, NcclLogCommunicator> communicators_;
};

NcclLogReader::NcclLogReader() : reading_{std::make_unique<Reading>()} {}
NcclLogReader::~NcclLogReader() = default;

void NcclLogReader::read_line(std::string_view wrapped) {
  auto line = unwrapped(wrapped);
  if (line.ends_with('\r')) line.pop_back();
  // A terminal breaks all lines at its width: the rest of a message has no header.
  constexpr std::size_t widths[] = {80, 100, 120, 132, 160};
  longest_ = std::max(longest_, line.size());
  const bool is_full = line.size() == longest_ && std::ranges::find(widths, line.size()) != std::end(widths);
  if (!broken_.empty() && !line.empty() && messages_in(line).empty() && !contains(line, "CCL version ")) {
    broken_ += line;
    if (is_full) return;
    line.clear();
  }
  if (!broken_.empty()) read_whole(std::exchange(broken_, {}));
  if (is_full && !messages_in(line).empty()) {
    broken_ = std::move(line);
  } else if (!line.empty()) {
    read_whole(line);
  }
}

void NcclLogReader::read_whole(std::string_view line) {
  const auto messages = messages_in(line);
  if (messages.empty()) reading_->read_bare_version(line);
  for (const auto& message : messages) reading_->read(message);
}

void NcclLogReader::read(std::istream& lines) {
  for (std::string line; std::getline(lines, line);) read_line(line);
}

NcclLog NcclLogReader::finish(const std::string& file) {
  read_whole(std::exchange(broken_, {}));
  auto log = reading_->finish();
  const Where where{file, 0, 0, 0, {}};
  if (log.lines == 0) {
    refuse_at(where, "the file has no line of NCCL's",
              "run the job with NCCL_DEBUG=INFO, and keep what it prints");
  }
  if (log.communicators.empty()) {
    refuse_at(where, "NCCL initialised no communicator",
              log.warnings.empty() ? "the log ends too early, or NCCL_DEBUG_SUBSYS left INIT out"
                                   : "NCCL's warning: " + log.warnings.begin()->first);
  }
  return log;
}

}  // namespace gradway
