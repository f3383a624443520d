// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <set>

#include "readers/hang/hang_files.hpp"
#include "sim/base/printable.hpp"
#include "sim/base/rows.hpp"
#include "sim/base/text.hpp"
#include "sim/files/text_file.hpp"

namespace gradway {

namespace tables {
extern const std::string_view job_messages;
}

namespace {

constexpr std::size_t most_messages = 2000;
constexpr int most_ranks = 1 << 20;

/// The number after a fragment; empty without it.
std::optional<std::int64_t> number_after(std::string_view text, std::string_view fragment) {
  const auto rest = trimmed(after(text, fragment));
  if (rest.empty() || (rest.front() != '-' && !is_digits(rest.substr(0, 1)))) return std::nullopt;
  return number_at(rest);
}

/// The rank that launchers write in front of a line: "[rank2]:", "[default2]:", "[1,2]<stderr>:", "2: ".
/// The label is removed.
std::optional<int> take_label(std::string_view& line) {
  for (const std::string_view start : {"[rank", "[default", "[1,", ""}) {
    if (!line.starts_with(start)) continue;
    const auto rank = leading_number(line.substr(start.size()));
    if (!rank) continue;
    const auto digits = std::min(line.find_first_not_of("0123456789", start.size()), line.size());
    const auto label = line.substr(digits);
    const bool is_label =
        start.empty() ? label.starts_with(": ") : label.starts_with("]:") || label.starts_with("]<");
    if (!is_label) continue;
    line = trimmed(label.substr(label.find(':') + 1));
    return rank;
  }
  return std::nullopt;
}

/// "[PG ID 2 PG GUID 3 Rank 0]", "[PG ID 0 PG GUID 0(default_pg) Rank 1]", "[PG 1 Rank 1]": the group's name.
std::string group_in(std::string_view line) {
  auto name = word_after(line, "PG GUID");
  if (name.empty()) name = word_after(line, "[PG");
  return printable(name.substr(0, name.find_first_of("(]")));
}

class OutputReader {
 public:
  OutputReader(HangEvidence& evidence, const std::string& file, int rank)
      : evidence_{evidence}, file_{file}, file_rank_{rank} {}

  bool read(std::string_view text) {
    for (const auto& line : lines_of(text)) {
      number_ = line.number;
      read_line(trimmed(line.text));
    }
    return has_any_;
  }

 private:
  void read_line(std::string_view line) {
    const auto label = take_label(line);
    rank_ = label ? *label : file_rank_;
    if (line.empty()) {
      stack_of_ = nullptr;
    } else if (stack_of_ != nullptr && line.front() == '#') {
      read_frame(line);
    } else if (contains(line, "WorkNCCL(SeqNum=") || contains(line, "Timeout at NCCL work")) {
      read_timeout(line);
    } else if (contains(line, "CollectiveFingerPrint(")) {
      read_fingerprints(line);
      return;
    } else if (contains(line, " failed to pass monitoredBarrier")) {
      read_barrier(line);
      return;
    } else if (contains(line, "ast enqueued")) {
      read_progress(line);
    } else if (contains(line, "Stack trace of the failed collective")) {
      begin_stack();
    } else if (contains(line, "NCCL INFO")) {
      read_initialisation(line);
    } else {
      read_launcher(line);
    }
    read_message(line);
  }

  /// "WorkNCCL(SeqNum=10, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=20000) ran for 20049 ..."
  void read_timeout(std::string_view line) {
    WatchdogTimeout timeout;
    timeout.rank = rank_ >= 0 ? rank_ : static_cast<int>(number_after(line, "[Rank ").value_or(-1));
    timeout.sequence = number_after(line, "SeqNum=").value_or(0);
    timeout.timeout = Seconds{static_cast<double>(number_after(line, "Timeout(ms)=").value_or(0)) / 1e3};
    timeout.is_error = contains(line, "async exception");
    if (contains(line, "OpType=")) {
      add_call(std::move(timeout), line);
    } else {
      read_progress(line);
    }
  }

