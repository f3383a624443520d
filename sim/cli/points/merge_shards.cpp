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
#include "sim/cli/points/point_cache.hpp"
#include "sim/cli/shell/out_folder.hpp"
#include "sim/cli/shell/program_digest.hpp"

namespace gradway::cli {
namespace {

namespace fs = std::filesystem;

constexpr auto summary_file = "shard.json";

/// A shard and its folder.
struct Found {
  fs::path folder;
  report::SweepShard shard;
};

std::string run_again(const Shard& shard) {
  return fmt::format("run it again with '--shard {}/{}': finished points are not simulated again",
                     shard.number, shard.of);
}

Problem problem_of(std::string what, std::string hint) {
  return {{}, std::move(what), {}, std::move(hint)};
}

bool is_shard(const fs::path& folder) {
  std::error_code ignored;
  return fs::exists(folder / summary_file, ignored);
}

/// Folders with finished shards: the folder itself, or its subfolders; sorted.
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
  const auto text = checked_content(summary_file, {std::istreambuf_iterator<char>{file}, {}});
  auto shard = text ? report::read_shard(*text) : std::nullopt;
  if (!shard)
    throw ConfigError{
        problem_of(fmt::format("'{}' is damaged, or is not a shard", (folder / summary_file).string()),
                   "run this shard again: finished points are not simulated again")};
  return std::move(*shard);
}

/// The difference between the sweeps of two shards in words; empty if they belong to the same sweep.
std::string difference(const report::SweepShard& first, const report::SweepShard& other) {
  const auto same_axis = [](const Axis& a, const Axis& b) { return a.key == b.key && a.values == b.values; };
  if (other.scenario != first.scenario)
    return fmt::format("its scenario is '{}', not '{}'", other.scenario, first.scenario);
  if (!std::ranges::equal(first.axes, other.axes, same_axis)) return "it varies other values";
  if (other.asked != first.asked) return "its settings or files differ";
  if (other.shard.of != first.shard.of)
    return fmt::format("it is one of {} shards instead of {}", other.shard.of, first.shard.of);
  return "";
}

/// The shards of one sweep by number.
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
                     "simulate and merge all shards with the same build"));
    } else if (all_.empty()) {
      all_.emplace(number, std::move(found));
    } else if (const auto why = difference(first(), found.shard); !why.empty()) {
      problems_.push_back(
          problem_of(fmt::format("'{}' belongs to another sweep than '{}': {}", found.folder.string(),
                                 all_.begin()->second.folder.string(), why),
                     "leave it out, or move it to another folder"));
    } else {
      all_.emplace(number, std::move(found));  // a shard that is given twice is used once
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
        fmt::format("{} of {} shards {} missing or not finished: {}{}", missing.size(), of,
                    missing.size() == 1 ? "is" : "are",
                    fmt::join(missing.begin(), missing.begin() + static_cast<std::ptrdiff_t>(named), ", "),
                    more),
        run_again({missing.front(), of}))};
  }

  std::map<std::size_t, Found> all_;
  std::vector<Problem> problems_;
};

/// Copies the points of a shard to their positions in the sweep.
void place(const Found& found, MergedSweep& merged) {
  PointCache kept{found.folder / "points"};
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

void write_shard(const fs::path& folder, const report::SweepShard& shard, const CommandContext& context,
                 const std::string& remark) {
  std::ostringstream text;
  report::write_json(text, shard, GRADWAY_VERSION);
  write_named_files(
      folder.string(),
      {{summary_file, [&](std::ostream& out) { out << with_digest(summary_file, text.str()); }}}, context,
      remark);
}

void check_merge_options(const CLI::App& app) {
  for (const auto* option : app.get_options()) {
    const auto name = option->get_single_name();
    if (option->count() == 0 || name == "merge" || name == "out" || name == "json" || name == "csv") continue;
    refuse(fmt::format("'--merge' does not go with {}", option->get_positional() ? name : "'--" + name + "'"),
           "leave it out: shards have their settings");
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
