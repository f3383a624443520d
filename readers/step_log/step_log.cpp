// SPDX-License-Identifier: Apache-2.0
#include "readers/step_log/step_log.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <istream>
#include <limits>
#include <map>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/base/printable.hpp"
#include "sim/base/rows.hpp"
#include "sim/base/text.hpp"
#include "sim/files/text_file.hpp"

namespace gradway {

namespace tables {
extern const std::string_view step_log;
}

namespace {

constexpr std::size_t fewest_steps = 20;
constexpr std::string_view blanks = " \t\r";

/// Rows of step_log.txt of a kind.
std::vector<TextRow> rows_of(std::string_view kind) {
  auto rows = rows_in(tables::step_log);
  std::erase_if(rows, [&](const TextRow& row) { return row.kind != kind; });
  return rows;
}

std::vector<std::string_view> names_of(std::string_view kind) {
  std::vector<std::string_view> names;
  for (const auto& row : rows_of(kind)) names.push_back(row.word(0));
  return names;
}

/// The number at the beginning of a text, which is removed with it. Words such as "info" are none.
std::optional<double> take_number(std::string_view& text) {
  double value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (read.ec != std::errc{} || !std::isfinite(value)) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(read.ptr - text.data()));
  return value;
}

/// A unit at the beginning of a text, not as a part of a word.
std::optional<Seconds> unit_at(std::string_view text) {
  static const auto units = rows_of("unit");
  for (const auto& unit : units) {
    const auto name = unit.word(0);
    if (text.starts_with(name) && (text.size() == name.size() || !is_letter(text[name.size()])))
      return Seconds{std::stod(std::string{unit.word(1)})};
  }
  return std::nullopt;
}

/// The unit in which the name of a value ends: "step_time_ms", "step_time_seconds".
std::optional<Seconds> unit_in_name(std::string_view name) {
  const auto last = name.find_last_of("_ /");
  return last == std::string_view::npos ? std::nullopt : unit_at(name.substr(last + 1));
}

/// A step time in a line, and its unit if the line has one.
struct Found {
  double value = 0;
  std::optional<Seconds> unit;
};

/// The cells of a line of CSV. A cell in double quotes may contain the separator.
std::vector<std::string_view> cells_of(std::string_view line, char separator) {
  std::vector<std::string_view> cells;
  for (;;) {
    line.remove_prefix(std::min(line.find_first_not_of(blanks), line.size()));
    const auto quote = line.starts_with('"') ? line.find('"', 1) : std::string_view::npos;
    const auto end = line.find(separator, quote == std::string_view::npos ? 0 : quote);
    const auto cell = trimmed(line.substr(0, end));
    const bool is_quoted = cell.size() > 1 && cell.starts_with('"') && cell.ends_with('"');
    cells.push_back(is_quoted ? cell.substr(1, cell.size() - 2) : cell);
    if (end == std::string_view::npos) return cells;
    line.remove_prefix(end + 1);
  }
}

/// The rank that a line names, as in "rank=3", or as a label of torchrun, srun or mpirun in front:
/// "[rank3]:", "3: iter 7", "[1,3]<stdout>: iter 7". Empty if it names none.
std::string rank_in(std::string_view line) {
  const auto digits = [](std::string_view text) {
    return std::string{text.substr(0, std::min(text.find_first_not_of("0123456789"), text.size()))};
  };
  const auto text = lower_case(line);
  for (auto position = text.find("rank"); position != std::string::npos;
       position = text.find("rank", position + 1)) {
    if (position > 0 && is_letter(text[position - 1])) continue;
    const auto number = text.find_first_not_of(" \"'=:_#", position + 4);
    if (number == std::string::npos) break;
    if (auto rank = digits(line.substr(number)); !rank.empty()) return rank;
  }
  for (const std::string_view start : {"[1,", "[default", "[", ""}) {
    if (!line.starts_with(start)) continue;
    auto rank = digits(line.substr(start.size()));
    const auto label = line.substr(start.size() + rank.size());
    const bool is_label =
        start.empty() ? label.starts_with(": ") : label.starts_with("]:") || label.starts_with("]<");
    if (!rank.empty() && is_label) return rank;
  }
  return {};
}

class StepLogReader {
 public:
  StepLogReader(const std::string& file, const StepLogOptions& options) : file_{file}, options_{options} {}

