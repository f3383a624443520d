// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "readers/training/scenario_draft.hpp"
#include "sim/dialects/dialect.hpp"
#include "sim/files/settings_file.hpp"

namespace gradway {

/// The settings of a trainer's file. `keys` are keys with dots, of which all spellings may be given,
/// separated by blanks; names of older releases follow from the dialect. Keys that are read count as used;
/// `note_unused` notes all others, and suggests the keys that were asked for. Invalid and missing values are
/// collected as problems.
class TrainerSettings {
 public:
  /// @param file, dialect must outlive this
  TrainerSettings(const SettingsFile& file, const Dialect& dialect) : file_{file}, dialect_{dialect} {}

  const Dialect& dialect() const { return dialect_; }

  Where whole() const { return file_.text.whole(); }
  Where place(const FileSetting& setting) const { return file_.value_place(setting); }
  Where key_place(const FileSetting& setting) const { return file_.key_place(setting); }

  /// The first spelling in the file, which then counts as used; null if there is none, or its value is null
  /// or "auto".
  const FileSetting* find(std::string_view keys);
  /// The place of a key; the whole file if it has none of the spellings.
  Where where(std::string_view keys) const;
  /// Whether the file has one of these keys with a value other than null.
  bool has(std::string_view keys) const;
  /// Whether the file has a key by its name of today.
  bool has_today(std::string_view key) const { return at(key) != nullptr; }
  /// Whether the file has one of these keys with the value null.
  bool is_null(std::string_view keys) const;
  /// Whether the file has one of these keys with the value "auto".
  bool is_automatic(std::string_view keys) const;

  std::optional<int> whole_number(std::string_view keys, int least, int most);
  std::optional<double> number(std::string_view keys, double least);
  std::optional<bool> boolean(std::string_view keys);
  std::optional<std::string> text(std::string_view keys);
  /// Our word for a setting's value or, without it, for the standard; "" after a problem or if it is
  /// gradway's default. @param standard empty: that of the dialect
  std::string word(std::string_view key, std::string_view standard = {});
  /// Our value of a setting by its form; "" if it is not written in scenarios. @param has_effect whether the
  /// scenario has what the setting needs: else only the kind of the value is checked
  std::string value(const TrainerSetting& setting, bool has_effect);
  /// The words of a list, of several words of an argument, or between commas.
  std::vector<FileSetting> words(std::string_view keys);

  void problem(Where where, std::string message, std::string hint, std::vector<Note> notes = {});
  /// Adds a problem at the place of a key.
  void problem(std::string_view key, std::string message, std::string hint, std::vector<Note> notes = {}) {
    problem(where(key), std::move(message), std::move(hint), std::move(notes));
  }
  /// Adds a note to a used key; the text begins with the key.
  void note(std::string_view keys, const std::string& text);
  /// Adds a note to a setting that occurs more than once.
  void note_at(const FileSetting& setting, const std::string& text);
  /// Adds a note on something the file lacks.
  void note_missing(std::string text);

  /// Adds one problem that names all unused keys which the dialect does not list and whose value is neither
  /// off (false, 0, null, empty) nor the number of a token.
  void refuse_unknown(const std::string& hint);

  /// Adds notes for all unused keys: what gradway does instead, or that the key is unknown.
  void note_unused();

  /// @throws ConfigError with every problem
  void raise() const;
  /// All notes; those on keys in the order of the file.
  std::vector<DraftNote> notes() const;

 private:
  const FileSetting* at(std::string_view key) const;
  std::vector<std::string_view> names(std::string_view keys) const;
  bool is_table(std::string_view key) const;
  std::string nearest_to(const std::string& key) const;
  std::string word(const TrainerSetting& setting, const std::string& theirs);
  void list(const FileSetting& setting, const std::string& key, bool idle);

