// SPDX-License-Identifier: Apache-2.0
#include "readers/step_log/step_log.hpp"

#include <algorithm>
#include <cmath>
#include <istream>
#include <limits>
#include <map>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "readers/step_log/progress_bar.hpp"
#include "readers/step_log/step_rows.hpp"
#include "sim/base/printable.hpp"
#include "sim/base/rows.hpp"
#include "sim/base/text.hpp"
#include "sim/files/text_file.hpp"

namespace gradway {

namespace {

constexpr std::string_view blanks = " \t\r";

std::vector<std::string_view> names_of(std::string_view kind) {
  std::vector<std::string_view> names;
  for (const auto& row : step_rows(kind)) names.push_back(row.word(0));
  return names;
}

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

/// The step of a progress bar, or in brackets: "1/80 [00:02<02:10", "[  10/5004]". Dates and paths are none,
/// and neither is the end, which each epoch reaches.
std::optional<double> step_of_fraction(std::string_view text) {
  for (auto slash = text.find('/'); slash != std::string_view::npos; slash = text.find('/', slash + 1)) {
    const auto end = text.find_last_not_of(' ', slash - (slash > 0 ? 1 : 0)) + 1;
    const auto before = text.find_last_not_of("0123456789", end - (end > 0 ? 1 : 0));
    const auto begin = before == std::string_view::npos ? 0 : before + 1;
    const auto total = trimmed(text.substr(slash + 1));
    const auto step = begin < end ? leading_number(text.substr(begin, end - begin)).value_or(-1) : -1;
    if (step < 0 || step >= leading_number(total).value_or(-1)) continue;
    const auto mark = begin == 0 ? std::string_view::npos : text.find_last_not_of(' ', begin - 1);
    const bool is_opened = mark != std::string_view::npos && (text[mark] == '[' || text[mark] == '|');
    const auto rest = total.substr(std::min(total.find_first_not_of("0123456789"), total.size()));
    if (is_opened || rest.starts_with(" [")) return step;
  }
  return std::nullopt;
}

/// A text without the sequences that colour it on a terminal.
std::string without_colours(std::string_view line) {
  std::string text;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] != '\x1b') {
      text += line[i];
    } else if (i + 1 < line.size() && line[i + 1] == '[') {
      i = std::min(line.find_first_not_of("0123456789;[", i + 1), line.size() - 1);
    }
  }
  return text;
}

class StepLogReader {
 public:
  StepLogReader(const std::string& file, const StepLogOptions& options)
      : file_{file}, options_{options}, formats_{step_formats(options.rows)} {
    if (options.key) use_key(*options.key);
  }

  /// @param is_complete A line without its end may still be being written. Of an object, the end is seen.
  void read(std::string_view line, bool is_complete) {
    ++line_;
    line = trimmed(line);
    for (const auto& row : without_) {
      if (!without_times_ && line.find(row.word(0)) != std::string_view::npos) without_times_ = &row;
    }
    // A progress bar writes over its line.
    while (!line.empty()) {
      const auto end = line.find('\r');
      const auto segment = trimmed(line.substr(0, end));
      if (end == std::string_view::npos && !is_complete && !segment.starts_with('{')) return;
      read_part(segment.find('\x1b') == std::string_view::npos ? std::string{segment}
                                                               : without_colours(segment));
      line.remove_prefix(end == std::string_view::npos ? line.size() : end + 1);
    }
  }

  std::vector<LoggedStep> finish() {
    auto* const series = longest_series();
    if (series == nullptr || series->steps.size() < options_.fewest) refuse_few(series);
    line_ = 0;
    const auto& format = formats_[series->format];
    auto steps = format.is_rate()                             ? steps_of_rates(*series)
                 : format.counts == StepFormat::Counts::total ? steps_of_totals(*series)
                                                              : std::move(series->steps);
    if (format.is_before) use_bars(series->bars, format, steps);
    for (std::size_t i = 0; i < steps.size(); ++i) {
      if (steps[i].number == unnumbered) steps[i].number = static_cast<std::int64_t>(i) + 1;
    }
    return steps;
  }

 private:
  static constexpr auto unnumbered = std::numeric_limits<std::int64_t>::min();

  /// The values of a rank and a format.
  struct Series {
    std::size_t order = 0;  ///< of its rank in the log
    std::size_t format = 0;
    std::int64_t last = unnumbered;
    std::vector<LoggedStep> steps;
    std::vector<double> values;     ///< of rates
    std::vector<ProgressBar> bars;  ///< fewer than steps if lines have none
    std::vector<int> lines;
  };
  struct Reading {
    StepNumber number;
    std::size_t format = 0;
  };

