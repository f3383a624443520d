// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/points/kept_points.hpp"

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

/// How a sealed text begins: as an object does, but for a first key more. What follows is the object without
/// its brace.
std::string beginning(const std::string& digest) {
  return fmt::format("{{\"digest\": \"{}\",", digest);
}

/// Checked byte by byte before it is read as JSON, because what somebody else made may be too much for that.
std::optional<KeptPoint> point_in(const std::string& key, const std::string& text) {
  auto report = unsealed(key, text);
  if (!report) return std::nullopt;
  auto result = report::read_result(*report);
  return result ? std::optional{KeptPoint{std::move(*result), std::move(*report)}} : std::nullopt;
}

}  // namespace

std::string sealed(const std::string& key, std::string_view object) {
  return beginning(digest_of(key, object)).append(object.substr(1));
}

std::optional<std::string> unsealed(const std::string& key, const std::string& text) {
  const auto length = beginning(digest_of(key, "")).size();
  if (text.size() <= length) return std::nullopt;
  auto object = "{" + text.substr(length);
  return text.starts_with(beginning(digest_of(key, object))) ? std::optional{std::move(object)}
                                                             : std::nullopt;
}

KeptPoints::KeptPoints(fs::path folder) : folder_{std::move(folder)} {
  remove_abandoned_files(folder_);
}

std::optional<KeptPoint> KeptPoints::find(const std::string& key) {
  const auto path = folder_ / (key + ".json");
  std::error_code ignored;
  if (!fs::exists(path, ignored)) return std::nullopt;
  std::optional<KeptPoint> point;
  if (fs::is_regular_file(path, ignored)) {
    std::ifstream file{path, std::ios::binary};
    point = point_in(key, {std::istreambuf_iterator<char>{file}, {}});
  }
  ++(point ? found_ : damaged_);
  return point;
}

void KeptPoints::keep(const std::string& key, const std::string& report) const {
  write_files(folder_, {{key + ".json", [&](std::ostream& out) { out << sealed(key, report); }}});
}

}  // namespace gradway::cli
