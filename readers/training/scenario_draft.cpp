// SPDX-License-Identifier: Apache-2.0
#include "readers/training/scenario_draft.hpp"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "sim/base/printable.hpp"

namespace gradway {
namespace {

/// Text as a comment of several lines, the first with a dash.
std::string comment(const std::string& text) {
  constexpr std::size_t most = 110;
  std::string result;
  std::string line = "# -";
  for (std::size_t start = 0; start <= text.size();) {
    const auto end = std::min(text.find(' ', start), text.size());
    const auto word = text.substr(start, end - start);
    if (line.size() > 3 && line.size() + 1 + word.size() > most) {
      result += line + '\n';
      line = "#  ";
    }
    line += ' ' + word;
    start = end + 1;
  }
  return result + line + '\n';
}

/// Names of files can contain anything: plain ASCII only.
std::string plain_name(const std::string& text) {
  auto result = printable(text);
  for (auto& c : result) {
    if (static_cast<unsigned char>(c) >= 0x7F) c = '?';
  }
  return result;
}

std::string notes_text(const std::string& title, const std::vector<DraftNote>& notes) {
  if (notes.empty()) return "";
  auto text = fmt::format("# {}:\n", title);
  for (const auto& note : notes) text += comment(printable(note.text));
  return text;
}

std::string name_of_file(const std::string& path) {
  return plain_name(path.substr(path.find_last_of('/') + 1));
}

std::string head_of(const Draft& draft, std::string_view kind) {
  if (draft.traces == 0)
    return notes_text(
               fmt::format("Settings of {}'s file that this {} cannot express, and what the file lacks",
                           draft.trainer, kind),
               draft.notes) +
           fmt::format("schema: 1\nsource: >-\n  {}'s settings in {}\n", draft.trainer,
                       name_of_file(draft.file));
  const auto further_traces = draft.traces - 1;
  return notes_text("Not in the traces", draft.notes) +
         fmt::format("schema: 1\nsource: >-\n  a job's trace {}{}\n", name_of_file(draft.file),
                     further_traces == 0
                         ? ""
                         : fmt::format(" and {} other{}", further_traces, further_traces == 1 ? "" : "s"));
}

}  // namespace

std::string to_text(const DraftNote& note) {
  return note.where.line == 0
             ? fmt::format("{}: {}", note.where.file, note.text)
             : fmt::format("{}:{}:{}: {}", note.where.file, note.where.line, note.where.column, note.text);
}

std::string draft_yaml(const Draft& draft, std::string_view kind) {
  auto text = head_of(draft, kind);
  std::string_view open_group;
  for (const std::pair<std::string_view, std::string_view> entry : draft.keys) {
    const auto dot = entry.first.find('.') + 1;  // 0 without one
    const auto group = entry.first.substr(0, dot);
    if (group != open_group && dot > 0) text += fmt::format("{}:\n", group.substr(0, dot - 1));
    open_group = group;
    text += fmt::format("{}{}: {}\n", dot > 0 ? "  " : "", entry.first.substr(dot), entry.second);
  }
  return text;
}

}  // namespace gradway