  /// The user named the value. What it counts follows from the table, or from a batch.
  void use_key(const std::string& key) {
    StepFormat format;
    for (const auto& known : formats_) {
      if (!names_value(known, key) && known.name != lower_case(key)) continue;
      format = known;
      break;
    }
    if (format.name.empty() && options_.batch && !unit_in_name(key))
      format.counts = StepFormat::Counts::samples;
    format.name = key;
    format.is_key = true;
    format.with.clear();
    formats_ = {std::move(format)};
  }

  void read_part(const std::string& line) {
    text_ = line;
    if (line.empty() || line.front() == '#') return;
    LoggedStep step;
    step.number = unnumbered;
    const auto reading = line.front() == '{' ? read_json(line, step) : read_text(line, step);
    if (!reading || !std::isfinite(reading->number.value)) return;
    if (step.number == unnumbered) step.number = block_;
    add(*reading, std::move(step), rank_in(line));
  }

  void add(const Reading& reading, LoggedStep step, const std::string& rank) {
    const auto& format = formats_[reading.format];
    const auto value = reading.number.value;
    if (!format.is_rate()) {
      const auto unit = reading.number.unit ? reading.number.unit : options_.unit;
      if (!unit && !options_.assumes_seconds)
        refuse("the unit of the step time is unknown", "give it with --unit: s, ms or us");
      step.is_unit_assumed = !unit;
      step.time = value * unit.value_or(1.0_s);
    }
    const bool is_total = format.counts == StepFormat::Counts::total;
    const bool is_possible = format.is_rate() ? value > 0 : step.time.value() > 0 || (is_total && value == 0);
    if (!is_possible || !std::isfinite(step.time.value())) {
      if (format.is_rate()) return;  // before the first step
      refuse(fmt::format("a step time of {:g} is not possible", value), "correct or remove the line");
    }
    const auto order = ranks_.try_emplace(rank, ranks_.size()).first->second;
    auto& series =
        series_
            .try_emplace({order, reading.format}, Series{order, reading.format, unnumbered, {}, {}, {}, {}})
            .first->second;
    const auto bar = format.is_before ? progress_bar(text_) : std::nullopt;
    const bool is_repeated = (series.last == step.number && step.number != unnumbered) ||
                             (bar && !series.bars.empty() && series.bars.back().steps == bar->steps);
    series.last = step.number;
    if (is_repeated) return;  // by another rank, or by another line on the same step
    series.steps.push_back(std::move(step));
    series.values.push_back(value);
    series.lines.push_back(line_);
    if (bar && bar->steps > 0) series.bars.push_back(*bar);
  }

  /// What progress bars show is an average, with two decimals.
  static void use_bars(std::vector<ProgressBar>& bars, const StepFormat& format,
                       std::vector<LoggedStep>& steps) {
    if (bars.size() != steps.size()) return;
    constexpr double rounding = 0.005;
    for (std::size_t i = 0; i < bars.size(); ++i) {
      bars[i].time = steps[i].time.value();
      bars[i].rounding = rounding * (format.is_rate() ? bars[i].time * bars[i].time : 1);
    }
    const auto times = step_times(bars);
    for (std::size_t i = 0; i < steps.size(); ++i) steps[i].time = Seconds{times[i]};
  }

  /// All ranks of a job take the same steps: those of one are kept, by the format of most lines.
  Series* longest_series() {
    const auto longest = [&] {
      Series* best = nullptr;
      for (auto& [key, series] : series_) {
        if (best == nullptr || series.steps.size() > best->steps.size() ||
            (series.steps.size() == best->steps.size() && series.format < best->format))
          best = &series;
      }
      return best;
    };
    if (const auto* const best = longest(); best != nullptr && best->steps.size() < options_.fewest)
      join_labels();
    return longest();
  }

  /// Labels with few lines are no ranks: their lines belong together, in the order of the log.
  void join_labels() {
    std::map<std::pair<std::size_t, int>, std::pair<LoggedStep, double>> by_line;  // by format
    for (auto& [key, series] : series_) {
      for (std::size_t i = 0; i < series.steps.size(); ++i)
        by_line.try_emplace({series.format, series.lines[i]}, std::move(series.steps[i]), series.values[i]);
    }
    series_.clear();
    for (auto& [key, step] : by_line) {
      auto& series = series_[{0, key.first}];
      series.format = key.first;
      series.steps.push_back(std::move(step.first));
      series.values.push_back(step.second);
    }
  }

