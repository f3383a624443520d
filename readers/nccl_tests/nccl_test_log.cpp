// SPDX-License-Identifier: Apache-2.0
#include "readers/nccl_tests/nccl_tests.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "sim/base/printable.hpp"
#include "sim/base/text.hpp"

namespace gradway {

namespace tables {
extern const std::string_view nccl_tests;
}

namespace {

using namespace std::string_view_literals;

constexpr int most_ranks = 1 << 20;

/// The text after a fragment, without blanks around it.
std::string_view text_after(std::string_view text, std::string_view fragment) {
  return trimmed(after(text, fragment));
}

std::optional<int> number_after(std::string_view text, std::string_view fragment) {
  const auto value = leading_number(text_after(text, fragment));
  return value && *value > most_ranks ? std::nullopt : value;
}

/// "/opt/nccl-tests/build/all_reduce_perf -b 8" -> "all_reduce"
std::string program_in(std::string_view text) {
  constexpr auto ending = "_perf"sv;
  const auto end = text.find(ending);
  if (end == std::string_view::npos) return "";
  constexpr auto letters = "abcdefghijklmnopqrstuvwxyz_"sv;
  text = text.substr(0, end);
  return std::string{text.substr(text.find_last_not_of(letters) + 1)};  // npos + 1 is 0.
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
                "expected rows such as '1048576 262144 float sum -1 31.2 33.6 58.8 0'");
    }
    return std::move(runs_);
  }

 private:
  void read(const TextLine& line) {
    const auto text = line.text;
    const bool is_from_nccl = contains(text, "NCCL INFO") || contains(text, "NCCL WARN");
    if (is_from_nccl) read_nccl(text);
    const auto says = meaning_of(text);
    if (says == "settings") {
      begin_run();
      run_.iterations = number_after(text_after(text, "warmup iters:"), "iters:");
    } else if (says == "rccl") {
      run_.rccl = true;
    } else if (says == "program") {
      if (!run_.rows.empty()) begin_run();
      run_.program = program_in(text);
    } else if (says == "rank") {
      if (!run_.rows.empty()) begin_run();  // An excerpt of another job follows.
      read_rank(text);
    } else if (says == "wrong") {
      fail_wrong(file_.at(line.offset, text.size()));
    } else if (says == "end") {
      end_table();
    } else if (says == "columns") {
      if (!run_.rows.empty()) begin_table_of_same_ranks();
      run_.is_old = !contains(text, "#wrong");
      in_table_ = true;
    } else if (auto program = program_in(text); !program.empty() && !is_from_nccl) {
      next_program_ = std::move(program);
    } else {
      read_row(line, is_from_nccl);
    }
  }

  /// The first word of the row of nccl_tests.txt whose fragments a line has; empty if there is none.
  static std::string_view meaning_of(std::string_view text) {
    static const auto lines = nccl_test_rows("line");
    const auto row = std::ranges::find_if(lines, [&](const TextRow& line) {
      return std::all_of(line.words.begin() + 1, line.words.end(),
                         [&](std::string_view fragment) { return contains(text, fragment); });
    });
    return row == lines.end() ? std::string_view{} : row->word(0);
  }

  void begin_run() {
    end_table();
    if (!run_.rows.empty()) {
      runs_.push_back(std::move(run_));
      run_ = {};
    }
    if (run_.program.empty()) run_.program = std::exchange(next_program_, "");
    in_table_ = false;
  }

  /// Another table of the same job.
  void begin_table_of_same_ranks() {
    auto next = run_;
    next.rows.clear();
    next.remarks.clear();
    begin_run();
    run_ = std::move(next);
  }

  void end_table() {
    if (rows_of_nothing_ > 0) {
      run_.remarks.push_back(fmt::format("{}:{}: ignored rows of size 0: {}", file_.name, first_of_nothing_,
                                         std::exchange(rows_of_nothing_, 0)));
    }
    if (!broken_) return;
    run_.remarks.push_back(fmt::format("{}:{}: the table ends in the middle of a row, which is ignored",
                                       file_.name, broken_->where.line));
    broken_.reset();
    in_table_ = false;
  }

  /// "#  Rank  0 Group  0 Pid  41000 on node-1 device  0 [0x10] NVIDIA H100 80GB HBM3"
  void read_rank(std::string_view text) {
    const auto rank = number_after(text, " Rank ");
    const auto host = word_after(text, " on ");
    auto device = text_after(text, " device ");
    if (!rank) return;
    const auto gpu = text_after(device, "] ");
    if (!gpu.empty()) device.remove_suffix(gpu.size());
    run_.ranks[*rank] = {std::string{host}, std::string{device}};
    if (run_.gpu.empty()) run_.gpu = printable(gpu);
  }

  void read_nccl(std::string_view text) {
    static const auto transports = nccl_test_rows("transport");
    for (const auto& row : transports)
      if (contains(text, row.word(1))) run_.transports.emplace(row.word(0));
    if (const auto ranks = number_after(text, "nranks "); ranks && *ranks > 1) run_.rank_count = ranks;
    if (const auto nodes = number_after(text, "nNodes "); nodes && *nodes > 0) run_.node_count = nodes;
    if (const auto word = word_after(text, "NCCL_ALGO set by environment to "); !word.empty())
      run_.algorithm = word;
    if (const auto word = word_after(text, "NCCL_PROTO set by environment to "); !word.empty())
      run_.protocol = word;
    for (auto* const word : {&run_.algorithm, &run_.protocol}) {
      if (word->ends_with('.')) word->pop_back();
    }
  }

  [[noreturn]] static void fail_wrong(Where where) {
    refuse_at(std::move(where), "the test found wrong values, so its times are not usable",
              "fix NCCL and run the test again, or remove the run from the log");
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
      run_.remarks.push_back(fmt::format("{}:{}: NCCL's own output interrupts the row, which is ignored",
                                         file_.name, broken->where.line));
      expects_rest_ = true;
    } else if (broken != nullptr) {
      if (broken_ || !broken->is_short) refuse_at(broken->where, broken->what, damaged_hint);
      broken_ = std::move(*broken);
    } else if (in_table_ && !is_from_nccl && looks_like_a_row(line.text)) {
      if (std::exchange(expects_rest_, false)) return;
      refuse_at(file_.at(line.offset + line.text.find_first_not_of(" \t"), 1),
                "this is not a row of nccl-tests: expected size, count and type first", damaged_hint);
    }
  }

  [[noreturn]] void refuse_broken() { refuse_at(broken_->where, broken_->what, damaged_hint); }

  /// Whether the text consists mostly of numbers, at least as many as in a row.
  static bool looks_like_a_row(std::string_view text) {
    constexpr int fewest_numbers = 6;
    const auto words = words_in(text);
    const auto numbers = std::ranges::count_if(words, [](std::string_view word) {
      return word.find_first_not_of("0123456789.-") == std::string_view::npos;
    });
    return numbers >= fewest_numbers && std::ssize(words) - numbers <= 3;
  }

  void add(NcclTestRow row) {
    // In old versions the last column is the largest error, not a count.
    const auto is_wrong = [&](const NcclTestTime& time) {
      return !run_.is_old && time.wrong.value_or(0) != 0;
    };
    if (is_wrong(row.out_of_place) || (row.in_place && is_wrong(*row.in_place))) fail_wrong(row.where);
    if (row.size.value() > 0) {
      run_.rows.push_back(std::move(row));
    } else if (rows_of_nothing_++ == 0) {
      first_of_nothing_ = row.where.line;
    }
  }

  static constexpr auto damaged_hint = "check whether the log is truncated or was edited by hand";

  const TextFile& file_;
  std::vector<NcclTestRun> runs_;
  NcclTestRun run_;
  std::string next_program_;
  std::optional<BrokenTestRow> broken_;  ///< A row that may be the last one of a truncated table.
  bool expects_rest_ = false;            ///< The rest of a row that NCCL's output interrupted is expected.
  int rows_of_nothing_ = 0;              ///< Rows of size 0 in this table, and the line of the first one.
  int first_of_nothing_ = 0;
  bool in_table_ = false;
};

