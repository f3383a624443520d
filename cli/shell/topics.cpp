// SPDX-License-Identifier: Apache-2.0
#include "cli/shell/topics.hpp"

#include <algorithm>
#include <array>
#include <ostream>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/shell/help.hpp"
#include "sim/base/text.hpp"
#include "sim/config/find/scenario_keys.hpp"
#include "sim/config/yaml/quantities.hpp"
#include "sim/report/format/fields.hpp"
#include "sim/report/format/text.hpp"
#include "sim/report/show/show.hpp"

namespace gradway {

namespace tables {
extern const std::string_view topics;
extern const std::string_view typed_words;
}  // namespace tables

namespace cli {
namespace {

/// The part of topics.txt below the line "=== NAME"; empty if there is none.
std::string_view text_of(std::string_view name) {
  const auto text = after(tables::topics, fmt::format("=== {}\n", name));
  return text.substr(0, text.find("=== "));
}

void write_keys_of(std::string_view group, std::ostream& out, const report::Style& style) {
  std::vector<config::ScenarioKey> keys;
  std::ranges::copy_if(config::described_keys(), std::back_inserter(keys),
                       [&](const config::ScenarioKey& key) { return key.name.starts_with(group); });
  report::write_keys(out, keys, style);
}

void write_units(std::ostream& out, const report::Style& style) {
  for (const auto& kind : config::quantity_kinds()) {
    std::vector<std::string_view> names;
    for (const auto& unit : kind.units) {
      const bool is_plain = std::ranges::all_of(unit.name, [](unsigned char c) { return c < 0x80; });
      if (is_plain) names.push_back(unit.name);
    }
    out << fmt::format("  {:<14}{}\n", kind.name, fmt::join(names, ", "));
  }
  out << '\n';
  for (const auto& line :
       report::wrap("kB, MB, GB and TB are powers of 1000, KiB, MiB, GiB and TiB powers of 1024. "
                    "Bits are not accepted: divide by 8. On the command line quote values with "
                    "blanks: --set strategy.bucket_cap='25 MiB'.",
                    style.width))
    out << line << '\n';
}

void write_layouts(std::ostream& out, const report::Style& style) {
  write_keys_of("parallel.", out, style);
}

void write_strategies(std::ostream& out, const report::Style& style) {
  write_keys_of("strategy.", out, style);
}

/// Words with their meanings beside them.
void write_meanings(const std::vector<std::pair<std::string_view, std::string_view>>& words,
                    std::ostream& out, const report::Style& style) {
  std::size_t longest = 0;
  for (const auto& [word, meaning] : words) longest = std::max(longest, word.size());
  for (const auto& [word, meaning] : words) {
    const auto lines = report::wrap(meaning, std::max(style.width, longest + 24) - longest - 4);
    out << fmt::format("  {:<{}}  {}\n", word, longest, lines.front());
    for (std::size_t i = 1; i < lines.size(); ++i) out << std::string(longest + 4, ' ') << lines[i] << '\n';
  }
}

void write_warnings(std::ostream& out, const report::Style& style) {
  std::vector<std::pair<std::string_view, std::string_view>> words;
  for (const auto& row : warning_table::rows) words.emplace_back(row.code, row.meaning);
  write_meanings(words, out, style);
}

void write_terms(std::ostream& out, const report::Style& style) {
  std::vector<std::pair<std::string_view, std::string_view>> words;
  for (const auto& row : typed_words("term")) words.emplace_back(row.word(0), row.value("meaning"));
  write_meanings(words, out, style);
}

void write_exit_status(std::ostream& out, const report::Style&) {
  for (const auto& [status, meaning] : exit_statuses())
    out << fmt::format("  {}  {}\n", static_cast<int>(status), meaning);
  out << "\nResults go to standard output, messages to standard error. With status 2 no file has\n"
         "been changed or written in part.\n";
}

}  // namespace

std::vector<TextRow> typed_words(std::string_view kind, std::string_view word) {
  auto rows = rows_in(tables::typed_words);
  std::erase_if(rows, [&](const TextRow& row) {
    return row.kind != kind || (!word.empty() && row.word(0) != lower_case(word));
  });
  return rows;
}

void Topic::write(std::ostream& out, const report::Style& style) const {
  out << text_of(name);
  if (write_more != nullptr) write_more(out, style);
}

std::span<const Topic> topics() {
  static constexpr std::array table{
      Topic{"scenario", "what a scenario contains"},
      Topic{"names", "where names are looked up"},
      Topic{"units", "how quantities are written", write_units},
      Topic{"platforms", "hardware, including your own"},
      Topic{"calibrations", "measurements of a node"},
      Topic{"strategies", "DDP, FSDP, ZeRO and their keys", write_strategies},
      Topic{"layouts", "tensor, pipeline, context and expert parallelism", write_layouts},
      Topic{"sweep", "many settings in one run"},
      Topic{"terms", "words of the output; 'gradway help WORD' explains one", write_terms},
      Topic{"hang", "what a hanging job leaves, and who says why"},
      Topic{"warnings", "codes of warnings; 'gradway help CODE' explains one", write_warnings},
      Topic{"exit-status", "exit status of gradway", write_exit_status},
  };
  return table;
}

void write_warning(std::ostream& out, const WarningRow& warning, const report::Style& style) {
  for (const auto& line : report::wrap(warning.meaning, style.width)) out << line << '\n';
  out << '\n';
  report::Fields fields{out, style};
  fields.add("when", warning.when);
  fields.add("error", warning.error);
  fields.add("what to do", warning.advice);
}

}  // namespace cli
}  // namespace gradway
