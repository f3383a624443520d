// SPDX-License-Identifier: Apache-2.0
#include "cli/points/point_cache.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include "cli/commands.hpp"
#include "cli/shell/files.hpp"
#include "cli/shell/out_folder.hpp"
#include "cli/shell/program_digest.hpp"
#include "sim/base/digest.hpp"

namespace gradway::cli {
namespace {

namespace fs = std::filesystem;

std::string digest_of(const std::string& key, std::string_view report) {
  Digest digest;
  digest.add(key);
  digest.add(report);
  return digest.hex();
}

/// The beginning of an object with a digest. The rest of the object without its brace follows.
std::string beginning(const std::string& digest) {
  return fmt::format("{{\"digest\": \"{}\",", digest);
}

/// The digest is checked before the text is parsed as JSON, because damaged text may exceed the parser's
/// limits.
std::optional<report::SweepPoint> point_in(const std::string& key, const std::string& text) {
  auto report = checked_content(key, text);
  return report ? report::read_point(*std::move(report)) : std::nullopt;
}

}  // namespace

std::string with_digest(const std::string& key, std::string_view object) {
  return beginning(digest_of(key, object)).append(object.substr(1));
}

std::optional<std::string> checked_content(const std::string& key, const std::string& text) {
  const auto length = beginning(digest_of(key, "")).size();
  if (text.size() <= length) return std::nullopt;
  auto object = "{" + text.substr(length);
  return text.starts_with(beginning(digest_of(key, object))) ? std::optional{std::move(object)}
                                                             : std::nullopt;
}

PointCache::PointCache(fs::path folder) : folder_{std::move(folder)} {
  remove_abandoned_files(folder_);
}

std::optional<report::SweepPoint> PointCache::find(const std::string& key) {
  const auto path = folder_ / (key + ".json");
  std::error_code ignored;
  if (!fs::exists(path, ignored)) return std::nullopt;
  std::optional<report::SweepPoint> point;
  if (fs::is_regular_file(path, ignored)) {
    std::ifstream file{path, std::ios::binary};
    point = point_in(key, {std::istreambuf_iterator<char>{file}, {}});
  }
  ++(point ? found_ : damaged_);
  return point;
}

void PointCache::store(const std::string& key, const std::string& report) const {
  write_files(folder_, {{key + ".json", [&](std::ostream& out) { out << with_digest(key, report); }}});
}

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

Problem problem_of(std::string message, std::string hint) {
  return {{}, std::move(message), {}, std::move(hint)};
}

bool is_shard(const fs::path& folder) {
  std::error_code ignored;
  return fs::exists(folder / summary_file, ignored);
}

/// Folders with finished shards: the folder itself, or its subfolders; sorted.
std::vector<fs::path> finished_shards(const fs::path& folder) {
  if (is_shard(folder)) return {folder};
  std::vector<fs::path> shards;
  std::error_code error;
  for (fs::directory_iterator entry{folder, error}, end; !error && entry != end; entry.increment(error)) {
    if (entry->path().filename().string().starts_with("shard-") && is_shard(entry->path()))
      shards.push_back(entry->path());
  }
  if (error)
    refuse(fmt::format("cannot read '{}': {}", folder.string(), error.message()),
           "name the folders that '--shard' wrote into");
  if (shards.empty())
    refuse(fmt::format("there is no finished shard in '{}'", folder.string()),
           "name the folders that '--shard' wrote into with '--out'");
  std::ranges::sort(shards);
  return shards;
}

report::SweepShard read(const fs::path& folder) {
  std::ifstream file{folder / summary_file, std::ios::binary};
  const auto text = checked_content(summary_file, {std::istreambuf_iterator<char>{file}, {}});
  auto shard = text ? report::read_shard(*text) : std::nullopt;
  if (!shard)
    refuse(fmt::format("'{}' is damaged, or is not a shard", (folder / summary_file).string()),
           "run this shard again: finished points are not simulated again");
  return std::move(*shard);
}

/// The difference between the sweeps of two shards in words; empty if they belong to the same sweep.
std::string difference(const report::SweepShard& first, const report::SweepShard& candidate) {
  const auto same_axis = [](const Axis& a, const Axis& b) { return a.key == b.key && a.values == b.values; };
  if (candidate.scenario != first.scenario)
    return fmt::format("its scenario is '{}', not '{}'", candidate.scenario, first.scenario);
  if (!std::ranges::equal(first.axes, candidate.axes, same_axis)) return "it varies other values";
  if (candidate.asked != first.asked) return "its settings or files differ";
  if (candidate.shard.of != first.shard.of)
    return fmt::format("it is one of {} shards instead of {}", candidate.shard.of, first.shard.of);
  return "";
}

/// The shards of one sweep by number.
class Shards {
 public:
  explicit Shards(const std::vector<fs::path>& folders) {
    for (const auto& argument : folders)
      for (const auto& folder : finished_shards(argument)) add({folder, read(folder)});
    if (!problems_.empty()) throw ConfigError{std::move(problems_)};
    check_complete();
  }

