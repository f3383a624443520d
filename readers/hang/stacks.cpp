// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "readers/hang/hang_files.hpp"
#include "sim/base/text.hpp"
#include "sim/files/text_file.hpp"

namespace gradway {
namespace {

constexpr std::size_t most_stack_frames = 256;
constexpr std::size_t most_samples = 64;

void add_frame(StackSample& stack, std::string_view path, int line, std::string_view function) {
  if (stack.frames.size() == most_stack_frames) return;
  stack.frames.push_back(code_place(path, line, function));
  stack.paths.emplace_back(path.substr(0, 400));
}

/// The main thread ends in the program's own module; threads of Python end in its bootstrap.
bool is_main(const StackSample& stack) {
  return !stack.frames.empty() && stack.frames.back().function == "<module>";
}

/// Reads threads one after the other. A sample ends where the next process or dump begins.
class StackReader {
 public:
  StackReader(RankStacks& stacks) : stacks_{stacks} {}

  void read(std::string_view line) {
    line = trimmed(line);
    if (const auto label = line.find("]:"); line.starts_with("[rank") && label != std::string_view::npos)
      line = trimmed(line.substr(label + 2));
    if (contains(line, "(most recent call first)") ||
        (line.starts_with("Thread ") && contains(line, "): \"")) ||
        (line.starts_with("Thread ") && (line.ends_with("(active)") || line.ends_with("(idle)")))) {
      end_thread();
      is_named_main_ = contains(line, "\"MainThread\"");
      is_inside_ = true;
    } else if (line.starts_with("File \"")) {
      const auto path = line.substr(6, line.find('"', 6) - 6);
      const auto function = after(line, " in ");
      if (is_inside_)
        add_frame(thread_, path, leading_number(word_after(line, ", line")).value_or(0), function);
    } else if (is_inside_ && line.ends_with(')') && contains(line, " (")) {
      read_py_spy_frame(line);
    } else if (line.starts_with("Process ") || line.starts_with("Fatal Python error") ||
               line.starts_with("Extension modules")) {
      end_thread();
    }
  }

  void end_thread() {
    const bool is_kept = is_main(thread_) || (is_named_main_ && !thread_.frames.empty());
    if (is_kept && stacks_.samples.size() < most_samples) stacks_.samples.push_back(std::move(thread_));
    thread_ = {};
    is_inside_ = false;
  }

 private:
  /// "train_step (train.py:123)"
  void read_py_spy_frame(std::string_view line) {
    const auto open = line.rfind(" (");
    const auto colon = line.rfind(':');
    if (colon == std::string_view::npos || colon < open) {
      return;  // a frame of C: "futex_wait (libc.so.6)"
    }
    const auto number = leading_number(line.substr(colon + 1));
    if (number) add_frame(thread_, line.substr(open + 2, colon - open - 2), *number, line.substr(0, open));
  }

  RankStacks& stacks_;
  StackSample thread_;
  bool is_named_main_ = false;
  bool is_inside_ = false;
};

void keep(HangEvidence& evidence, RankStacks stacks) {
  if (stacks.samples.empty()) return;
  evidence.world = std::max(evidence.world, stacks.rank + 1);
  auto& kept = evidence.stacks[stacks.rank];
  kept.rank = stacks.rank;
  if (kept.file.empty()) kept.file = stacks.file;
  for (auto& sample : stacks.samples) kept.samples.push_back(std::move(sample));
}

/// "Process 1234: python train.py" of py-spy: the rank follows from the process, if NCCL's log knows it.
std::int64_t pid_in(std::string_view line) {
  return line.starts_with("Process ") ? leading_number(line.substr(8)).value_or(0) : 0;
}

}  // namespace

bool add_stacks(HangEvidence& evidence, std::string_view text, const std::string& file, int rank) {
  const bool is_faulthandler = contains(text, "(most recent call first)");
  if (!is_faulthandler && !(contains(text, "Thread ") && contains(text, "\nProcess ")) &&
      !text.starts_with("Process "))
    return false;
  if (rank > 0 && pid_in(text.substr(0, text.find('\n'))) == rank)
    rank = -1;  // The file is named by its process.
  // Ranks of processes that no log of NCCL names are numbered in the order of the files.
  const auto rank_of = [&](std::int64_t pid) {
    const auto entry = evidence.rank_of_process.find({"", pid});
    if (entry != evidence.rank_of_process.end()) return entry->second;
    evidence.numbers_ranks = true;
    return evidence.stacks.empty() ? 0 : evidence.stacks.rbegin()->first + 1;
  };
  RankStacks stacks{rank, file, {}};
  StackReader reader{stacks};
  bool has_any = false;
  const auto finish = [&] {
    reader.end_thread();
    has_any = has_any || !stacks.samples.empty();
    if (stacks.rank >= 0) keep(evidence, std::move(stacks));
  };
  for (const auto& line : lines_of(text)) {
    if (const auto pid = pid_in(line.text); pid > 0 && rank < 0) {
      finish();
      stacks = {rank_of(pid), file, {}};
    }
    reader.read(line.text);
  }
  finish();
  return has_any;
}

void add_stacks(HangEvidence& evidence, const ValueDocument& document, const std::string& file, int rank) {
  const auto& tree = document.tree;
  RankStacks stacks{rank, file, {}};
  for (const auto thread : tree.elements(document.root)) {
    StackSample sample;
    for (const auto frame : tree.elements(tree.at(thread, "frames")))
      add_frame(sample, tree.text(tree.at(frame, "filename")),
                static_cast<int>(tree.integer(tree.at(frame, "line")).value_or(0)),
                tree.text(tree.at(frame, "name")));
    const bool is_named_main = tree.text(tree.at(thread, "thread_name")) == "MainThread";
    if (is_named_main || is_main(sample)) stacks.samples.push_back(std::move(sample));
    if (const auto pid = tree.integer(tree.at(thread, "pid")); pid && stacks.rank < 0) {
      const auto entry = evidence.rank_of_process.find({"", *pid});
      if (entry != evidence.rank_of_process.end()) stacks.rank = entry->second;
    }
  }
  if (stacks.rank >= 0) keep(evidence, std::move(stacks));
}

}  // namespace gradway
