// SPDX-License-Identifier: Apache-2.0
// Each warning has a stable code, a sentence and an explanation.
#include <algorithm>
#include <cctype>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "sim/report/format/provenance_words.hpp"
#include "sim/report/format/warning_words.hpp"

using namespace gradway;
using Catch::Matchers::Contains;
using Catch::Matchers::EndsWith;

namespace {

/// A value of each alternative of a variant.
template <class Variant, std::size_t... index>
std::vector<Variant> each_of(std::index_sequence<index...> /*all*/) {
  return {Variant{std::in_place_index<index>}...};
}

template <class Variant>
std::vector<Variant> each_alternative() {
  return each_of<Variant>(std::make_index_sequence<std::variant_size_v<Variant>>{});
}

std::vector<Warning> each_warning() {
  auto all = each_alternative<Warning>();
  for (auto& one : all)
    if (auto* what_if = std::get_if<warning::WhatIfSpeeds>(&one)) what_if->speeds[HardwarePart::gpu] = 2;
  for (const auto& reason : each_alternative<extrapolation::Reason>())
    all.emplace_back(warning::ExtrapolatedCollectives{.transport = Transport::shm, .reason = reason});
  return all;
}

bool is_kebab(std::string_view code) {
  return !code.empty() && std::ranges::all_of(code, [](unsigned char c) {
    return std::islower(c) != 0 || std::isdigit(c) != 0 || c == '-';
  });
}

}  // namespace

TEST_CASE("each warning has a code, a sentence and one explanation", "[report][warnings]") {
  std::set<std::string> sentences;
  for (const auto& one : each_warning()) {
    const auto code = code_of(one);
    CAPTURE(code);
    CHECK(is_kebab(code));
    CHECK(std::ranges::count(report::warning_help(), code, &report::WarningHelp::code) == 1);
    const auto sentence = report::describe(one);
    CHECK(sentence.size() > 20);
    CHECK_THAT(sentence, !EndsWith("."));
    sentences.insert(sentence);
  }
  CHECK(sentences.size() == each_warning().size());
}

TEST_CASE("explanations are sorted by code, and each belongs to a warning", "[report][warnings]") {
  const auto rows = report::warning_help();
  CHECK(std::ranges::is_sorted(rows, {}, &report::WarningHelp::code));
  for (const auto& row : rows) {
    CAPTURE(row.code);
    CHECK(std::ranges::any_of(each_warning(), [&](const auto& one) { return code_of(one) == row.code; }));
    CHECK_FALSE(row.meaning.ends_with('.'));
    for (const auto text : {row.when, row.error, row.advice}) CHECK(text.ends_with('.'));
  }
}

TEST_CASE("warnings of the same code and facts are listed once", "[report][warnings]") {
  std::vector<Warning> warnings;
  add(warnings, warning::AnchorOtherBatch{32, 64});
  add(warnings, warning::AnchorOtherBatch{32, 64});
  add(warnings, warning::AnchorOtherBatch{32, 128});
  CHECK(warnings.size() == 2);
  CHECK(report::codes_of(warnings) == std::vector<std::string_view>(2, "anchor-other-batch"));
  CHECK(report::with_codes(warnings).front() ==
        "the anchor was measured at batch 32, the job has 64: efficiency may differ [anchor-other-batch]");
}

TEST_CASE("facts of warnings are in their sentences", "[report][warnings]") {
  CHECK(report::describe(warning::ExtrapolatedCollectives{
            .transport = Transport::shm, .kind = {}, .reason = extrapolation::OtherRanks{6, 4}}) ==
        "SHM collectives were measured on 6 ranks, not on 4: the same bus bandwidth is assumed");
  CHECK(report::describe(
            warning::ExtrapolatedContention{.measured_on = "h200-4x", .channels = 24, .job_channels = 16}) ==
        "contention between kernels and collectives was measured on h200-4x (not here), with 24 NCCL "
        "channels (here 16)");
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
  const auto help = std::ranges::find_if(report::warning_help(), is_moved_help);
  CHECK(std::string{help->error} ==
        fmt::format("Up to {} from an H200 to an H100, {} to an L40S and {} to an A100.", expected("h100"),
                    expected("l40s"), expected("a100")));
  CHECK_THAT(report::describe(warning::ProfileMovedByRoofline{}),
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
  for (const auto& warning : each_warning()) check(report::describe(warning));
}

TEST_CASE("each fact of a provenance has a sentence", "[report][provenance]") {
  for (const auto& fact : each_alternative<ProvenanceFact>()) {
    CAPTURE(fact.index());
    CHECK_FALSE(report::describe(fact).empty());
  }
  CHECK(report::describe(provenance::HeldBackErrors{"h200-4x", {{"side by side", {0.03, 0.04}}}}) ==
        "calibration h200-4x, median error for samples that its fit did not use: side by side 3.0 % (worst "
        "4.0 %)");
}