  const std::map<std::size_t, Found>& all() const { return all_; }
  const report::SweepShard& first() const { return all_.begin()->second.shard; }

 private:
  void add(Found finished) {
    const auto number = finished.shard.shard.number;
    if (finished.shard.build != program_digest()) {
      problems_.push_back(
          problem_of(fmt::format("'{}' was written by another build of gradway", finished.folder.string()),
                     "simulate and merge all shards with the same build"));
    } else if (const auto why = all_.empty() ? "" : difference(first(), finished.shard); !why.empty()) {
      problems_.push_back(
          problem_of(fmt::format("'{}' belongs to another sweep than '{}': {}", finished.folder.string(),
                                 all_.begin()->second.folder.string(), why),
                     "leave it out, or move it to another folder"));
    } else {
      all_.emplace(number, std::move(finished));  // a shard that is given twice is used once
    }
  }

  void check_complete() const {
    const auto count = first().shard.of;
    constexpr std::size_t most_named = 20;
    std::vector<std::size_t> missing;
    for (std::size_t number = 1; number <= count; ++number)
      if (!all_.contains(number)) missing.push_back(number);
    if (missing.empty()) return;
    const auto named = std::min(missing.size(), most_named);
    const auto unnamed = missing.size() > named ? fmt::format(" and {} more", missing.size() - named) : "";
    refuse(fmt::format("{} of {} shards {} missing or not finished: {}{}", missing.size(), count,
                       missing.size() == 1 ? "is" : "are",
                       fmt::join(missing.begin(), missing.begin() + static_cast<std::ptrdiff_t>(named), ", "),
                       unnamed),
           run_again({missing.front(), count}));
  }

  std::map<std::size_t, Found> all_;
  std::vector<Problem> problems_;
};

/// Copies the points of a shard to their positions in the sweep.
void place(const Found& finished, MergedSweep& merged) {
  PointCache kept{finished.folder / "points"};
  const auto places = points_of(finished.shard.shard, merged.sweep.points.size());
  std::size_t missing = 0;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const auto& [key, error, status] = finished.shard.points[i];
    auto& point = merged.sweep.points[places[i]];
    if (!error.empty()) {
      point.error = error;
      merged.failures[places[i]] = {static_cast<Status>(status), error, {}, {}};
    } else if (auto found_point = kept.find(key)) {
      found_point->values = std::move(point.values);
      point = *std::move(found_point);
    } else {
      ++missing;
    }
  }
  if (missing == 0) return;
  refuse(fmt::format("{} of the {} points of {} in '{}' are missing or damaged", missing, places.size(),
                     in_words(finished.shard.shard), finished.folder.string()),
         run_again(finished.shard.shard));
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
  for (const auto& [number, finished] : shards.all()) place(finished, merged);
  return merged;
}

}  // namespace gradway::cli
