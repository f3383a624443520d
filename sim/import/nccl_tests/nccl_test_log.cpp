// SPDX-License-Identifier: Apache-2.0
#include "sim/import/nccl_tests/nccl_test_log.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "sim/base/printable.hpp"

namespace gradway {
namespace {

using namespace std::string_view_literals;

constexpr int most_ranks = 1 << 20;

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// What stands behind a word and blanks; empty if the word is not there.
std::string_view behind(std::string_view text, std::string_view word) {
  const auto at = text.find(word);
  if (at == std::string_view::npos) return {};
  text.remove_prefix(at + word.size());
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  return text;
}

std::optional<int> number_behind(std::string_view text, std::string_view word) {
  const auto digits = behind(text, word);
  int value = -1;
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return value < 0 || value > most_ranks ? std::nullopt : std::optional{value};
}

std::string_view first_word(std::string_view text) {
  return text.substr(0, text.find_first_of(" \t"));
}

/// "/opt/nccl-tests/build/all_reduce_perf -b 8" -> "all_reduce"
std::string program_in(std::string_view text) {
  constexpr auto ending = "_perf"sv;
  const auto end = text.find(ending);
  if (end == std::string_view::npos) return "";
  constexpr auto letters = "abcdefghijklmnopqrstuvwxyz_"sv;
  const auto start = text.find_last_not_of(letters, end == 0 ? 0 : end - 1);
  return std::string{text.substr(start == std::string_view::npos ? 0 : start + 1,
                                 end - (start == std::string_view::npos ? 0 : start + 1))};
}

class LogParser {
 public:
  explicit LogParser(const TextFile& file) : file_{file} {}

  std::vector<NcclTestRun> parse() {
    for (const auto& line : lines_of(file_.content)) read(line);
    end_table();
    runs_.push_back(std::move(run_));
    std::erase_if(runs_, [](const NcclTestRun& run) { return run.rows.empty(); });
    if (runs_.empty()) {
      refuse_at(file_.whole(), "the file has no table of nccl-tests",
                "a table has rows such as '1048576 262144 float sum -1 31.2 33.6 58.8 0'");
    }
    return std::move(runs_);
  }

 private:
  void read(const TextLine& line) {
    const auto text = line.text;
    const bool is_from_nccl = has(text, "NCCL INFO") || has(text, "NCCL WARN");
    if (is_from_nccl) read_nccl(text);
    if (has(text, "# nThread")) {
      begin_run();
      run_.iterations = number_behind(behind(text, "warmup iters:"), "iters:");
    } else if (has(text, "Collective test starting:")) {
      if (!run_.rows.empty()) begin_run();
      run_.program = program_in(text);
    } else if (has(text, "#") && has(text, " Rank ") && has(text, " Pid ") && has(text, " device ")) {
      read_rank(text);
    } else if (has(text, "Out of bounds values")) {
      if (has(text, "FAILED")) fail_wrong(file_.at(line.offset, text.size()));
      end_table();
    } else if (has(text, "size") && has(text, "count") && has(text, "algbw")) {
      is_old_ = !has(text, "#wrong");
      in_table_ = true;
    } else if (const auto program = program_in(text); !program.empty() && !is_from_nccl) {
      next_program_ = program;
    } else {
      read_row(line, is_from_nccl);
    }
  }

  void begin_run() {
    end_table();
    if (!run_.rows.empty()) {
      runs_.push_back(std::move(run_));
      run_ = {};
    }
    if (run_.program.empty()) run_.program = std::exchange(next_program_, "");
    in_table_ = false;
    is_old_ = false;
  }

  void end_table() {
    if (rows_of_nothing_ > 0) {
      run_.remarks.push_back(fmt::format("{}:{}: rows of size 0 are left out, they send nothing: {}",
                                         file_.name, first_of_nothing_, std::exchange(rows_of_nothing_, 0)));
    }
    if (!broken_) return;
    run_.remarks.push_back(fmt::format("{}:{}: the table ends in the middle of a row, which is left out",
                                       file_.name, broken_->where.line));
    broken_.reset();
    in_table_ = false;
  }

  /// "#  Rank  0 Group  0 Pid  41000 on node-1 device  0 [0x10] NVIDIA H100 80GB HBM3"
  void read_rank(std::string_view text) {
    const auto rank = number_behind(text, " Rank ");
    const auto host = first_word(behind(text, " on "));
    auto device = behind(text, " device ");
    if (!rank) return;
    const auto gpu = behind(device, "] ");
    if (!gpu.empty()) device.remove_suffix(gpu.size());
    run_.ranks[*rank] = {std::string{host}, std::string{device}};
    if (run_.gpu.empty()) run_.gpu = printable(gpu);
  }

