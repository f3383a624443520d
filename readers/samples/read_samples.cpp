// SPDX-License-Identifier: Apache-2.0
#include "readers/samples/read_samples.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "readers/samples/sample_rows.hpp"
#include "sim/base/digest.hpp"
#include "sim/base/printable.hpp"
#include "sim/base/problem.hpp"
#include "sim/files/text_file.hpp"

namespace gradway {
namespace {

using Json = nlohmann::json;

constexpr std::size_t most_problems = 50;  // Per file.
constexpr std::string_view list_hint = "expected one list of rows: [ {...}, {...} ]";

/// Limits files that need far more memory than their text. Called with each value.
class Bounds {
 public:
  explicit Bounds(const JsonPlaces& places) : places_{places} {}

  bool operator()(int depth, Json::parse_event_t, const Json&) {
    constexpr int deepest = 16;             // Rows contain lists of pairs.
    constexpr int most_values = 1'000'000;  // A probe writes about ten thousand values.
    if (depth > deepest)
      refuse_at(places_.whole(), fmt::format("lists and maps are nested deeper than {} levels", deepest),
                std::string{list_hint});
    if (++values_ > most_values)
      refuse_at(places_.whole(), fmt::format("the file has more than {} values", most_values),
                "check that this is the right file, or give only the relevant part");
    return true;
  }

 private:
  const JsonPlaces& places_;
  int values_ = 0;
};

Json parse(const SampleFile& file, const JsonPlaces& places) {
  const std::string_view text = file.content;
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) refuse_at(places.whole(), "the file is empty", std::string{list_hint});
  try {
    return Json::parse(text, Bounds{places});
  } catch (const Json::parse_error& error) {
    const auto offset = error.byte == 0 ? 0 : error.byte - 1;
    const auto c = offset < text.size() ? text[offset] : ' ';
    const bool is_no_number = c == 'N' || c == 'I' || c == 'a';  // NaN, Infinity, nan
    if (text[first] == '{')
      refuse_at(places.at(first, 1), "this is not a list of rows", std::string{list_hint});
    refuse_at(places.at(offset, 1), "this is not valid JSON",
              is_no_number ? "JSON has no NaN and Infinity: remove the rows of failed probes"
                           : "check whether the file is truncated or was edited by hand");
  } catch (const Json::exception&) {  // A number beyond the range of a double.
    refuse_at(places.whole(), "a number in the file is too large", "remove the rows of failed probes");
  }
}

void add_file(const SampleFile& file, Samples& samples, std::vector<Problem>& problems) {
  const JsonPlaces places{file.name, file.content};
  const auto rows = parse(file, places);
  if (!rows.is_array()) {
    refuse_at(places.at(file.content.find_first_not_of(" \t\r\n"), 1), "this is not a list of rows",
              std::string{list_hint});
  }
  if (rows.empty()) refuse_at(places.whole(), "the list has no rows", std::string{list_hint});
  const auto before = problems.size();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (problems.size() - before == most_problems) {
      problems.push_back(
          {places.whole(), fmt::format("only the first {} invalid rows are shown", most_problems), {}, ""});
      return;
    }
    try {
      add_sample_row(JsonRow{rows[i], i, places}, samples);
    } catch (const ConfigError& error) {
      problems.insert(problems.end(), error.problems().begin(), error.problems().end());
    }
  }
}

/// Name without folder and without the ending of compressed files.
std::string plain_name(const std::string& name) {
  const auto file = printable(name.substr(name.find_last_of('/') + 1));
  return file.ends_with(".gz") ? file.substr(0, file.size() - 3) : file;
}

}  // namespace

SampleFile read_sample_file(const std::string& name) {
  return {name, read_text_file(name, "", std::string{list_hint}).content};
}

Samples read_samples(const std::vector<SampleFile>& files) {
  Samples samples;
  std::vector<Problem> problems;
  Digest digest;
  for (const auto& file : files) {
    const auto& first = *std::ranges::find(files, file.content, &SampleFile::content);
    if (&first != &file) {
      problems.push_back({JsonPlaces{file.name, ""}.whole(),
                          fmt::format("the file has the same contents as '{}'", first.name),
                          {},
                          "give each file once: samples must not count twice"});
      continue;
    }
    digest.add(file.content);
    samples.origin.files.push_back(plain_name(file.name));
    try {
      add_file(file, samples, problems);
    } catch (const ConfigError& error) {
      problems.insert(problems.end(), error.problems().begin(), error.problems().end());
    }
  }
  if (!problems.empty()) throw ConfigError{problems};
  samples.origin.digest = digest.hex();
  return samples;
}

}  // namespace gradway
