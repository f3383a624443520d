// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/points/merge_shards.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include "sim/cli/commands.hpp"
#include "sim/cli/points/kept_points.hpp"
#include "sim/cli/shell/out_folder.hpp"
#include "sim/cli/shell/program_digest.hpp"

namespace gradway::cli {
namespace {

namespace fs = std::filesystem;

constexpr auto summary_file = "shard.json";

/// A shard that was read, and where.
struct Found {
  fs::path folder;
  report::SweepShard shard;
};

std::string run_again(const Shard& shard) {
  return fmt::format("run it again with '--shard {}/{}': what it finished is kept", shard.number, shard.of);
}

Problem problem_of(std::string what, std::string hint) {
  return {{}, std::move(what), {}, std::move(hint)};
}

bool is_shard(const fs::path& folder) {
  std::error_code ignored;
  return fs::exists(folder / summary_file, ignored);
}

/// Folders with finished shards: the folder itself, or those in it; sorted.
std::vector<fs::path> finished_shards(const fs::path& folder) {
  if (is_shard(folder)) return {folder};
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator entry{folder, error}, end; !error && entry != end; entry.increment(error)) {
    if (entry->path().filename().string().starts_with("shard-") && is_shard(entry->path()))
      found.push_back(entry->path());
  }
  if (error)
    throw ConfigError{problem_of(fmt::format("cannot read '{}': {}", folder.string(), error.message()),
                                 "name the folders that '--shard' wrote into")};
  if (found.empty())
    throw ConfigError{problem_of(fmt::format("there is no finished shard in '{}'", folder.string()),
                                 "name the folders that '--shard' wrote into with '--out'")};
  std::ranges::sort(found);
  return found;
}

report::SweepShard read(const fs::path& folder) {
  std::ifstream file{folder / summary_file, std::ios::binary};
  const auto text = unsealed(summary_file, {std::istreambuf_iterator<char>{file}, {}});
  auto shard = text ? report::read_shard(*text) : std::nullopt;
  if (!shard)
    throw ConfigError{
        problem_of(fmt::format("'{}' is damaged, or is no shard", (folder / summary_file).string()),
                   "run this shard again: what it finished is kept")};
  return std::move(*shard);
}

/// What two shards differ in that are not of one sweep, in words; "" if they are of one.
std::string difference(const report::SweepShard& first, const report::SweepShard& other) {
  const auto same_axis = [](const Axis& a, const Axis& b) { return a.key == b.key && a.values == b.values; };
  if (other.scenario != first.scenario)
    return fmt::format("its scenario is '{}', not '{}'", other.scenario, first.scenario);
  if (!std::ranges::equal(first.axes, other.axes, same_axis)) return "it varies other values";
  if (other.asked != first.asked) return "its settings or its files differ";
  if (other.shard.of != first.shard.of)
    return fmt::format("it is one of {} shards, not of {}", other.shard.of, first.shard.of);
  return "";
}

/// All shards by their numbers; those of one sweep only.
class Shards {
 public:
  explicit Shards(const std::vector<fs::path>& folders) {
    for (const auto& given : folders)
      for (const auto& folder : finished_shards(given)) add({folder, read(folder)});
    if (!problems_.empty()) throw ConfigError{std::move(problems_)};
    check_complete();
  }

  const std::map<std::size_t, Found>& all() const { return all_; }
  const report::SweepShard& first() const { return all_.begin()->second.shard; }

 private:
  void add(Found found) {
    const auto number = found.shard.shard.number;
    if (found.shard.build != program_digest()) {
      problems_.push_back(
          problem_of(fmt::format("'{}' was written by another build of gradway", found.folder.string()),
                     "merge with the program that simulated the shards, and simulate all of them with one"));
    } else if (all_.empty()) {
      all_.emplace(number, std::move(found));
    } else if (const auto why = difference(first(), found.shard); !why.empty()) {
      problems_.push_back(
          problem_of(fmt::format("'{}' is of another sweep than '{}': {}", found.folder.string(),
                                 all_.begin()->second.folder.string(), why),
                     "leave it out, or move it away"));
    } else {
      all_.emplace(number, std::move(found));  // twice the same shard: one will do
    }
  }

  void check_complete() const {
    const auto of = first().shard.of;
    constexpr std::size_t most_named = 20;
    std::vector<std::size_t> missing;
    for (std::size_t number = 1; number <= of; ++number)
      if (!all_.contains(number)) missing.push_back(number);
    if (missing.empty()) return;
    const auto named = std::min(missing.size(), most_named);
    const auto more = missing.size() > named ? fmt::format(" and {} more", missing.size() - named) : "";
    throw ConfigError{problem_of(
        fmt::format("of {} shards {} not there or not finished: {}{}", of,
                    missing.size() == 1 ? "one is" : "these are",
                    fmt::join(missing.begin(), missing.begin() + static_cast<std::ptrdiff_t>(named), ", "),
                    more),
        run_again({missing.front(), of}))};
  }

  std::map<std::size_t, Found> all_;
  std::vector<Problem> problems_;
};

/// Puts the points of one shard where they belong.
void place(const Found& found, MergedSweep& merged) {
  KeptPoints kept{found.folder / "points"};
  const auto places = points_of(found.shard.shard, merged.sweep.points.size());
  std::size_t missing = 0;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const auto& [key, error, status] = found.shard.points[i];
    auto& point = merged.sweep.points[places[i]];
    if (!error.empty()) {
      point.error = error;
      merged.failures[places[i]] = {static_cast<Status>(status), error, {}, {}};
    } else if (auto found_point = kept.find(key)) {
      point.result = std::move(found_point->result);
      point.report = std::move(found_point->report);
    } else {
      ++missing;
    }
  }
  if (missing == 0) return;
  throw ConfigError{
      problem_of(fmt::format("{} of the {} points of {} in '{}' are missing or damaged", missing,
                             places.size(), in_words(found.shard.shard), found.folder.string()),
                 run_again(found.shard.shard))};
}

}  // namespace

std::string folder_of(const Shard& shard) {
  return fmt::format("shard-{}-of-{}", shard.number, shard.of);
}

void put_shard(const fs::path& folder, const report::SweepShard& shard, const CommandContext& context,
               const std::string& remark) {
  std::ostringstream text;
  report::write_json(text, shard, GRADWAY_VERSION);
  put_files(folder.string(),
            {{summary_file, [&](std::ostream& out) { out << sealed(summary_file, text.str()); }}}, context,
            remark);
}

void check_alone(const CLI::App& app) {
  for (const auto* option : app.get_options()) {
    const auto name = option->get_single_name();
    if (option->count() == 0 || name == "merge" || name == "out" || name == "json" || name == "csv") continue;
    refuse(fmt::format("'--merge' has no use for {}", option->get_positional() ? name : "'--" + name + "'"),
           "shards know what they were asked for");
  }
}

MergedSweep merge_shards(const std::vector<fs::path>& folders) {
  const Shards shards{folders};
  const auto& first = shards.first();
  const auto count = point_count(first.axes);
  MergedSweep merged{{first.scenario, first.axes, {}}, std::vector<Failure>(count), shards.all().size()};
  merged.sweep.points.resize(count);
  for (std::size_t i = 0; i < count; ++i) merged.sweep.points[i].values = point_values(first.axes, i);
  for (const auto& [number, found] : shards.all()) place(found, merged);
  return merged;
}

}  // namespace gradway::cli