  /// A call in which a rank waits. @param text with "OpType=", and "NumelIn=" or "TensorShape=" before 2.2
  void add_call(WatchdogTimeout timeout, std::string_view text) {
    if (const auto operation = after(text, "OpType="); !operation.empty())
      timeout.operation = printable(operation.substr(0, operation.find_first_of(",)")));
    timeout.input = number_after(text, "NumelIn=").value_or(-1);
    if (auto shape = after(text, "TensorShape=["); !shape.empty()) {
      double elements = 1;
      for (shape = shape.substr(0, shape.find(']')); !shape.empty(); shape = after(shape, ","))
        elements *= static_cast<double>(number_at(trimmed(shape)));
      constexpr double most = 1e15;
      timeout.input = static_cast<std::int64_t>(std::clamp(elements, -1.0, most));
    }
    const bool is_known = std::ranges::any_of(evidence_.timeouts, [&](const WatchdogTimeout& known) {
      return known.rank == timeout.rank && known.sequence == timeout.sequence &&
             known.operation == timeout.operation;
    });
    has_any_ = true;
    see_rank(timeout.rank);
    if (!is_known && evidence_.timeouts.size() < most_messages)
      evidence_.timeouts.push_back(std::move(timeout));
  }

  /// TORCH_DISTRIBUTED_DEBUG=DETAIL: "Rank 1 is running collective: CollectiveFingerPrint(SequenceNumber=3,
  /// OpType=ALLREDUCE, TensorShape=[20, 10], ...), but Rank 0 is running collective: ..."
  void read_fingerprints(std::string_view line) {
    while (!line.empty()) {
      const auto next = after(line, ", but Rank ");
      const auto call = line.substr(0, line.size() - next.size());
      const auto name = call.substr(0, call.find(" is running"));
      WatchdogTimeout timeout;
      timeout.rank = static_cast<int>(number_at(name.substr(name.rfind(' ') + 1)));
      timeout.sequence = number_after(call, "SequenceNumber=").value_or(0);
      timeout.is_error = true;
      add_call(std::move(timeout), call);
      line = next;
    }
  }

  /// "[Rank 0]: Ranks 4, 5 failed to pass monitoredBarrier in 2000000 ms"
  void read_barrier(std::string_view line) {
    WatchdogTimeout timeout;
    timeout.rank = static_cast<int>(number_after(line, "[Rank ").value_or(0));
    timeout.operation = "monitored_barrier";
    timeout.timeout =
        Seconds{static_cast<double>(number_after(line, "monitoredBarrier in ").value_or(0)) / 1e3};
    add_call(std::move(timeout), {});
    auto ranks = after(line, "]: Rank");
    ranks = ranks.substr(std::min(ranks.find(' '), ranks.size()));
    for (ranks = ranks.substr(0, ranks.find(" failed")); !ranks.empty(); ranks = after(ranks, ",")) {
      const auto rank = static_cast<int>(number_at(trimmed(ranks)));
      if (rank < 0 || rank >= most_ranks) continue;
      see_rank(rank);
      evidence_.progress[rank].push_back({"", -1, -1});
    }
  }

  /// "... failure detected by watchdog at work sequence id: 10 PG status: last enqueued work: 10, last
  /// completed work: 9"
  void read_progress(std::string_view line) {
    const auto lower = lower_case(line);
    WatchdogProgress progress;
    progress.group = group_in(line);
    for (const std::string_view name : {"enqueued work: ", "enqueued nccl work: "})
      if (const auto number = number_after(lower, name)) progress.enqueued = *number;
    for (const std::string_view name : {"completed work: ", "completed nccl work: "})
      if (const auto number = number_after(lower, name)) progress.completed = *number;
    const auto rank = rank_ >= 0 ? rank_ : static_cast<int>(number_after(line, "Rank ").value_or(-1));
    if (rank < 0) return;
    has_any_ = true;
    see_rank(rank);
    for (const std::string_view name : {"work sequence id: ", "watchdog at work: ", "at nccl work: "}) {
      const auto sequence = number_after(lower, name);
      if (!sequence) continue;
      for (auto& timeout : evidence_.timeouts)
        if (timeout.rank == rank && timeout.sequence == *sequence) timeout.group = progress.group;
    }
    auto& known = evidence_.progress[rank];
    const auto entry = std::ranges::find(known, progress.group, &WatchdogProgress::group);
    if (entry == known.end() && known.size() < 64) known.push_back(std::move(progress));
  }