constexpr std::size_t most_prefix = 3;     // Words of a launcher before a line.
constexpr std::size_t columns_of_way = 4;  // Columns: time, algbw, busbw, #wrong.
constexpr double largest_value = 1e18;
constexpr double shortest_time = 1e-3;  // In microseconds, the resolution of clocks.
constexpr double longest_time = 1e10;   // In microseconds: hours.

bool is_whole(std::string_view text) {
  return text.size() < 19 && is_digits(text);
}

std::optional<double> number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool is_good =
      error == std::errc{} && end == text.data() + text.size() && std::abs(value) < largest_value;
  return is_good ? std::optional{value} : std::nullopt;
}

/// Whether this is a date or time such as "2025-11-21" or "14:05:00", which newer versions can print per row.
bool is_time_of_day(std::string_view text) {
  return text.size() >= 8 && text.find_first_not_of("0123456789-:") == std::string_view::npos &&
         text.find_first_of("-:", 1) != std::string_view::npos;
}

/// The number of words before size, count and type; empty if the line does not contain them.
std::optional<std::size_t> start_of_row(std::span<const std::string_view> words) {
  for (std::size_t i = 0; i <= most_prefix && i + 3 < words.size(); ++i) {
    if (is_whole(words[i]) && is_whole(words[i + 1]) && is_letter(words[i + 2].front())) return i;
  }
  return std::nullopt;
}