  [[noreturn]] void refuse_few(const Series* series) {
    line_ = 0;
    const auto steps = series == nullptr ? std::size_t{0} : series->steps.size();
    if (without_times_ != nullptr && !options_.key)
      refuse(fmt::format("the log has no step times: {}", without_times_->value("why")),
             std::string{without_times_->value("try")});
    refuse(fmt::format("the log has {} step times, but at least {} are needed", steps, options_.fewest),
           options_.key ? fmt::format("check that its lines have '{}'", *options_.key)
                        : "name the value that has the step time with --key, or give the format as a --row");
  }

  double amount_of(const StepFormat& format) const {
    const auto amounts = options_.amounts.value_or(StepAmounts{});
    return (format.counts == StepFormat::Counts::tokens ? amounts.tokens : amounts.samples) /
           (format.is_per_gpu ? amounts.gpus : 1);
  }

  std::vector<LoggedStep> steps_of_rates(Series& series) const {
    const auto& format = formats_[series.format];
    const bool is_tokens = format.counts == StepFormat::Counts::tokens;
    if (format.needs_batch() && !options_.batch && !options_.amounts)
      refuse(fmt::format("'{}' is a rate in {} per second{}", printable(format.name),
                         is_tokens ? "tokens" : "samples", format.is_per_gpu ? " of a GPU" : ""),
             fmt::format("give the {} of a step{} with --batch", is_tokens ? "tokens" : "samples",
                         format.is_per_gpu ? " of a GPU" : ""));
    const auto amount = format.needs_batch() ? options_.batch.value_or(amount_of(format)) : 1;
    for (std::size_t i = 0; i < series.steps.size(); ++i)
      series.steps[i].time = Seconds{amount / series.values[i]};
    return std::move(series.steps);
  }

  /// Differences of a total. A smaller total is that of a restarted count.
  static std::vector<LoggedStep> steps_of_totals(Series& series) {
    std::vector<LoggedStep> steps;
    LoggedStep before;
    before.number = unnumbered;
    const bool begins_at_zero = !series.steps.empty() && series.steps.size() > 1 &&
                                series.steps[0].time < 10 * (series.steps[1].time - series.steps[0].time);
    for (auto& step : series.steps) {
      const bool is_first = before.number == unnumbered && steps.empty() && before.time == Seconds{};
      const auto numbers = !is_first && step.number != unnumbered && before.number != unnumbered
                               ? std::max<std::int64_t>(1, step.number - before.number)
                               : 1;
      auto difference = (step.time - before.time) / static_cast<double>(numbers);
      const auto total = step.time;
      const auto number = step.number;
      if (difference > Seconds{} && (!is_first || begins_at_zero)) {
        step.time = difference;
        steps.push_back(std::move(step));
      }
      before.time = total;
      before.number = number;
    }
    return steps;
  }

  /// A step number as written. A double holds those up to 2^53 exactly.
  std::int64_t step_number(double number) const {
    constexpr double most = 9007199254740992;
    if (std::abs(number) > most)
      refuse(fmt::format("a step number of {:g} is not possible", number), "correct or remove the line");
    return static_cast<std::int64_t>(number);
  }

  [[noreturn]] void refuse(std::string message, std::string hint) const {
    if (line_ == 0) refuse_at(Where{file_, 0, 0, 0, {}}, std::move(message), std::move(hint));
    refuse_at(Where{file_, line_, 1, static_cast<int>(characters(text_)), shown_line(text_)},
              std::move(message), std::move(hint));
  }

  std::optional<Reading> read_json(std::string_view line, LoggedStep& step) const {
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
    std::optional<Reading> reading;
    for (const auto& [name, value] : json.items()) {
      const auto format = value.is_number() ? format_named(name) : std::nullopt;
      if (format && (!reading || *format < reading->format))
        reading = Reading{with_unit({value.get<double>(), unit_in_name(name)}, *format), *format};
    }
    return reading;
  }

  /// The format of a column or key.
  std::optional<std::size_t> format_named(std::string_view name) const {
    for (std::size_t i = 0; i < formats_.size(); ++i)
      if (names_value(formats_[i], name)) return i;
    return std::nullopt;
  }

  StepNumber with_unit(StepNumber number, std::size_t format) const {
    if (!number.unit) number.unit = formats_[format].unit;
    return number;
  }

