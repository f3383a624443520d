// SPDX-License-Identifier: Apache-2.0
#include "readers/training/trainer_settings.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace gradway {
namespace {

constexpr auto train_key = "train_batch_size";
constexpr auto micro_key = "train_micro_batch_size_per_gpu";
constexpr auto size_keys = "train_micro_batch_size_per_gpu train_batch_size";
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

std::vector<Note> notes_of(const TrainerSettings& settings, const BatchSettings& batch) {
  std::vector<Note> notes;
  if (batch.micro > 0) notes.push_back({settings.where(micro_key), "the micro-batch is here"});
  if (batch.accumulate > 0) notes.push_back({settings.where(accumulate_key), "the accumulation is here"});
  std::erase_if(notes, [](const Note& note) { return note.where.line == 0; });
  return notes;
}

/// Number of data-parallel ranks; 0 after a problem.
long long ranks_of(TrainerSettings& settings, const DraftOptions& options, const BatchSettings& batch,
                   int split) {
  if (options.gpus) {
    if (*options.gpus % split == 0) return *options.gpus / split;
    settings.problem(settings.whole(),
                     fmt::format("{} GPUs are not divisible by the {} that work on the same samples",
                                 *options.gpus, split),
                     "change --gpus");
    return 0;
  }
  if (batch.train == 0 || batch.micro == 0 || batch.accumulate == 0) {
    settings.problem(settings.whole(), "the file does not give the number of GPUs", "give it with --gpus");
    return 0;
  }
  const auto of_rank = batch.micro * batch.accumulate;
  if (batch.train % of_rank == 0) return batch.train / of_rank;
  settings.problem(
      train_key,
      fmt::format("{} samples are not divisible by {} x {}", batch.train, batch.micro, batch.accumulate),
      std::string{rule}, notes_of(settings, batch));
  return 0;
}

/// Fills in what follows from the other settings. @return whether all settings are known
bool complete(TrainerSettings& settings, BatchSettings& batch, long long ranks) {
  if (batch.train == 0 && batch.micro == 0) {
    const bool automatic = settings.is_automatic(size_keys);
    settings.problem(automatic ? settings.where(size_keys) : settings.whole(),
                     automatic
                         ? fmt::format("'{}' is \"auto\": the file does not give the batch size", micro_key)
                         : fmt::format("the file has neither '{}' nor '{}'", train_key, micro_key),
                     "give the samples of a micro-step per GPU with --batch");
    return false;
  }
  if (ranks == 0) return false;
  if (batch.micro == 0) {
    if (batch.accumulate == 0) batch.accumulate = 1;
    batch.micro = batch.train / (batch.accumulate * ranks);
  }
  if (batch.accumulate == 0) batch.accumulate = batch.train == 0 ? 1 : batch.train / (batch.micro * ranks);
  return true;
}

}  // namespace

DeepSpeedBatch deepspeed_batch(TrainerSettings& settings, const DraftOptions& options, int split) {
  constexpr int most = 1'000'000'000;
  BatchSettings batch{settings.whole_number(train_key, 1, most).value_or(0),
                      settings.whole_number(micro_key, 1, most).value_or(0),
                      settings.whole_number(accumulate_key, 1, most).value_or(0)};
  if (options.batch) {
    if (batch.micro > 0 && batch.micro != *options.batch)
      settings.problem(
          micro_key,
          fmt::format("the file has a batch of {} samples, but --batch is {}", batch.micro, *options.batch),
          "remove --batch, or change the file");
    batch.micro = *options.batch;
  }
  const auto notes = notes_of(settings, batch);
  const auto ranks = ranks_of(settings, options, batch, split);
  if (!complete(settings, batch, ranks)) return {};
  if (batch.train > 0 && batch.train != batch.micro * batch.accumulate * ranks) {
    const auto of_rank = batch.micro * std::max(1LL, batch.accumulate);
    const auto fitting = of_rank > 0 && batch.train % of_rank == 0 ? batch.train / of_rank * split : 0;
    settings.problem(
        train_key,
        batch.accumulate == 0 ? fmt::format("{} samples per step are fewer than {} on each of {} ranks",
                                            batch.train, batch.micro, ranks)
                              : fmt::format("{} samples per step are not {} x {} x {} ranks", batch.train,
                                            batch.micro, batch.accumulate, ranks),
        fitting > 0 ? fmt::format("{}; --gpus {} fits", rule, fitting) : std::string{rule}, notes);
    return {};
  }
  check_job_numbers(settings, batch.micro, batch.accumulate);
  if (ranks * split > max_ranks) {
    settings.problem(train_key, fmt::format("{} GPUs are too many", ranks * split),
                     fmt::format("the maximum is {}", max_ranks));
    return {};
  }
  return {static_cast<int>(ranks * split), static_cast<int>(batch.micro), static_cast<int>(batch.accumulate)};
}

}  // namespace gradway
