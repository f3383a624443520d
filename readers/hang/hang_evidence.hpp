// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/units.hpp"

namespace gradway {

/// A place in a program, as a stack shows it. An empty file means that it is unknown.
struct CodePlace {
  std::string file;  ///< without its folders
  int line = 0;
  std::string function;
  auto operator<=>(const CodePlace&) const = default;
};

/// A process group of PyTorch.
struct ProcessGroup {
  std::string name;         ///< "0", "3"
  std::string description;  ///< "default_pg"; "undefined" for groups of new_group
  std::vector<int> ranks;   ///< global ranks in the order of the group; empty if unknown
  auto operator<=>(const ProcessGroup&) const = default;
};

/// What is equal in calls of a collective, or of a send or receive, that a program repeats.
struct CallKind {
  std::string operation;    ///< "all_reduce", "send"
  std::size_t group = 0;    ///< in HangEvidence::groups
  std::int64_t input = 0;   ///< elements
  std::int64_t output = 0;  ///< elements
  std::string input_sizes;  ///< "[8, 128]"
  std::string type;         ///< "Float"; empty if unknown
  CodePlace place;          ///< in the user's program; unknown for calls of autograd's threads
  int peer = -1;            ///< global rank at the other end of a send or receive
  auto operator<=>(const CallKind&) const = default;

  bool is_send() const { return operation == "send"; }
  bool is_point_to_point() const { return operation == "send" || operation == "recv"; }
};

enum class CallState : std::uint8_t { scheduled, started, completed };

/// An entry of a flight recorder. Times are nanoseconds since 1970; 0 if unknown.
struct RecordedCall {
  std::uint32_t kind = 0;  ///< in HangEvidence::kinds
  CallState state = CallState::scheduled;
  std::int64_t sequence = 0;  ///< number of the call in its group
  std::int64_t created = 0;
  std::int64_t last_news = 0;  ///< latest time of the entry
};

/// The flight recorder's dump of a rank.
struct RankRecord {
  int rank = 0;
  std::string file;
  std::vector<RecordedCall> calls;
  std::vector<std::size_t> groups;      ///< that the rank is a member of
  Seconds timeout{};                    ///< of its last call
  std::optional<std::int64_t> written;  ///< time of the file
  bool is_whole = false;                ///< the first call of the rank is in it
};

/// A process as NCCL's RAS names it.
struct RasProcess {
  int rank = -1;  ///< in the communicator; -1 if unknown
  std::string host;
  std::int64_t pid = 0;
  auto operator<=>(const RasProcess&) const = default;
};

/// Ranks of a communicator that have launched as many operations of a kind.
struct RasLevel {
  std::int64_t launched = 0;
  int ranks = 0;
  std::vector<RasProcess> named;  ///< those that RAS names: all, or none of the majority
};

struct RasDifference {
  std::string operation;  ///< "AllReduce"
  std::vector<RasLevel> levels;
};

struct RasCommunicator {
  std::string hash;                   ///< as in "commId" of NCCL's log, without 0x
  int size = 0;                       ///< 0 if unknown
  std::vector<RasProcess> processes;  ///< all, if RAS lists them
  std::vector<RasDifference> differences;
  std::vector<RasProcess> missing;
  std::vector<std::pair<RasProcess, std::string>> errors;  ///< "Invalid usage"
};

/// An answer of NCCL's RAS.
struct RasStatus {
  std::string file;
  int processes = 0;
  std::vector<RasCommunicator> communicators;
  std::vector<RasProcess> dead;
};

/// The main thread of a rank in a dump of stacks; the innermost frame first.
struct StackSample {
  std::vector<CodePlace> frames;
  std::vector<std::string> paths;  ///< of the frames
};

/// What a stack shows of a rank.
struct RankStacks {
  int rank = -1;
  std::string file;
  std::vector<StackSample> samples;  ///< in the order of the file
};

/// A rank that PyTorch's watchdog found waiting.
struct WatchdogTimeout {
  int rank = -1;
  std::string group;  ///< its name; empty if unknown
  std::int64_t sequence = 0;
  std::string operation;  ///< "ALLREDUCE"
  std::int64_t input = -1;
  Seconds timeout{};
  bool is_error = false;  ///< NCCL failed; the time was not over
  CodePlace place;
};

/// How far a rank was when the watchdog reported it.
struct WatchdogProgress {
  std::string group;  ///< name of the group; empty: the default group
  std::int64_t enqueued = 0;
  std::int64_t completed = 0;
};

/// A line of output that says what went wrong: a row of job_messages.txt.
struct JobMessage {
  int rank = -1;
  std::string_view kind;  ///< "out-of-memory"
  std::string_view means;
  std::string_view remedy;
  bool is_consequence = false;
  std::string text;
  std::string file;
  int line = 0;
};

/// A process that torchrun, srun or mpirun saw fail.
struct FailedProcess {
  int rank = -1;
  int exit_code = 0;  ///< negative: a signal
  std::int64_t pid = 0;
  bool is_first = false;
  std::string host;
};

/// Number of ranks that joined at the start of the job, and number of expected ranks.
struct JoinedRanks {
  std::string what;  ///< hash of the communicator, or "" for the store
  int expected = 0;
  std::map<int, bool> joined;  ///< rank: its initialisation is complete
  int count = 0;               ///< of those joined, if the ranks are unknown
};

/// Everything that was found about a job that may hang.
struct HangEvidence {
  std::vector<ProcessGroup> groups;
  std::vector<CallKind> kinds;
  std::map<ProcessGroup, std::size_t> group_positions;
  std::map<CallKind, std::size_t> kind_positions;
  std::map<int, RankRecord> records;
  std::map<int, RankRecord> earlier;  ///< another dump of the rank, with fewer calls or of the same moment
  std::vector<RasStatus> ras;
  std::map<int, RankStacks> stacks;
  std::vector<WatchdogTimeout> timeouts;
  std::map<int, std::vector<WatchdogProgress>> progress;  ///< by rank
  std::vector<JobMessage> messages;
  std::vector<FailedProcess> failed;
  std::vector<JoinedRanks> joined;
  std::map<std::pair<std::string, std::int64_t>, int> rank_of_process;  ///< by host and pid; host may be ""
  std::map<std::string, std::map<int, std::int64_t>> members;  ///< of NCCL's communicators: rank, pid
  int world = 0;                                               ///< 0 if unknown
  int files = 0;                                               ///< with evidence
  bool numbers_ranks = false;  ///< ranks of some stacks are unknown, and numbered in the order of the files
  std::vector<std::string> damaged;  ///< files of a folder that could not be read, with the reason
};

/// Whether an argument of `diagnose` is a folder or a file of this evidence, not a trace.
bool is_hang_evidence(const std::string& path);

/// Reads files, and all files below folders.
/// @throws ConfigError if none has evidence, or if a named file is damaged
HangEvidence read_hang_evidence(const std::vector<std::string>& paths);

}  // namespace gradway
