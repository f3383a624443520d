// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/kept_points.hpp"

#include <fstream>
#include <iterator>
#include <string_view>

#include <fmt/format.h>

#include "sim/base/digest.hpp"
#include "sim/cli/files.hpp"
#include "sim/report/sweep.hpp"

namespace gradway::cli {
namespace {

namespace fs = std::filesystem;

std::string digest_of(const std::string& key, std::string_view report) {
  Digest digest;
  digest.add(key);
  digest.add(report);
  return digest.hex();
}

/// How a file begins: as a report does, but for a first key more. What follows is the report without its
/// brace.
std::string beginning(const std::string& digest) {
  return fmt::format("{{\"digest\": \"{}\",", digest);
}

/// What stands in a file, if it is what was once written there: checked byte by byte before it is read as
/// JSON, because what somebody else made may be too much for that.
std::optional<std::string> report_in(const std::string& key, const std::string& text) {
  const auto length = beginning(digest_of(key, "")).size();
  if (text.size() <= length) return std::nullopt;
  auto report = "{" + text.substr(length);
  if (!text.starts_with(beginning(digest_of(key, report))) || !report::is_report(report)) return std::nullopt;
  return report;
}

}  // namespace

KeptPoints::KeptPoints(fs::path folder) : folder_{std::move(folder)} {
  remove_abandoned_files(folder_);
}

std::optional<std::string> KeptPoints::find(const std::string& key) {
  const auto path = folder_ / (key + ".json");
  std::error_code ignored;
  if (!fs::exists(path, ignored)) return std::nullopt;
  std::optional<std::string> report;
  if (fs::is_regular_file(path, ignored)) {
    std::ifstream file{path, std::ios::binary};
    report = report_in(key, {std::istreambuf_iterator<char>{file}, {}});
  }
  ++(report ? found_ : damaged_);
  return report;
}

void KeptPoints::keep(const std::string& key, const std::string& report) const {
  write_files(folder_, {{key + ".json", [&](std::ostream& out) {
                           out << beginning(digest_of(key, report)) << std::string_view{report}.substr(1);
                         }}});
}

}  // namespace gradway::cli