  /// @param is_complete A line without its end may still be being written. Of an object, the end is seen.
  void read(std::string_view line, bool is_complete) {
    ++line_;
    line = trimmed(line);
    if (!is_complete && !line.starts_with('{')) return;
    text_ = line;
    if (line.empty() || line.starts_with('#')) return;
    LoggedStep step;
    step.number = unnumbered;
    const auto reading = line.starts_with('{') ? read_json(line, step) : read_text(line, step);
    if (!reading || !std::isfinite(reading->value)) return;
    const auto unit = reading->unit ? reading->unit : options_.unit;
    if (!unit) {
      refuse("the unit of the step time is unknown", "give it with --unit: s, ms or us");
    }
    step.time = reading->value * *unit;
    if (!std::isfinite(step.time.value()) || step.time <= Seconds{})
      refuse(fmt::format("a step time of {:g} is not possible", reading->value),
             "correct or remove the line");
    auto& rank = ranks_.try_emplace(rank_in(line), Rank{static_cast<int>(ranks_.size())}).first->second;
    const bool is_repeated = rank.last == step.number && step.number != unnumbered;
    rank.last = step.number;
    if (is_repeated) return;  // by another rank, or by another line on the same step
    ++rank.steps;
    rank_of_step_.push_back(rank.id);
    steps_.push_back(std::move(step));
  }

  std::vector<LoggedStep> finish() {
    keep_longest_rank();
    if (steps_.size() < fewest_steps) {
      line_ = 0;
      refuse(
          fmt::format("the log has {} step times, but at least {} are needed", steps_.size(), fewest_steps),
          options_.key ? fmt::format("check that its lines have '{}'", *options_.key)
                       : "name the value that has the step time with --key");
    }
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      if (steps_[i].number == unnumbered) steps_[i].number = static_cast<std::int64_t>(i);
    }
    return std::move(steps_);
  }

 private:
  /// A step number as written. A double holds those up to 2^53 exactly.
  std::int64_t step_number(double number) const {
    constexpr double most = 9007199254740992;
    if (std::abs(number) > most)
      refuse(fmt::format("a step number of {:g} is not possible", number), "correct or remove the line");
    return static_cast<std::int64_t>(number);
  }

  static constexpr auto unnumbered = std::numeric_limits<std::int64_t>::min();

  struct Rank {
    int id = 0;
    std::int64_t last = unnumbered;  ///< number of its last step
    std::size_t steps = 0;
  };

