// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/points/point_cache.hpp"

#include <fstream>
#include <iterator>
#include <string_view>

#include <fmt/format.h>

#include "sim/base/digest.hpp"
#include "sim/cli/shell/files.hpp"

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
std::optional<CachedPoint> point_in(const std::string& key, const std::string& text) {
  auto report = checked_content(key, text);
  if (!report) return std::nullopt;
  auto result = report::read_result(*report);
  return result ? std::optional{CachedPoint{std::move(*result), std::move(*report)}} : std::nullopt;
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

std::optional<CachedPoint> PointCache::find(const std::string& key) {
  const auto path = folder_ / (key + ".json");
  std::error_code ignored;
  if (!fs::exists(path, ignored)) return std::nullopt;
  std::optional<CachedPoint> point;
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

}  // namespace gradway::cli
