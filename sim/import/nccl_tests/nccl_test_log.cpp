// SPDX-License-Identifier: Apache-2.0
#include "sim/import/nccl_tests/nccl_tests.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "sim/base/printable.hpp"
#include "sim/base/text.hpp"

namespace gradway {

namespace {

using namespace std::string_view_literals;

constexpr int most_ranks = 1 << 20;

/// The text after a word and blanks; empty if the word is missing.
std::string_view text_after(std::string_view text, std::string_view word) {
  const auto position = text.find(word);
  if (position == std::string_view::npos) return {};
  text.remove_prefix(position + word.size());
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  return text;
}

std::optional<int> number_after(std::string_view text, std::string_view word) {
  const auto digits = text_after(text, word);
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
                "expected rows such as '1048576 262144 float sum -1 31.2 33.6 58.8 0'");
    }
    return std::move(runs_);
  }

 private:
  void read(const TextLine& line) {
    const auto text = line.text;
    const bool is_from_nccl = contains(text, "NCCL INFO") || contains(text, "NCCL WARN");
    if (is_from_nccl) read_nccl(text);
    if (contains(text, "# nThread")) {
      begin_run();
      run_.iterations = number_after(text_after(text, "warmup iters:"), "iters:");
    } else if (text.starts_with("rccl-tests:") || text.starts_with("RCCL version")) {
      run_.rccl = true;  // both stand between "# nThread" and the table
    } else if (contains(text, "Collective test starting:")) {
      if (!run_.rows.empty()) begin_run();
      run_.program = program_in(text);
    } else if (contains(text, "#") && contains(text, " Rank ") && contains(text, " Pid ") &&
               contains(text, " device ")) {
      if (!run_.rows.empty()) begin_run();  // An excerpt of another job follows.
      read_rank(text);
    } else if (contains(text, "Out of bounds values")) {
      if (contains(text, "FAILED")) fail_wrong(file_.at(line.offset, text.size()));
      end_table();
    } else if (contains(text, "size") && contains(text, "count") && contains(text, "algbw")) {
      if (!run_.rows.empty()) begin_table_of_same_ranks();
      run_.is_old = !contains(text, "#wrong");
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
    const auto host = first_word(text_after(text, " on "));
    auto device = text_after(text, " device ");
    if (!rank) return;
    const auto gpu = text_after(device, "] ");
    if (!gpu.empty()) device.remove_suffix(gpu.size());
    run_.ranks[*rank] = {std::string{host}, std::string{device}};
    if (run_.gpu.empty()) run_.gpu = printable(gpu);
  }

  void read_nccl(std::string_view text) {
    if (contains(text, " via P2P")) run_.transports.insert("P2P");
    if (contains(text, " via SHM") || contains(text, "via direct shared memory"))
      run_.transports.insert("SHM");
    if (contains(text, " via NET") || contains(text, " via COLLNET")) run_.transports.insert("NET");
    if (const auto ranks = number_after(text, "nranks "); ranks && *ranks > 1) run_.rank_count = ranks;
    if (const auto nodes = number_after(text, "nNodes "); nodes && *nodes > 0) run_.node_count = nodes;
    if (const auto word = text_after(text, "NCCL_ALGO set by environment to "); !word.empty())
      run_.algorithm = first_word(word);
    if (const auto word = text_after(text, "NCCL_PROTO set by environment to "); !word.empty())
      run_.protocol = first_word(word);
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
    int numbers = 0;
    int words = 0;
    for (std::size_t position = 0;
         (position = text.find_first_not_of(" \t", position)) != std::string_view::npos;) {
      const auto end = std::min(text.find_first_of(" \t", position), text.size());
      ++words;
      if (text.substr(position, end - position).find_first_not_of("0123456789.-") == std::string_view::npos)
        ++numbers;
      position = end;
    }
    return numbers >= fewest_numbers && words - numbers <= 3;
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

/// @source test_typenames in src/common.cu of nccl-tests and of rccl-tests, old and new
struct ElementType {
  std::string_view name;
  int bytes;
};
constexpr std::array element_types{
    ElementType{"float", 4},    ElementType{"half", 2},        ElementType{"bfloat16", 2},
    ElementType{"double", 8},   ElementType{"int8", 1},        ElementType{"uint8", 1},
    ElementType{"char", 1},     ElementType{"int32", 4},       ElementType{"uint32", 4},
    ElementType{"int", 4},      ElementType{"int64", 8},       ElementType{"uint64", 8},
    ElementType{"f8e4m3", 1},   ElementType{"f8e5m2", 1},      ElementType{"fp8_e4m3", 1},
    ElementType{"fp8_e5m2", 1}, ElementType{"hip_bfloat16", 2}};

struct PlacedWord {
  std::string_view text;
  std::size_t offset = 0;
};

std::vector<PlacedWord> words_of(const TextLine& line) {
  std::vector<PlacedWord> words;
  const auto text = line.text;
  for (std::size_t position = 0;
       (position = text.find_first_not_of(" \t", position)) != std::string_view::npos;) {
    const auto end = std::min(text.find_first_of(" \t", position), text.size());
    words.push_back({text.substr(position, end - position), line.offset + position});
    position = end;
  }
  return words;
}

bool is_whole(std::string_view text) {
  return !text.empty() && text.size() < 19 && text.find_first_not_of("0123456789") == std::string_view::npos;
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
std::optional<std::size_t> start_of_row(std::span<const PlacedWord> words) {
  for (std::size_t i = 0; i <= most_prefix && i + 3 < words.size(); ++i) {
    if (is_whole(words[i].text) && is_whole(words[i + 1].text) && is_letter(words[i + 2].text.front()))
      return i;
  }
  return std::nullopt;
}

class TestLogReader {
 public:
  TestLogReader(const std::string& file, const TextLine& line) : file_{file}, line_{line} {}

  std::variant<std::monostate, NcclTestRow, BrokenTestRow> read() {
    const auto words = words_of(line_);
    const auto start = start_of_row(words);
    if (!start) return {};
    std::span<const PlacedWord> remaining{words};
    remaining = remaining.subspan(*start);
    while (remaining.size() > 3 && is_time_of_day(remaining.back().text))
      remaining = remaining.first(remaining.size() - 1);
    row_.where = place_in(line_, file_, remaining.front().offset, remaining.front().text.size());
    row_.size = Bytes{number(remaining.front().text).value_or(0)};
    row_.count = number(remaining[1].text).value_or(0);
    const auto type = remaining[2];
    remaining = remaining.subspan(3);
    if (!remaining.empty() && is_letter(remaining.front().text.front()) && remaining.front().text != "N/A") {
      if (remaining.front().text != "none") row_.reduction = std::string{remaining.front().text};
      remaining = remaining.subspan(1);
    }
    row_.has_root_column = remaining.size() % columns_of_way == 1;
    if (row_.has_root_column) {
      const auto root = number(remaining.front().text);
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
    const auto* const known = std::ranges::find(element_types, type.text, &ElementType::name);
    if (known == element_types.end()) return broken(type, "is not an element type of nccl-tests");
    row_.element = known->bytes;
    return row_;
  }

 private:
  BrokenTestRow broken(const PlacedWord& word, std::string_view fault) const {
    return {place_in(line_, file_, word.offset, word.text.size()), fmt::format("'{}' {}", word.text, fault),
            false};
  }

  bool read_time(std::span<const PlacedWord> words, NcclTestTime& time) {
    const auto values = {number(words[0].text), number(words[1].text), number(words[2].text)};
    auto word = words.begin();
    for (const auto& value : values) {
      const bool is_time = word == words.begin();
      if (!value || *value < 0 || (is_time && (*value < shortest_time || *value > longest_time))) {
        broken_ =
            broken(*word, is_time ? "is not a valid time in microseconds" : "is not a valid rate in GB/s");
        return false;
      }
      ++word;
    }
    time.time = Seconds{*number(words[0].text) * 1e-6};
    time.algorithm_rate = *number(words[1].text);
    time.bus_rate = *number(words[2].text);
    time.wrong = number(words[3].text);
    if (!time.wrong && words[3].text != "N/A") {
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

std::vector<NcclTestRun> read_nccl_test_log(const TextFile& file) {
  return LogParser{file}.parse();
}

std::variant<std::monostate, NcclTestRow, BrokenTestRow> read_nccl_test_row(const std::string& file,
                                                                            const TextLine& line) {
  return TestLogReader{file, line}.read();
}

}  // namespace gradway