  /// All ranks of a job take the same steps: those of one are kept. Labels with few lines are no ranks.
  void keep_longest_rank() {
    const auto steps = [](const auto& rank) { return rank.second.steps; };
    const auto longest = std::ranges::max_element(ranks_, {}, steps);
    if (ranks_.size() < 2 || steps(*longest) < fewest_steps) return;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      if (rank_of_step_[i] == longest->second.id) steps_[kept++] = std::move(steps_[i]);
    }
    steps_.resize(kept);
  }

  [[noreturn]] void refuse(std::string message, std::string hint) const {
    if (line_ == 0) refuse_at(Where{file_, 0, 0, 0, {}}, std::move(message), std::move(hint));
    refuse_at(Where{file_, line_, 1, static_cast<int>(characters(text_)), shown_line(text_)},
              std::move(message), std::move(hint));
  }

  std::optional<Found> read_json(std::string_view line, LoggedStep& step) const {
    const auto json = nlohmann::json::parse(line, nullptr, false);
    if (!json.is_object()) return std::nullopt;
    for (const auto name : numbers_) {
      const auto number = json.find(name);
      if (number == json.end() || !number->is_number()) continue;
      step.number = step_number(number->get<double>());
      break;
    }
    for (const auto name : moments_) {
      const auto moment = json.find(name);
      if (moment == json.end() || !moment->is_string()) continue;
      step.moment = printable(moment->get<std::string>());
      break;
    }
    for (const auto& [name, value] : json.items()) {
      if (value.is_number() && is_time(name)) return Found{value.get<double>(), unit_in_name(name)};
    }
    return std::nullopt;
  }

  /// Whether a value is the step time, by its whole name.
  bool is_time(std::string_view name) const {
    if (options_.key) return name == *options_.key;
    const auto word = lower_case(name);
    return std::ranges::any_of(times_, [&](const TextRow& row) {
      if (!row.value("needs").empty() || !word.starts_with(row.word(0))) return false;
      return word.size() == row.word(0).size() || unit_in_name(word).has_value();
    });
  }

  std::optional<Found> read_text(std::string_view line, LoggedStep& step) {
    if (auto reading = read_numbers(line, step)) return reading;
    if (const auto reading = read_metric(line, step)) return reading;
    return read_sentence(line, step);
  }

  /// Cells of CSV. The first line without a number names the columns.
  std::optional<Found> read_numbers(std::string_view line, LoggedStep& step) {
    for (const char separator : {',', ';'}) {
      const auto names = columns_.empty() ? cells_of(line, separator) : std::vector<std::string_view>{};
      if (std::ranges::none_of(names, [&](auto name) { return is_time(name); })) continue;
      columns_.assign(names.begin(), names.end());
      separator_ = separator;
      return std::nullopt;
    }
    const auto cells = cells_of(line, separator_);
    std::optional<Found> reading;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      std::string text{cells[i]};
      if (separator_ == ';') std::ranges::replace(text, ',', '.');  // of a decimal number
      std::string_view remainder{text};
      const auto value = take_number(remainder);
      const auto unit = unit_at(trimmed(remainder));
      const bool is_number = value && (remainder.empty() || unit);
      if (columns_.size() == cells.size()) {
        if (is_number && is_time(columns_[i]))
          reading = Found{*value, unit ? unit : unit_in_name(columns_[i])};
        if (is_number && std::ranges::find(numbers_, columns_[i]) != numbers_.end())
          step.number = step_number(*value);
        if (std::ranges::find(moments_, columns_[i]) != moments_.end()) step.moment = printable(cells[i]);
      } else if (cells.size() == 1 && is_number && !options_.key) {
        reading = Found{*value, unit};
      }
    }
    return reading;
  }

  /// "train_step_time_seconds{rank="0"} 0.153 1700000000000"
  std::optional<Found> read_metric(std::string_view line, LoggedStep& step) {
    const auto end = line.find_first_of("{ ");
    if (end == std::string_view::npos) return std::nullopt;
    const auto name = line.substr(0, end);
    const bool is_wanted = options_.key
                               ? name == *options_.key
                               : unit_in_name(name) && (lower_case(name).find("step") != std::string::npos ||
                                                        lower_case(name).find("iter") != std::string::npos);
    if (!is_wanted) return std::nullopt;
    auto remainder = line.substr(end);
    const auto close = remainder.starts_with('{') ? remainder.find('}') : std::string_view::npos;
    const auto labels = close == std::string_view::npos ? std::string_view{} : remainder.substr(0, close + 1);
    remainder = trimmed(remainder.substr(labels.size()));
    const auto value = take_number(remainder);
    if (!value) return std::nullopt;
    if (!labels_) labels_ = labels;
    if (*labels_ != labels) {
      refuse(fmt::format("the log has several series: {}{} and {}", printable(name), printable(*labels_),
                         printable(labels)),
             "keep the lines of one rank");
    }
    step.moment = printable(trimmed(remainder));
    return Found{*value, unit_in_name(name)};
  }

  /// A name of the step time, then its number: "elapsed time per iteration (ms): 152.3", "time 152.31ms".
  std::optional<Found> read_sentence(std::string_view line, LoggedStep& step) const {
    const auto text = lower_case(line);
    std::optional<Found> reading;
    if (options_.key) {
      reading = number_after(text, lower_case(*options_.key));
    } else {
      for (const auto& row : times_) {
        reading = number_after(text, row.word(0));
        if (reading && (reading->unit || row.value("needs").empty())) break;
        reading.reset();
      }
    }
    if (!reading) return std::nullopt;
    for (const auto name : numbers_) {
      const auto number = number_after(text, name);
      if (number && number->value != reading->value) {  // not the time of "time per step"
        step.number = step_number(number->value);
        break;
      }
    }
    return reading;
  }

  /// The number after a word, at most a unit in brackets and some punctuation away.
  static std::optional<Found> number_after(std::string_view text, std::string_view word) {
    for (auto position = text.find(word); position != std::string_view::npos;
         position = text.find(word, position + 1)) {
      if (position > 0 && is_letter(text[position - 1])) continue;
      auto remainder = text.substr(position + word.size());
      std::optional<Seconds> unit;
      if (!remainder.empty() && remainder.front() == '_') unit = unit_at(remainder.substr(1));
      if (unit) remainder.remove_prefix(std::min(remainder.find_first_of(" =:\""), remainder.size()));
      remainder.remove_prefix(std::min(remainder.find_first_not_of(blanks), remainder.size()));
      if (remainder.starts_with('(') || remainder.starts_with('[')) {
        unit = unit_at(remainder.substr(1));
        remainder.remove_prefix(std::min(remainder.find_first_of(")]") + 1, remainder.size()));
      }
      remainder.remove_prefix(std::min(remainder.find_first_not_of(" \t:=\"'|"), remainder.size()));
      const auto value = take_number(remainder);
      if (!value) continue;
      remainder.remove_prefix(std::min(remainder.find_first_not_of(blanks), remainder.size()));
      return Found{*value, unit ? unit : unit_at(remainder)};
    }
    return std::nullopt;
  }

  std::string file_;
  const StepLogOptions& options_;
  const std::vector<TextRow> times_ = rows_of("time");
  const std::vector<std::string_view> numbers_ = names_of("number");
  const std::vector<std::string_view> moments_ = names_of("moment");
  int line_ = 0;
  std::string_view text_;              ///< Of the line.
  std::vector<std::string> columns_;   ///< Of CSV.
  char separator_ = ',';               ///< Of CSV; with ';', decimals have a comma.
  std::optional<std::string> labels_;  ///< Of the metric.
  std::vector<LoggedStep> steps_;
  std::map<std::string, Rank> ranks_;
  std::vector<int> rank_of_step_;
};

}  // namespace

std::vector<LoggedStep> read_step_log(std::istream& lines, const std::string& file,
                                      const StepLogOptions& options) {
  StepLogReader reader{file, options};
  for (std::string line; std::getline(lines, line);) {
    reader.read(line, !lines.eof());
  }
  return reader.finish();
}

}  // namespace gradway
