// SPDX-License-Identifier: Apache-2.0
// Each warning has a stable code, a sentence and an explanation.
#include <algorithm>
#include <cctype>
#include <fstream>
#include <map>
#include <regex>
#include <set>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "sim/base/make_warning.hpp"
#include "sim/report/format/fact_words.hpp"

using namespace gradway;
using Catch::Matchers::Contains;

namespace {

/// Every sentence of the table, with the names in place of values.
std::map<std::string_view, std::string_view> each_sentence() {
  std::map<std::string_view, std::string_view> sentences;
  for (const auto& row : warning_table::rows)
    if (!row.sentence.empty()) sentences[row.code] = row.sentence;
  for (const auto& form : warning_table::forms) sentences[form.code] = form.sentence;
  return sentences;
}

bool is_kebab(std::string_view code) {
  return !code.empty() && std::ranges::all_of(code, [](unsigned char c) {
    return std::islower(c) != 0 || std::isdigit(c) != 0 || c == '-';
  });
}

}  // namespace

TEST_CASE("each warning has a code, a sentence and an explanation", "[report][warnings]") {
  std::set<std::string_view> sentences;
  for (const auto& [code, sentence] : each_sentence()) {
    CAPTURE(code);
    const auto public_code = code.substr(0, code.find('/'));
    CHECK(is_kebab(public_code));
    CHECK(std::ranges::count(warning_table::rows, public_code, &WarningRow::code) == 1);
    CHECK(sentence.size() > 20);
    CHECK_FALSE(sentence.ends_with('.'));
    sentences.insert(sentence);
  }
  CHECK(sentences.size() == each_sentence().size());
  CHECK(std::ranges::is_sorted(warning_table::rows, {}, &WarningRow::code));
  for (const auto& row : warning_table::rows) {
    CAPTURE(row.code);
    const auto is_form = [&](const WarningForm& form) {
      return form.code.starts_with(std::string{row.code} + "/");
    };
    CHECK(row.sentence.empty() == std::ranges::any_of(warning_table::forms, is_form));
    CHECK_FALSE(row.meaning.ends_with('.'));
    for (const auto text : {row.when, row.error, row.advice}) CHECK(text.ends_with('.'));
  }
}

TEST_CASE("warnings of the same code and facts are listed once", "[report][warnings]") {
  std::vector<Warning> warnings;
  add(warnings, make_warning<"anchor-other-batch", "anchor", "job">(32, 64));
  add(warnings, make_warning<"anchor-other-batch", "anchor", "job">(32, 64));
  add(warnings, make_warning<"anchor-other-batch", "anchor", "job">(32, 128));
  CHECK(warnings.size() == 2);
  CHECK(report::codes_of(warnings) == std::vector<std::string_view>(2, "anchor-other-batch"));
  CHECK(report::with_codes(warnings).front() ==
        "the anchor was measured at batch 32, the job has 64: efficiency may differ [anchor-other-batch]");
}

TEST_CASE("figures of accuracy in warnings are those of docs/ACCURACY.md", "[report][warnings]") {
  std::ifstream page{GRADWAY_SOURCE_DIR "/docs/ACCURACY.md"};
  std::map<std::string, double> worst;  // |error| in percent, by the GPU that starts the name of a case
  const std::regex row{R"((h100|l40s|a100)-\S+ +[\d.]+ ms +[\d.]+ ms +[+-]([\d.]+) %)"};
  bool is_moved = false;
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("## ")) is_moved = line == "## Moved to another GPU";
    std::smatch parts;
    if (is_moved && std::regex_match(line, parts, row))
      worst[parts[1]] = std::max(worst[parts[1]], std::stod(parts[2]));
  }
  const auto expected = [&](const char* gpu) { return fmt::format("{:.0f} %", worst.at(gpu)); };
  const auto is_moved_help = [](const auto& help) { return help.code == "profile-moved-by-roofline"; };
  const auto help = std::ranges::find_if(warning_table::rows, is_moved_help);
  CHECK(std::string{help->error} ==
        fmt::format("Up to {} from an H200 to an H100, {} to an L40S and {} to an A100.", expected("h100"),
                    expected("l40s"), expected("a100")));
  CHECK_THAT(std::string{help->sentence},
             Contains(fmt::format("up to {} from an H200 to an H100, {} to an L40S and {} to an A100",
                                  expected("h100"), expected("l40s"), expected("a100"))));
  // All other sentences about compared steps have no figures, but name the page.
  const auto check = [](const std::string& text) {
    if (text.find("published ones") == std::string::npos &&
        text.find("published steps") == std::string::npos &&
        text.find("steps on one GPU") == std::string::npos)
      return;
    CAPTURE(text);
    CHECK_THAT(text, Contains("docs/ACCURACY.md"));
    CHECK_THAT(text, !Contains("%"));
  };
  for (const auto& [code, sentence] : each_sentence()) check(std::string{sentence});
}
