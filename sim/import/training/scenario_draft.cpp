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

}  // namespace

std::string to_text(const DraftNote& note) {
  return note.where.line == 0
             ? fmt::format("{}: {}", note.where.file, note.text)
             : fmt::format("{}:{}:{}: {}", note.where.file, note.where.line, note.where.column, note.text);
}

std::string head_of_draft(std::string_view trainer, std::string_view what, const std::string& file,
                          const std::vector<DraftNote>& notes) {
  std::string text;
  if (!notes.empty()) {
    text += fmt::format("# Settings of {}'s file that this {} cannot express, and what the file lacks:\n",
                        trainer, what);
    for (const auto& note : notes) text += comment(printable(note.text));
  }
  return text + fmt::format("schema: 1\nsource: >-\n  {}'s settings in {}\n", trainer,
                            plain_name(file.substr(file.find_last_of('/') + 1)));
}

std::string scenario_yaml(const ScenarioDraft& draft) {
  auto text = head_of_draft(draft.trainer, "scenario", draft.file, draft.notes);
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
