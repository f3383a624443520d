// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/files/settings_file.hpp"
#include "sim/import/training/scenario_draft.hpp"

namespace gradway {

/// What a key of a trainer's file means to gradway, if it is not taken into the scenario.
struct UntakenKey {
  std::string_view key;        ///< with dots; of a table: all that stands in it and has no row of its own
  std::string_view neutral{};  ///< a value with which gradway does the same
  std::string_view why{};      ///< what gradway does instead; empty: it changes nothing of a step
};

/// The settings of a trainer's file, by keys with dots. What is asked for is taken; `list_rest` tells of all
/// else. What is wrong with values, and what is missing, is collected.
class TrainerSettings {
 public:
  /// A key with dots, and how it is spelled elsewhere, if it is.
  struct Spellings {
    std::string_view first;
    std::string_view second{};
    std::vector<std::string_view> all() const;
    bool operator==(const Spellings&) const = default;
  };

  /// @param file must outlive this
  explicit TrainerSettings(const SettingsFile& file) : file_{file} {}

  Where whole() const { return file_.text.whole(); }
  Where place(const FileSetting& setting) const { return file_.value_place(setting); }
  Where key_place(const FileSetting& setting) const { return file_.key_place(setting); }

  /// The first spelling that the file has, which is then taken; null if it has none, or says null
  /// or "auto".
  const FileSetting* find(Spellings keys);
  /// The place of a key; the file if it has none of these.
  Where where(Spellings keys) const;
  /// The file has one of these keys, and says more than null.
  bool has(Spellings keys) const;
  /// The file has one of these keys, and says null.
  bool is_null(Spellings keys) const;
  /// The file has one of these keys, and says "auto".
  bool is_automatic(Spellings keys) const;

  std::optional<int> whole_number(Spellings keys, int least, int most);
  std::optional<double> number(Spellings keys, double least);
  std::optional<bool> boolean(Spellings keys);
  std::optional<std::string> text(Spellings keys);

  void problem(Where where, std::string what, std::string hint, std::vector<Note> notes = {});
  /// Notes a taken key; the text begins with it.
  void note(Spellings keys, const std::string& text);
  /// Notes a setting that the file has elsewhere, too.
  void note_at(const FileSetting& setting, const std::string& text);
  /// Notes what the file does not say.
  void note_missing(std::string text);

  /// Notes all that nobody took: what gradway does instead, or that the key is not known to it.
  void list_rest(std::span<const UntakenKey> known, std::span<const std::string_view> taken);

  /// @throws ConfigError with every problem
  void raise() const;
  /// Those of keys in the order of the file.
  std::vector<DraftNote> notes() const;

 private:
  /// All keys that gradway knows of a trainer.
  struct Known {
    std::span<const UntakenKey> untaken;
    std::span<const std::string_view> taken;

    bool has_below(const std::string& key) const;  ///< they have keys in this table
    std::string nearest_to(const std::string& key) const;
  };

  const FileSetting* at(std::string_view key) const;
  void list(const FileSetting& setting, const std::string& key, const Known& known, bool idle);

  const SettingsFile& file_;
  std::set<const FileSetting*> taken_{};
  std::vector<DraftNote> notes_{};
  std::vector<DraftNote> missing_{};
  std::vector<Problem> problems_{};
};

}  // namespace gradway