  void begin_stack() {
    for (auto& timeout : evidence_.timeouts) {
      if (timeout.rank == rank_ && timeout.place.file.empty()) stack_of_ = &timeout;
    }
    stack_ = {};
  }

  /// "#2 train_2d from train.py:152"
  void read_frame(std::string_view line) {
    const auto path = after(line, " from ");
    const auto colon = path.rfind(':');
    const auto function = word_after(line, " ");
    if (colon == std::string_view::npos) return;
    stack_.frames.push_back(
        code_place(path.substr(0, colon), leading_number(path.substr(colon + 1)).value_or(0), function));
    stack_.paths.emplace_back(path.substr(0, colon));
    stack_of_->place = user_place(stack_);
  }

  /// "vm:991:991 [0] NCCL INFO ncclCommInitRankConfig comm 0x1 rank 2 nranks 4 ... commId 0x2b - Init START"
  void read_initialisation(std::string_view line) {
    if (!contains(line, " nranks ") || !contains(line, " commId ")) return;
    const auto rank = number_after(line, " rank ");
    const auto ranks = number_after(line, " nranks ");
    if (!rank || !ranks || *rank < 0 || *ranks <= *rank) return;
    auto hash = word_after(line, "commId");
    if (hash.starts_with("0x")) hash.remove_prefix(2);
    hash.remove_prefix(std::min(hash.find_first_not_of('0'), hash.size()));
    const auto key = printable(hash);
    auto& joined = evidence_.joined;
    auto entry = std::ranges::find(joined, key, &JoinedRanks::what);
    if (entry == joined.end()) entry = joined.insert(joined.end(), {key, static_cast<int>(*ranks), {}, 0});
    auto& is_complete = entry->joined[static_cast<int>(*rank)];
    is_complete = is_complete || contains(line, "Init COMPLETE");
    const auto label = line.substr(0, line.find(" [")).substr(line.substr(0, line.find(" [")).rfind(' ') + 1);
    const auto colon = label.find(':');
    if (colon != std::string_view::npos)
      evidence_.members[key][static_cast<int>(*rank)] = number_at(label.substr(colon + 1));
    has_any_ = true;
  }

  void read_launcher(std::string_view line) {
    if (line.starts_with("Root Cause")) is_first_ = true;
    if (line.starts_with("Failures:")) is_first_ = false;
    if (line.starts_with("rank ") && contains(line, "(local_rank:")) {
      evidence_.failed.push_back(
          {static_cast<int>(number_after(line, ":").value_or(-1)), 0, 0, is_first_, host_});
      see_rank(evidence_.failed.back().rank);
      has_any_ = true;
    } else if (line.starts_with("host ") && contains(line, " : ")) {
      host_ = printable(trimmed(after(line, ":")));
    } else if (line.starts_with("exitcode ") && contains(line, "(pid:") && !evidence_.failed.empty()) {
      evidence_.failed.back().exit_code = static_cast<int>(number_after(line, ":").value_or(0));
      evidence_.failed.back().pid = number_after(line, "(pid:").value_or(0);
    } else if (contains(line, "srun: error: ") && contains(line, " task")) {
      read_srun(line);
    } else if (contains(line, " noticed that process rank ")) {
      evidence_.failed.push_back({static_cast<int>(number_after(line, "process rank ").value_or(-1)),
                                  -static_cast<int>(number_after(line, "on signal ").value_or(0)),
                                  number_after(line, "with PID ").value_or(0), true,
                                  printable(word_after(line, "on node"))});
      has_any_ = true;
    }
  }

