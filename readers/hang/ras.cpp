// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>

#include "readers/hang/hang_files.hpp"
#include "sim/base/printable.hpp"
#include "sim/base/text.hpp"
#include "sim/files/text_file.hpp"

namespace gradway {

std::int64_t number_at(std::string_view text) {
  std::int64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

namespace {

/// The digits of a hash without leading zeros: JSON has "0x0a78...", logs may have fewer digits.
std::string hash_of(std::string_view text) {
  if (text.starts_with("0x")) text.remove_prefix(2);
  text.remove_prefix(std::min(text.find_first_not_of('0'), text.size()));
  return printable(text.substr(0, 16));
}

/// "Rank 1 has launched up to operation 29 -- GPU 1 managed by process 844 on node 192.0.2.2", or
/// "Process 844 on node 192.0.2.2 managing GPU 1"
RasProcess process_in(std::string_view line) {
  RasProcess process;
  if (line.starts_with("Rank ")) process.rank = leading_number(line.substr(5)).value_or(-1);
  const auto pid = line.starts_with("Process ") ? line.substr(8) : after(line, "managed by process ");
  process.pid = number_at(pid);
  process.host = printable(word_after(line, "on node"));
  return process;
}

/// Reads the sections of RAS's text. The first words of a line say which section it belongs to.
class RasText {
 public:
  explicit RasText(RasStatus& status) : status_{status} {}

  void read(std::string_view line) {
    line = trimmed(line);
    read_table(line);
    if (line.starts_with('#') && contains(line, "-") && is_digits(line.substr(1, 1))) {
      open_communicator(line);
    } else if (line.starts_with("Communicator ranks have different ")) {
      const auto difference = line.substr(std::string_view{"Communicator ranks have different "}.size());
      section_ = contains(difference, "operation counts") ? Section::counts : Section::other;
      if (section_ == Section::counts && communicator_ != nullptr)
        communicator_->differences.push_back({std::string{words_in(difference).front()}, {}});
    } else if (line.starts_with("Missing communicator data from") && contains(line, "rank")) {
      section_ = Section::missing;
    } else if (contains(line, "considered dead")) {
      section_ = Section::dead;
    } else if (contains(line, "error") && contains(line, " on ") && contains(line, "rank")) {
      section_ = Section::errors;
    } else if (line.starts_with("DEAD") || line.starts_with("INCOMPLETE") || line.starts_with("TIMEOUT") ||
               line.ends_with("=====")) {
      section_ = Section::other;
    } else {
      read_item(line);
    }
  }

 private:
  enum class Section { other, counts, missing, dead, errors };

  /// A row of the table of communicators: group, communicators, nodes, ranks of a node, of a communicator and
  /// of the group, status.
  void read_table(std::string_view line) {
    const auto words = words_in(line);
    const auto is_number = [](std::string_view word) { return is_digits(word.substr(0, word.find('-'))); };
    constexpr std::ptrdiff_t numbers = 6;
    if (std::ssize(words) <= numbers || !std::all_of(words.begin(), words.begin() + numbers, is_number))
      return;
    sizes_[leading_number(words[0]).value_or(-1)] = leading_number(words[4]).value_or(0);
    status_.processes = std::max(status_.processes, leading_number(words[5]).value_or(0));
  }

  void open_communicator(std::string_view line) {
    const auto hash = after(line, "(");
    section_ = Section::other;
    if (hash.empty()) return;
    const auto name = hash_of(hash.substr(0, hash.find(')')));
    auto& communicators = status_.communicators;
    const auto entry = std::ranges::find(communicators, name, &RasCommunicator::hash);
    communicator_ = entry != communicators.end() ? &*entry : &communicators.emplace_back();
    communicator_->hash = name;
    const auto size = sizes_.find(leading_number(line.substr(1)).value_or(-1));
    if (size != sizes_.end()) communicator_->size = size->second;
  }

  void read_item(std::string_view line) {
    if (section_ == Section::dead && line.starts_with("Process ")) {
      status_.dead.push_back(process_in(line));
      return;
    }
    if (communicator_ == nullptr) return;
    const bool is_rank = line.starts_with("Rank ");
    if (section_ == Section::counts && !communicator_->differences.empty()) {
      read_count(communicator_->differences.back().levels, line, is_rank);
    } else if (section_ == Section::missing && is_rank) {
      communicator_->missing.push_back(process_in(line));
    } else if (section_ == Section::errors && (is_rank || contains(line, " reported "))) {
      const auto error = after(line, " reported ");
      if (!error.empty()) error_ = printable(trimmed(error.substr(0, error.find(" --"))));
      if (is_rank) communicator_->errors.emplace_back(process_in(line), error_);
    }
  }

  static void read_count(std::vector<RasLevel>& levels, std::string_view line, bool is_rank) {
    const bool has_none = contains(line, "not launched any operations");
    const auto count = after(line, "launched up to operation ");
    if (!count.empty() || has_none) levels.push_back({has_none ? 0 : number_at(count), 0, {}});
    if (levels.empty()) return;
    if (is_rank) {
      levels.back().named.push_back(process_in(line));
      levels.back().ranks = std::max<int>(levels.back().ranks, static_cast<int>(levels.back().named.size()));
    } else if (const auto ranks = leading_number(line)) {
      levels.back().ranks = *ranks;
    }
  }

  RasStatus& status_;
  RasCommunicator* communicator_ = nullptr;
  Section section_ = Section::other;
  std::string error_;
  std::map<int, int> sizes_;  ///< ranks of a communicator, by number of its group
};

std::string_view error_name(std::int64_t result) {  // ncclResult_t
  constexpr std::string_view names[] = {"",
                                        "Unhandled CUDA error",
                                        "Unhandled system error",
                                        "Internal error",
                                        "Invalid argument",
                                        "Invalid usage",
                                        "Remote process has terminated or network error"};
  return result > 0 && result < 7 ? names[result] : std::string_view{};
}

RasProcess process_of(const ValueTree& tree, ValueTree::Id rank) {
  return {static_cast<int>(tree.integer(tree.at(rank, "rank")).value_or(-1)),
          printable(tree.text(tree.at(rank, "host"))), tree.integer(tree.at(rank, "pid")).value_or(0)};
}

}  // namespace

bool add_ras_text(HangEvidence& evidence, std::string_view text, const std::string& file) {
  if (!contains(text, "Communicators...") || !contains(text, "Job summary")) return false;
  RasStatus status;
  status.file = file;
  RasText reader{status};
  for (const auto& line : lines_of(text)) reader.read(line.text);
  evidence.world = std::max(evidence.world, status.processes);
  evidence.ras.push_back(std::move(status));
  return true;
}

void add_ras(HangEvidence& evidence, const ValueDocument& document, const std::string& file) {
  const auto& tree = document.tree;
  RasStatus status;
  status.file = file;
  for (const auto entry : tree.elements(tree.at(document.root, "communicators"))) {
    auto& communicator = status.communicators.emplace_back();
    communicator.hash = hash_of(tree.text(tree.at(entry, "hash")));
    communicator.size = static_cast<int>(tree.integer(tree.at(entry, "size")).value_or(0));
    status.processes = std::max(status.processes, communicator.size);
    std::map<std::string, std::map<std::int64_t, RasLevel>> levels;
    for (const auto rank : tree.elements(tree.at(entry, "ranks"))) {
      const auto process = process_of(tree, rank);
      communicator.processes.push_back(process);
      const auto error = tree.integer(tree.at(tree.at(rank, "status"), "async_error")).value_or(0);
      if (const auto name = error_name(error); !name.empty()) communicator.errors.emplace_back(process, name);
      for (const auto& [operation, count] : tree.entries(tree.at(rank, "collective_counts"))) {
        const auto launched = tree.integer(count).value_or(0);
        auto& level = levels[printable(tree.text(operation))][launched];
        level.launched = launched;
        ++level.ranks;
        level.named.push_back(process);
      }
    }
    for (const auto rank : tree.elements(tree.at(entry, "missing_ranks"))) {
      communicator.missing.push_back(process_of(tree, rank));
      if (tree.is_true(tree.at(rank, "considered_dead")) ||
          tree.is_true(tree.at(tree.at(rank, "status"), "considered_dead")))
        status.dead.push_back(communicator.missing.back());
    }
    for (auto& [operation, counts] : levels) {
      if (counts.size() < 2) continue;
      auto& difference = communicator.differences.emplace_back(RasDifference{operation, {}});
      for (auto& [launched, level] : counts) difference.levels.push_back(std::move(level));
    }
  }
  evidence.world = std::max(evidence.world, status.processes);
  evidence.ras.push_back(std::move(status));
}

}  // namespace gradway
