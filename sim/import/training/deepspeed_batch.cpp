// SPDX-License-Identifier: Apache-2.0
#include "sim/import/training/trainer_settings.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace gradway {
namespace {

constexpr auto train_key = "train_batch_size";
constexpr auto micro_key = "train_micro_batch_size_per_gpu";
constexpr auto accumulate_key = "gradient_accumulation_steps";
constexpr std::string_view rule =
    "DeepSpeed requires train_batch_size = train_micro_batch_size_per_gpu x gradient_accumulation_steps x "
    "GPUs";

/// The three batch settings of the file; 0 if missing.
struct BatchSettings {
  long long train = 0;
  long long micro = 0;
  long long accumulate = 0;
};

std::vector<Note> notes_of(const TrainerSettings& settings, const BatchSettings& given) {
  std::vector<Note> notes;
  if (given.micro > 0) notes.push_back({settings.where({micro_key}), "the micro-batch is here"});
  if (given.accumulate > 0) notes.push_back({settings.where({accumulate_key}), "the accumulation is here"});
  std::erase_if(notes, [](const Note& note) { return note.where.line == 0; });
  return notes;
}

/// Number of data-parallel ranks; 0 after a problem.
long long ranks_of(TrainerSettings& settings, const DraftOptions& options, const BatchSettings& given,
                   int split) {
  if (options.gpus) {
    if (*options.gpus % split == 0) return *options.gpus / split;
    settings.problem(settings.whole(),
                     fmt::format("{} GPUs are not divisible by the {} that work on the same samples",
                                 *options.gpus, split),
                     "change --gpus");
    return 0;
  }
  if (given.train == 0 || given.micro == 0 || given.accumulate == 0) {
    settings.problem(settings.whole(), "the file does not give the number of GPUs", "give it with --gpus");
    return 0;
  }
  const auto of_rank = given.micro * given.accumulate;
  if (given.train % of_rank == 0) return given.train / of_rank;
  settings.problem(
      settings.where({train_key}),
      fmt::format("{} samples are not divisible by {} x {}", given.train, given.micro, given.accumulate),
      std::string{rule}, notes_of(settings, given));
  return 0;
}

/// Fills in what follows from the other settings. @return whether all settings are known
bool complete(TrainerSettings& settings, BatchSettings& given, long long ranks) {
  if (given.train == 0 && given.micro == 0) {
    const bool automatic = settings.is_automatic({train_key, micro_key});
    settings.problem(automatic ? settings.where({micro_key, train_key}) : settings.whole(),
                     automatic
                         ? fmt::format("'{}' is \"auto\": the file does not give the batch size", micro_key)
                         : fmt::format("the file has neither '{}' nor '{}'", train_key, micro_key),
                     "give the samples of a micro-step per GPU with --batch");
    return false;
  }
  if (ranks == 0) return false;
  if (given.micro == 0) {
    if (given.accumulate == 0) given.accumulate = 1;
    given.micro = given.train / (given.accumulate * ranks);
  }
  if (given.accumulate == 0) given.accumulate = given.train == 0 ? 1 : given.train / (given.micro * ranks);
  return true;
}

}  // namespace

DeepSpeedBatch deepspeed_batch(TrainerSettings& settings, const DraftOptions& options, int split) {
  constexpr int most = 1'000'000'000;
  BatchSettings given{settings.whole_number({train_key}, 1, most).value_or(0),
                      settings.whole_number({micro_key}, 1, most).value_or(0),
                      settings.whole_number({accumulate_key}, 1, most).value_or(0)};
  if (options.batch) {
    if (given.micro > 0 && given.micro != *options.batch)
      settings.problem(
          settings.where({micro_key}),
          fmt::format("the file has a batch of {} samples, but --batch is {}", given.micro, *options.batch),
          "remove --batch, or change the file");
    given.micro = *options.batch;
  }
  const auto notes = notes_of(settings, given);
  const auto ranks = ranks_of(settings, options, given, split);
  if (!complete(settings, given, ranks)) return {};
  if (given.train > 0 && given.train != given.micro * given.accumulate * ranks) {
    const auto of_rank = given.micro * std::max(1LL, given.accumulate);
    const auto fitting = of_rank > 0 && given.train % of_rank == 0 ? given.train / of_rank * split : 0;
    settings.problem(
        settings.where({train_key}),
        given.accumulate == 0 ? fmt::format("{} samples per step are fewer than {} on each of {} ranks",
                                            given.train, given.micro, ranks)
                              : fmt::format("{} samples per step are not {} x {} x {} ranks", given.train,
                                            given.micro, given.accumulate, ranks),
        fitting > 0 ? fmt::format("{}; --gpus {} fits", rule, fitting) : std::string{rule}, notes);
    return {};
  }
  check_job_numbers(settings, given.micro, given.accumulate);
  if (ranks * split > max_ranks) {
    settings.problem(settings.where({train_key}), fmt::format("{} GPUs are too many", ranks * split),
                     fmt::format("the maximum is {}", max_ranks));
    return {};
  }
  return {static_cast<int>(ranks * split), static_cast<int>(given.micro), static_cast<int>(given.accumulate)};
}

}  // namespace gradway