  /// "srun: error: node001: task 3: Killed", "srun: error: node001: tasks 8-15: Exited with exit code 1"
  void read_srun(std::string_view line) {
    const auto task = number_after(line, " task ");
    if (!task) return;
    const bool is_killed = contains(line, "Killed");
    const bool is_crash = contains(line, "Segmentation fault") || contains(line, "Aborted");
    const auto code = number_after(line, "exit code ").value_or(1);
    if (contains(line, "Terminated")) return;
    const bool is_first = std::ranges::none_of(evidence_.failed, &FailedProcess::is_first);
    constexpr int kill = -9;
    constexpr int abort = -6;
    evidence_.failed.push_back({static_cast<int>(*task),
                                is_killed  ? kill
                                : is_crash ? abort
                                           : static_cast<int>(code),
                                0, is_first, printable(word_after(line, "error:"))});
    has_any_ = true;
  }

  void read_message(std::string_view line) {
    static const auto rows = rows_in(tables::job_messages);
    if (evidence_.messages.size() == most_messages) return;
    const auto text = lower_case(line.substr(0, 2000));
    read_joined(line);
    for (const auto& row : rows) {
      if (!contains(text, row.word(1))) continue;
      if (row.word(0) == "oom-killed" && contains(line, "NCCL")) continue;
      const auto key = std::pair{rank_, row.word(0)};
      if (!seen_.insert(key).second) return;
      constexpr std::size_t most = 200;
      evidence_.messages.push_back({rank_, row.word(0), row.value("means"), row.value("try"),
                                    row.value("consequence") == "yes", printable(shortened(line, most)),
                                    file_, number_});
      see_rank(rank_);
      has_any_ = true;
      return;
    }
    read_exception(line);
  }

  /// The last line of a traceback: "ValueError: batch is empty".
  void read_exception(std::string_view line) {
    if (contains(line, "Traceback (most recent call last)")) {
      is_in_traceback_ = true;
      return;
    }
    if (!is_in_traceback_ || line.starts_with("File ")) return;
    const auto colon = line.find(':');
    const auto name = line.substr(0, colon);
    const bool is_exception = (name.ends_with("Error") || name.ends_with("Exception") ||
                               name.ends_with("Interrupt") || name.ends_with("StopIteration")) &&
                              !contains(name, " ");
    if (!is_exception) return;
    is_in_traceback_ = false;
    if (contains(name, "ChildFailedError") || contains(name, "DistBackendError")) return;
    if (!seen_.insert({rank_, "exception"}).second) return;
    constexpr std::size_t most = 200;
    evidence_.messages.push_back({rank_, "exception", "a rank ended with an exception", "read its traceback",
                                  false, printable(shortened(line, most)), file_, number_});
    see_rank(rank_);
    has_any_ = true;
  }

  /// "3/4 clients joined", "(world_size=4, worker_count=3"
  void read_joined(std::string_view line) {
    JoinedRanks store;
    if (const auto end = line.find(" clients joined"); end != std::string_view::npos) {
      const auto before = line.substr(0, end);
      const auto fraction = before.substr(before.rfind(' ') + 1);
      store.count = leading_number(fraction).value_or(0);
      store.expected = static_cast<int>(number_after(fraction, "/").value_or(0));
    } else if (contains(line, "worker_count=")) {
      store.count = static_cast<int>(number_after(line, "worker_count=").value_or(0));
      store.expected = static_cast<int>(number_after(line, "world_size=").value_or(0));
    }
    if (store.expected > store.count) evidence_.joined.push_back(store);
  }

  void see_rank(int rank) {
    if (rank < most_ranks) evidence_.world = std::max(evidence_.world, rank + 1);
  }

  HangEvidence& evidence_;
  const std::string& file_;
  int file_rank_;
  int rank_ = -1;
  int number_ = 0;
  bool has_any_ = false;
  bool is_first_ = false;
  bool is_in_traceback_ = false;
  std::string host_;
  WatchdogTimeout* stack_of_ = nullptr;
  StackSample stack_;
  std::set<std::pair<int, std::string_view>> seen_;
};

}  // namespace

bool add_job_output(HangEvidence& evidence, std::string_view text, const std::string& file, int rank) {
  return OutputReader{evidence, file, rank}.read(text);
}

}  // namespace gradway