  void read_nccl(std::string_view text) {
    if (has(text, " via P2P")) run_.transports.insert("P2P");
    if (has(text, " via SHM") || has(text, "via direct shared memory")) run_.transports.insert("SHM");
    if (has(text, " via NET") || has(text, " via COLLNET")) run_.transports.insert("NET");
    if (const auto ranks = number_behind(text, "nranks "); ranks && *ranks > 1) run_.rank_count = ranks;
    if (const auto nodes = number_behind(text, "nNodes "); nodes && *nodes > 0) run_.node_count = nodes;
    if (const auto word = behind(text, "NCCL_ALGO set by environment to "); !word.empty())
      run_.algorithm = first_word(word);
    if (const auto word = behind(text, "NCCL_PROTO set by environment to "); !word.empty())
      run_.protocol = first_word(word);
    for (auto* const word : {&run_.algorithm, &run_.protocol}) {
      if (word->ends_with('.')) word->pop_back();
    }
  }

  [[noreturn]] static void fail_wrong(Where where) {
    refuse_at(std::move(where), "the test found wrong values: its times are of no use",
              "run it again once NCCL computes right, or leave the run out of the log");
  }

  void read_row(const TextLine& line, bool is_from_nccl) {
    auto read = read_nccl_test_row(file_.name, line);
    if (auto* row = std::get_if<NcclTestRow>(&read)) {
      if (broken_) refuse_broken();
      add(std::move(*row));
      return;
    }
    auto* const broken = std::get_if<BrokenTestRow>(&read);
    if (broken != nullptr && is_from_nccl) {
      run_.remarks.push_back(fmt::format("{}:{}: NCCL's own output runs through the row, which is left out",
                                         file_.name, broken->where.line));
      expects_rest_ = true;
    } else if (broken != nullptr) {
      if (broken_ || !broken->is_short) refuse_at(broken->where, broken->what, damaged_hint);
      broken_ = std::move(*broken);
    } else if (in_table_ && !is_from_nccl && looks_like_a_row(line.text)) {
      if (std::exchange(expects_rest_, false)) return;
      refuse_at(file_.at(line.offset + line.text.find_first_not_of(" \t"), 1),
                "this is no row of nccl-tests: size, count and type are expected first", damaged_hint);
    }
  }

  [[noreturn]] void refuse_broken() { refuse_at(broken_->where, broken_->what, damaged_hint); }

  /// Mostly numbers, as many as a row has.
  static bool looks_like_a_row(std::string_view text) {
    constexpr int fewest_numbers = 6;
    int numbers = 0;
    int words = 0;
    for (std::size_t at = 0; (at = text.find_first_not_of(" \t", at)) != std::string_view::npos;) {
      const auto end = std::min(text.find_first_of(" \t", at), text.size());
      ++words;
      if (text.substr(at, end - at).find_first_not_of("0123456789.-") == std::string_view::npos) ++numbers;
      at = end;
    }
    return numbers >= fewest_numbers && words - numbers <= 3;
  }

  void add(NcclTestRow row) {
    // An old version's last column is the largest error, not a count.
    const auto is_wrong = [&](const NcclTestTime& time) { return !is_old_ && time.wrong.value_or(0) != 0; };
    if (is_wrong(row.out_of_place) || (row.in_place && is_wrong(*row.in_place))) fail_wrong(row.where);
    if (row.size.value() > 0) {
      run_.rows.push_back(std::move(row));
    } else if (rows_of_nothing_++ == 0) {
      first_of_nothing_ = row.where.line;
    }
  }

  static constexpr auto damaged_hint = "has the log been cut off, or edited by hand?";

  const TextFile& file_;
  std::vector<NcclTestRun> runs_;
  NcclTestRun run_;
  std::string next_program_;
  std::optional<BrokenTestRow> broken_;  ///< a row that may be the last one of a table that was cut off
  bool expects_rest_ = false;            ///< of a row that NCCL's output ran through
  int rows_of_nothing_ = 0;              ///< of this table, and the line of the first
  int first_of_nothing_ = 0;
  bool in_table_ = false;
  bool is_old_ = false;
};

}  // namespace

std::vector<NcclTestRun> read_nccl_test_log(const TextFile& file) {
  return LogParser{file}.parse();
}

}  // namespace gradway
