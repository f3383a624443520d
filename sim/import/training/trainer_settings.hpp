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

/// A key of a trainer's file that gradway does not use.
struct UnusedKey {
  std::string_view key;  ///< With dots. A table stands for all of its keys that have no row of their own.
  std::string_view neutral{};  ///< Value with which gradway does the same.
  std::string_view why{};      ///< Behaviour of gradway instead.
};

/// All known keys of a trainer.
struct TrainerKeys {
  std::string_view ignored;  ///< Keys and tables that do not affect a step, separated by blanks.
  std::span<const UnusedKey> unused;
  std::string_view used;  ///< Separated by blanks.

  bool has_below(const std::string& key) const;  ///< Whether there are known keys in this table.
  std::string nearest_to(const std::string& key) const;
};

/// The settings of a trainer's file, by keys with dots. Keys that are read count as used; `note_unused` notes
/// all others. Invalid and missing values are collected as problems.
class TrainerSettings {
 public:
  /// A key with dots, and an alternative spelling.
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

  /// The first spelling in the file, which then counts as used; null if there is none, or its value is null
  /// or "auto".
  const FileSetting* find(Spellings keys);
  /// The place of a key; the whole file if it has none of the spellings.
  Where where(Spellings keys) const;
  /// Whether the file has one of these keys with a value other than null.
  bool has(Spellings keys) const;
  /// Whether the file has one of these keys with the value null.
  bool is_null(Spellings keys) const;
  /// Whether the file has one of these keys with the value "auto".
  bool is_automatic(Spellings keys) const;

  std::optional<int> whole_number(Spellings keys, int least, int most);
  std::optional<double> number(Spellings keys, double least);
  std::optional<bool> boolean(Spellings keys);
  std::optional<std::string> text(Spellings keys);
  /// The words of a list, of several words of an argument, or between commas.
  std::vector<FileSetting> words(Spellings keys);

  void problem(Where where, std::string message, std::string hint, std::vector<Note> notes = {});
  /// Adds a note to a used key; the text begins with the key.
  void note(Spellings keys, const std::string& text);
  /// Adds a note to a setting that occurs more than once.
  void note_at(const FileSetting& setting, const std::string& text);
  /// Adds a note on something the file lacks.
  void note_missing(std::string text);

  /// Adds one problem that names all unused keys which `known` does not list and whose value is neither off
  /// (false, 0, null, empty) nor the number of a token.
  void refuse_unknown(const TrainerKeys& known, const std::string& hint);

  /// Adds notes for all unused keys: what gradway does instead, or that the key is unknown.
  void note_unused(const TrainerKeys& known);

  /// @throws ConfigError with every problem
  void raise() const;
  /// All notes; those on keys in the order of the file.
  std::vector<DraftNote> notes() const;

 private:
  const FileSetting* at(std::string_view key) const;
  void list(const FileSetting& setting, const std::string& key, const TrainerKeys& known, bool idle);

  const SettingsFile& file_;
  std::set<const FileSetting*> used_{};
  std::vector<DraftNote> notes_{};
  std::vector<DraftNote> missing_{};
  std::vector<Problem> problems_{};
};

inline constexpr int max_ranks = 1 << 20;
inline constexpr int max_batch = 1'000'000;
inline constexpr int max_accumulation = 10'000;
inline constexpr int max_tokens = 1 << 24;

/// Reads the platform from the options, as trainers' files do not contain it; a problem if it is missing.
void read_platform(ScenarioDraft& draft, const DraftOptions& options, TrainerSettings& settings);

/// Tokens per sample, from the file or --sequence; a problem if they differ.
std::optional<int> sequence_of(TrainerSettings& settings, const DraftOptions& options,
                               TrainerSettings::Spellings key, std::optional<int> file_sequence);

/// A number of elements as written in scenarios: 5e8 rather than 500000000.
std::string elements_text(double elements);

/// The optimizer of a scenario for a name such as "AdamW"; empty if gradway does not support it.
std::string optimizer_word(std::string_view name, bool fused);

/// Adds problems for batches and accumulations that are too large for a scenario.
void check_job_numbers(TrainerSettings& settings, long long batch, long long accumulate);

/// Whether linear layers run in nvfp4, Megatron-Core's only format of 4 bits.
bool reads_fp4(TrainerSettings& settings);

/// Which kernel runs Megatron's attention, a word of `job.attention`; empty: the default.
std::string attention_word(TrainerSettings& settings);

/// Which of Megatron's fused kernels run, a word of `job.fusions`; empty: all.
std::string fusions_word(TrainerSettings& settings);

/// What Megatron-Core's settings capture in CUDA graphs, a word of `job.cuda_graphs`; empty: nothing.
std::string cuda_graphs_word(TrainerSettings& settings);

/// Arguments of Megatron-LM for those of a YAML file. Keys of NeMo and Megatron-Bridge, which are in groups,
/// get the names of Megatron-LM's arguments; what describes no step is left out.
ArgumentSettings megatron_arguments(const ArgumentSettings& arguments);

/// GPUs and batches of a job; zero after a problem.
struct DeepSpeedBatch {
  int gpus = 0;
  int micro = 0;  ///< Samples of a micro-step per GPU.
  int accumulate = 0;
};

/// DeepSpeed's rule: train_batch_size = train_micro_batch_size_per_gpu x gradient_accumulation_steps x ranks.
/// Missing values follow from the others; accumulation is 1 if only one value is given.
/// @param split GPUs that work on the same samples
DeepSpeedBatch deepspeed_batch(TrainerSettings& settings, const DraftOptions& options, int split);

}  // namespace gradway