  const SettingsFile& file_;
  const Dialect& dialect_;
  mutable std::set<std::string> asked_{};
  std::set<const FileSetting*> used_{};
  std::vector<DraftNote> notes_{};
  std::vector<DraftNote> missing_{};
  std::vector<Problem> problems_{};
};

/// Keys of a scenario with dots and their values as text, as they are read from a trainer's file.
class DraftedKeys {
 public:
  /// Puts a value; an empty one removes the key.
  void put(std::string_view key, std::string_view value);
  void put(std::string_view key, long long number) { put(key, std::to_string(number)); }
  void remove_group(std::string_view group) {
    std::erase_if(values_, [&](const auto& entry) { return entry.first.starts_with(group); });
  }
  /// Puts the values of all settings that depend on no other.
  void read(TrainerSettings& settings);

  std::string value(std::string_view key) const;  ///< "" without the key.
  bool has(std::string_view key) const { return !value(key).empty(); }
  int ranks(std::string_view key) const { return has(key) ? std::stoi(value(key)) : 1; }

  /// Notes the unused settings, and makes the draft of all keys in the order of the dialect, others last.
  /// @throws ConfigError with every problem
  Draft finish(TrainerSettings& settings) const;

 private:
  std::map<std::string, std::string, std::less<>> values_{};
};

inline constexpr int max_ranks = 1 << 20;
inline constexpr int max_batch = 1'000'000;
inline constexpr int max_accumulation = 10'000;
inline constexpr int max_tokens = 1 << 24;

/// Reads the platform from the options, as trainers' files do not contain it; a problem if it is missing.
void read_platform(DraftedKeys& keys, const DraftOptions& options, TrainerSettings& settings);

/// Tokens per sample, from the file or --sequence; a problem if they differ.
std::optional<int> sequence_of(TrainerSettings& settings, const DraftOptions& options, std::string_view key,
                               std::optional<int> file_sequence);

/// A number of elements as written in scenarios: 5e8 rather than 500000000.
std::string elements_text(double elements);

/// The optimizer of a scenario for the value of a setting, such as "AdamW"; empty if gradway does not support
/// it.
std::string optimizer_word(const TrainerSettings& settings, std::string_view key, std::string_view name,
                           bool fused);

/// Adds problems for batches and accumulations that are too large for a scenario.
void check_job_numbers(TrainerSettings& settings, long long batch, long long accumulate);

/// The recipe of fp8 in Megatron-LM's settings; empty if the job has another precision.
std::string fp8_recipe(TrainerSettings& settings, std::string_view precision);

/// Whether linear layers run in nvfp4, Megatron-Core's only format of 4 bits.
bool reads_fp4(TrainerSettings& settings);
/// What Megatron's selective recomputation recomputes, as job.recompute_modules; empty: its default.
std::string recomputed_modules(TrainerSettings& settings);
/// What fine-grained activation offloading moves, as job.offload_activations; empty: nothing.
std::string offloaded_modules(TrainerSettings& settings);

/// Makes the strategy Megatron-FSDP, whose gradients have the format of the parameters by default.
void read_megatron_fsdp(TrainerSettings& settings, DraftedKeys& keys, std::string_view precision);

/// Which of Megatron's fused kernels run, a word of `job.fusions`; empty: all.
std::string fusions_word(TrainerSettings& settings);

/// What Megatron-Core's settings capture in CUDA graphs, a word of `job.cuda_graphs`; empty: nothing.
std::string cuda_graphs_word(TrainerSettings& settings);

/// Arguments of Megatron-LM for those of a YAML file. Keys of NeMo and Megatron-Bridge, which are in groups,
/// get the names of Megatron-LM's arguments; what describes no step is left out.
ArgumentSettings megatron_arguments(const ArgumentSettings& arguments);

/// The model of the recipe or of the file that settings without sizes name, as those of Primus and
/// Megatron-Bridge; empty: none that gradway ships.
std::string model_named_in(const SettingsFile& file, const DraftOptions& options);

/// The numbers of zeros and ones in a list of Python such as ([0]*3+[1]*58); zeros if it is another.
std::pair<int, int> zeros_and_ones(std::string text);

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
