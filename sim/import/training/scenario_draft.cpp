// SPDX-License-Identifier: Apache-2.0
#include "sim/import/training/scenario_draft.hpp"

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

void append_group(std::string& text, std::string_view name, const ScenarioDraft::Keys& keys) {
  if (keys.empty()) return;
  text += fmt::format("{}:\n", name);
  for (const auto& [key, value] : keys) text += fmt::format("  {}: {}\n", key, value);
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

std::string head_of_traces(const ScenarioDraft& draft) {
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

std::string head_of_draft(std::string_view trainer, std::string_view kind, const std::string& file,
                          const std::vector<DraftNote>& notes) {
  const auto title = fmt::format("Settings of {}'s file that this {} cannot express, and what the file lacks",
                                 trainer, kind);
  return notes_text(title, notes) +
         fmt::format("schema: 1\nsource: >-\n  {}'s settings in {}\n", trainer, name_of_file(file));
}

std::string scenario_yaml(const ScenarioDraft& draft) {
  auto text = draft.traces > 0 ? head_of_traces(draft)
                               : head_of_draft(draft.trainer, "scenario", draft.file, draft.notes);
  text += fmt::format("model: {}\nplatform: {}\n", draft.model, draft.platform);
  append_group(text, "job", draft.job);
  append_group(text, "strategy", draft.strategy);
  append_group(text, "parallel", draft.parallel);
  if (!draft.optimizer.empty()) text += fmt::format("optimizer: {}\n", draft.optimizer);
  return text;
}

std::string model_yaml(const ModelDraft& draft) {
  auto text = head_of_draft(draft.trainer, "model", draft.file, draft.notes);
  for (const auto& [key, value] : draft.keys) text += fmt::format("{}: {}\n", key, value);
  return text;
}

}  // namespace gradway