  std::optional<Reading> read_text(std::string_view line, LoggedStep& step) {
    if (auto reading = read_numbers(line, step)) return reading;
    if (const auto reading = read_metric(line, step)) return reading;
    return read_sentence(line, step);
  }

  /// Cells of CSV. The first line without a number names the columns.
  std::optional<Reading> read_numbers(std::string_view line, LoggedStep& step) {
    for (const char separator : {',', ';'}) {
      const auto names = columns_.empty() ? cells_of(line, separator) : std::vector<std::string_view>{};
      const bool is_header = names.size() > 1 && std::ranges::none_of(names, [](std::string_view name) {
                               return take_number(name) && name.empty();
                             });
      if (!is_header ||
          std::ranges::none_of(names, [&](auto name) { return format_named(name).has_value(); }))
        continue;
      columns_.assign(names.begin(), names.end());
      separator_ = separator;
      return std::nullopt;
    }
    const auto cells = cells_of(line, separator_);
    std::optional<Reading> reading;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      std::string text{cells[i]};
      if (separator_ == ';') std::ranges::replace(text, ',', '.');  // of a decimal number
      std::string_view remainder{text};
      const auto value = take_number(remainder);
      const auto unit = unit_at(trimmed(remainder));
      const bool is_number = value && (remainder.empty() || unit);
      if (columns_.size() == cells.size()) {
        const auto format = is_number ? format_named(columns_[i]) : std::nullopt;
        if (format && (!reading || *format < reading->format))
          reading = Reading{with_unit({*value, unit ? unit : unit_in_name(columns_[i])}, *format), *format};
        const auto name = lower_case(columns_[i]);
        if (is_number && std::ranges::find(numbers_, name) != numbers_.end())
          step.number = step_number(*value);
        if (std::ranges::find(moments_, columns_[i]) != moments_.end()) step.moment = printable(cells[i]);
      } else if (cells.size() == 1 && is_number && !options_.key) {
        reading = Reading{{*value, unit}, 0};
      }
    }
    return reading;
  }

  /// "train_step_time_seconds{rank="0"} 0.153 1700000000000"
  std::optional<Reading> read_metric(std::string_view line, LoggedStep& step) {
    const auto end = line.find_first_of("{ ");
    if (end == std::string_view::npos) return std::nullopt;
    const auto name = line.substr(0, end);
    const auto format = format_named(name);
    const auto word = lower_case(name);
    const bool is_step = unit_in_name(name) && (contains(word, "step") || contains(word, "iter"));
    if (!format && (options_.key || !is_step)) return std::nullopt;
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
    return Reading{with_unit({*value, unit_in_name(name)}, format.value_or(0)), format.value_or(0)};
  }

  /// A name of the step time and its number: "elapsed time per iteration (ms): 152.3", "time 152.31ms".
  std::optional<Reading> read_sentence(std::string_view line, LoggedStep& step) {
    const auto text = lower_case(line);
    for (const auto name : blocks_) {
      const auto number = number_behind(text, name);
      if (number) block_ = step_number(number->value);
    }
    std::optional<Reading> reading;
    for (std::size_t i = 0; i < formats_.size() && !reading; ++i) {
      auto format = formats_[i];
      if (format.is_key) format.name = lower_case(format.name);
      if (const auto number = number_of(format, text)) reading = Reading{*number, i};
    }
    if (!reading) return std::nullopt;
    for (const auto name : numbers_) {
      const auto number = number_behind(text, name);
      if (number && number->value != reading->number.value) {  // not the time of "time per step"
        step.number = step_number(number->value);
        return reading;
      }
    }
    if (const auto number = step_of_fraction(line)) step.number = step_number(*number);
    return reading;
  }

  std::string file_;
  const StepLogOptions& options_;
  std::vector<StepFormat> formats_;
  const std::vector<std::string_view> numbers_ = names_of("number");
  const std::vector<std::string_view> moments_ = names_of("moment");
  const std::vector<std::string_view> blocks_ = names_of("block");
  const std::vector<TextRow> without_ = step_rows("without");
  const TextRow* without_times_ = nullptr;
  int line_ = 0;
  std::string text_;                   ///< Of the line.
  std::int64_t block_ = unnumbered;    ///< Step of the block of lines.
  std::vector<std::string> columns_;   ///< Of CSV.
  char separator_ = ',';               ///< Of CSV; with ';', decimals have a comma.
  std::optional<std::string> labels_;  ///< Of the metric.
  std::map<std::string, std::size_t> ranks_;
  std::map<std::pair<std::size_t, std::size_t>, Series> series_;  ///< by rank and format
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