class TestLogReader {
 public:
  TestLogReader(const std::string& file, const TextLine& line) : file_{file}, line_{line} {}

  std::variant<std::monostate, NcclTestRow, BrokenTestRow> read() {
    const auto words = words_in(line_.text);
    const auto start = start_of_row(words);
    if (!start) return {};
    std::span<const std::string_view> remaining{words};
    remaining = remaining.subspan(*start);
    while (remaining.size() > 3 && is_time_of_day(remaining.back()))
      remaining = remaining.first(remaining.size() - 1);
    row_.where = place(remaining.front());
    row_.size = Bytes{number(remaining.front()).value_or(0)};
    row_.count = number(remaining[1]).value_or(0);
    const auto type = remaining[2];
    remaining = remaining.subspan(3);
    if (!remaining.empty() && is_letter(remaining.front().front()) && remaining.front() != "N/A") {
      if (remaining.front() != "none") row_.reduction = std::string{remaining.front()};
      remaining = remaining.subspan(1);
    }
    row_.has_root_column = remaining.size() % columns_of_way == 1;
    if (row_.has_root_column) {
      const auto root = number(remaining.front());
      if (!root || *root != std::floor(*root)) return broken(remaining.front(), "is not a valid root");
      row_.root = static_cast<int>(std::clamp(*root, -1.0, 1e6));
      remaining = remaining.subspan(1);
    }
    if (remaining.size() != columns_of_way && remaining.size() != 2 * columns_of_way) {
      return BrokenTestRow{place_in(line_, file_, line_.offset + line_.text.size(), 1),
                           fmt::format("the row has {} numbers after its type instead of {} or {}",
                                       remaining.size(), columns_of_way, 2 * columns_of_way),
                           remaining.size() < 2 * columns_of_way};
    }
    if (!read_time(remaining.first(columns_of_way), row_.out_of_place)) return *broken_;
    if (remaining.size() > columns_of_way) {
      row_.in_place.emplace();
      if (!read_time(remaining.subspan(columns_of_way), *row_.in_place)) return *broken_;
    }
    static const auto elements = nccl_test_rows("element");
    const auto known =
        std::ranges::find(elements, type, [](const TextRow& element) { return element.word(0); });
    if (known == elements.end()) return broken(type, "is not an element type of nccl-tests");
    row_.element = known->number("bytes", 0);
    return row_;
  }

 private:
  BrokenTestRow broken(std::string_view word, std::string_view fault) const {
    return {place(word), fmt::format("'{}' {}", word, fault), false};
  }

  Where place(std::string_view word) const {
    const auto position = static_cast<std::size_t>(word.data() - line_.text.data());
    return place_in(line_, file_, line_.offset + position, word.size());
  }

  bool read_time(std::span<const std::string_view> words, NcclTestTime& time) {
    for (std::size_t i = 0; i < 3; ++i) {
      const auto value = number(words[i]);
      const bool is_time = i == 0;
      if (value && *value >= 0 && (!is_time || (*value >= shortest_time && *value <= longest_time))) continue;
      broken_ =
          broken(words[i], is_time ? "is not a valid time in microseconds" : "is not a valid rate in GB/s");
      return false;
    }
    time.time = Seconds{*number(words[0]) * 1e-6};
    time.algorithm_rate = *number(words[1]);
    time.bus_rate = *number(words[2]);
    time.wrong = number(words[3]);
    if (!time.wrong && words[3] != "N/A") {
      broken_ = broken(words[3], "is not a valid number of wrong values");
      return false;
    }
    return true;
  }

  const std::string& file_;
  const TextLine& line_;
  NcclTestRow row_;
  std::optional<BrokenTestRow> broken_;
};

}  // namespace

std::vector<TextRow> nccl_test_rows(std::string_view kind) {
  auto rows = rows_in(tables::nccl_tests);
  std::erase_if(rows, [&](const TextRow& row) { return row.kind != kind; });
  return rows;
}

std::vector<NcclTestRun> read_nccl_test_log(const TextFile& file) {
  return LogParser{file}.parse();
}

std::variant<std::monostate, NcclTestRow, BrokenTestRow> read_nccl_test_row(const std::string& file,
                                                                            const TextLine& line) {
  return TestLogReader{file, line}.read();
}

}  // namespace gradway
