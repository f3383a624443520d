// SPDX-License-Identifier: Apache-2.0
#include "readers/loader/loader.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/base/nearest.hpp"
#include "sim/base/problem.hpp"

namespace gradway {
namespace {

using Json = nlohmann::json;

/// A key of a run and its range.
struct Key {
  std::string_view name;
  bool required;
  bool whole;
  double least;
  double most;
};
constexpr std::array keys{Key{"workers", true, true, 0, 4096}, Key{"batch", true, true, 1, 1e6},
                          Key{"batches", true, true, 1, 1e9},  Key{"seconds", true, false, 1e-6, 1e7},
                          Key{"samples", true, true, 1, 1e15}, Key{"bytes", false, false, 1, 1e15},
                          Key{"threads", false, true, 1, 1e5}, Key{"first_batch_s", false, false, 0, 1e7}};

/// Reads the map of numbers in a line.
class Line {
 public:
  Line(const TextFile& log, const TextLine& line, std::vector<Problem>& problems)
      : log_{log}, line_{line}, problems_{problems} {}

  std::optional<LoaderRun> read() {
    const auto before = problems_.size();
    try {
      // Limits the depth: the parser itself would follow any nesting.
      json_ = Json::parse(line_.text, [](int depth, Json::parse_event_t, const Json&) { return depth < 3; });
    } catch (const Json::parse_error& error) {
      const auto offset = std::min(line_.text.size() - 1, error.byte == 0 ? 0 : error.byte - 1);
      add(offset, 1, "this line is not valid JSON", "check whether the line is truncated");
      return std::nullopt;
    } catch (const Json::exception&) {
      add(0, 1, "a number in this line is too large", "");
      return std::nullopt;
    }
    if (!json_.is_object()) {
      add(0, 1, "this line is not a run", "expected a map such as {\"workers\": 4, \"batch\": 64, ...}");
      return std::nullopt;
    }
    for (const auto& [key, value] : json_.items()) check(key, value);
    for (const auto& key : keys)
      if (key.required && !json_.contains(key.name))
        add(0, 1, fmt::format("the key '{}' is missing", key.name), "");
    if (problems_.size() > before) return std::nullopt;
    LoaderRun run;
    run.workers = static_cast<int>(*number("workers"));
    run.batch = static_cast<int>(*number("batch"));
    run.batches = static_cast<int>(*number("batches"));
    run.seconds = Seconds{*number("seconds")};
    run.samples = *number("samples");
    if (const auto bytes = number("bytes")) run.sample_size = Bytes{*bytes};
    if (const auto threads = number("threads")) run.threads = static_cast<int>(*threads);
    if (const auto first = number("first_batch_s")) run.first_batch = Seconds{*first};
    return run;
  }

 private:
  std::optional<double> number(std::string_view key) const {
    const auto entry = json_.find(key);
    return entry == json_.end() ? std::nullopt : std::optional{entry->get<double>()};
  }

  void check(const std::string& name, const Json& value) {
    const auto key = std::ranges::find(keys, name, &Key::name);
    if (key == keys.end()) {
      std::vector<std::string> names;
      for (const auto& known_key : keys) names.emplace_back(known_key.name);
      return add_at(name, fmt::format("unknown key '{}'", name), suggestion(name, names));
    }
    const bool is_number = value.is_number();
    const auto is = is_number ? value.get<double>() : 0.0;
    const bool fits =
        is_number && is >= key->least && is <= key->most && (!key->whole || is == std::floor(is));
    if (!fits)
      add_at(name,
             fmt::format("'{}' must be {} from {:g} to {:g}", name,
                         key->whole ? "a whole number" : "a number", key->least, key->most),
             "");
  }

  void add_at(const std::string& key, std::string message, std::string hint) {
    const auto position = line_.text.find(fmt::format("\"{}\"", key));
    const bool is_found = position != std::string_view::npos;
    add(is_found ? position + 1 : 0, is_found ? key.size() : 1, std::move(message), std::move(hint));
  }

  void add(std::size_t position, std::size_t length, std::string message, std::string hint) {
    problems_.push_back({place_in(line_, log_.name, line_.offset + position, length),
                         std::move(message),
                         {},
                         std::move(hint)});
  }

  const TextFile& log_;
  const TextLine& line_;
  std::vector<Problem>& problems_;
  Json json_;
};

}  // namespace

std::vector<LoaderRun> read_loader_log(const TextFile& log) {
  constexpr std::size_t most_problems = 20;
  std::vector<Problem> problems;
  std::vector<LoaderRun> runs;
  for (const auto& line : lines_of(log.content)) {
    const auto first = line.text.find_first_not_of(" \t");
    if (first == std::string_view::npos || line.text[first] != '{') continue;
    if (problems.size() >= most_problems) break;
    const auto run = Line{log, line, problems}.read();
    if (!run) continue;
    const auto place = place_in(line, log.name, line.offset + first, 1);
    if (std::ranges::find(runs, run->workers, &LoaderRun::workers) != runs.end())
      problems.push_back(
          {place, fmt::format("duplicate run with {} workers", run->workers), {}, "remove one of them"});
    if (!runs.empty() &&
        (runs.front().samples != run->samples || runs.front().batch != run->batch ||
         runs.front().sample_size != run->sample_size || runs.front().threads != run->threads))
      problems.push_back({place,
                          "samples, bytes, batch or threads differ from those of the first run",
                          {},
                          "give runs of one dataset on one machine"});
    runs.push_back(*run);
  }
  if (!problems.empty()) throw ConfigError{std::move(problems)};
  if (runs.empty())
    refuse_at(log.whole(), "the file contains no runs", "docs/data-path.md has a script that prints them");
  std::ranges::sort(runs, {}, &LoaderRun::workers);
  return runs;
}

}  // namespace gradway
