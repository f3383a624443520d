// SPDX-License-Identifier: Apache-2.0
#include "sim/import/training/deepspeed_batch.hpp"

#include <fmt/format.h>

#include "sim/import/training/draft_parts.hpp"

namespace gradway {
namespace {

constexpr auto train_key = "train_batch_size";
constexpr auto micro_key = "train_micro_batch_size_per_gpu";
constexpr auto accumulate_key = "gradient_accumulation_steps";
constexpr std::string_view law =
    "DeepSpeed asks for train_batch_size = train_micro_batch_size_per_gpu x gradient_accumulation_steps x "
    "GPUs";

/// The three numbers; 0: not said.
struct Said {
  long long train = 0;
  long long micro = 0;
  long long accumulate = 0;
};

std::vector<Note> notes_of(const TrainerSettings& settings, const Said& said) {
  std::vector<Note> notes;
  if (said.micro > 0) notes.push_back({settings.where({micro_key}), "the micro-batch is here"});
  if (said.accumulate > 0) notes.push_back({settings.where({accumulate_key}), "the accumulation is here"});
  std::erase_if(notes, [](const Note& note) { return note.where.line == 0; });
  return notes;
}

/// GPUs that work on samples of their own.
long long ranks_of(TrainerSettings& settings, const DraftOptions& options, const Said& said, int split) {
  if (options.gpus) {
    if (*options.gpus % split == 0) return *options.gpus / split;
    settings.problem(
        settings.whole(),
        fmt::format("{} GPUs are no multiple of the {} that work on the same samples", *options.gpus, split),
        "give another --gpus");
    return 0;
  }
  if (said.train == 0 || said.micro == 0 || said.accumulate == 0) {
    settings.problem(settings.whole(), "the file does not say how many GPUs train", "give them with --gpus");
    return 0;
  }
  const auto of_rank = said.micro * said.accumulate;
  if (said.train % of_rank == 0) return said.train / of_rank;
  settings.problem(
      settings.where({train_key}),
      fmt::format("{} samples are no multiple of {} x {}", said.train, said.micro, said.accumulate),
      std::string{law}, notes_of(settings, said));
  return 0;
}

/// Fills in what follows. @return nothing is missing
bool complete(TrainerSettings& settings, Said& said, long long ranks) {
  if (said.train == 0 && said.micro == 0) {
    const bool automatic = settings.is_automatic({train_key, micro_key});
    settings.problem(automatic ? settings.where({micro_key, train_key}) : settings.whole(),
                     automatic ? fmt::format("'{}' is \"auto\": the file does not say the batch", micro_key)
                               : fmt::format("the file says neither '{}' nor '{}'", train_key, micro_key),
                     "give the samples of a micro-step on each GPU with --batch");
    return false;
  }
  if (ranks == 0) return false;
  if (said.micro == 0) {
    if (said.accumulate == 0) said.accumulate = 1;
    said.micro = said.train / (said.accumulate * ranks);
  }
  if (said.accumulate == 0) said.accumulate = said.train == 0 ? 1 : said.train / (said.micro * ranks);
  return true;
}

}  // namespace

DeepSpeedBatch deepspeed_batch(TrainerSettings& settings, const DraftOptions& options, int split) {
  constexpr int most = 1'000'000'000;
  Said said{settings.whole_number({train_key}, 1, most).value_or(0),
            settings.whole_number({micro_key}, 1, most).value_or(0),
            settings.whole_number({accumulate_key}, 1, most).value_or(0)};
  if (options.batch) {
    if (said.micro > 0 && said.micro != *options.batch)
      settings.problem(settings.where({micro_key}),
                       fmt::format("the file says {} samples, --batch {}", said.micro, *options.batch),
                       "leave --batch out, or change the file");
    said.micro = *options.batch;
  }
  const auto notes = notes_of(settings, said);
  const auto ranks = ranks_of(settings, options, said, split);
  if (!complete(settings, said, ranks)) return {};
  if (said.train > 0 && said.train != said.micro * said.accumulate * ranks) {
    settings.problem(settings.where({train_key}),
                     fmt::format("{} samples of a step are not {} x {} x {} ranks", said.train, said.micro,
                                 said.accumulate, ranks),
                     std::string{law}, notes);
    return {};
  }
  check_job_numbers(settings, said.micro, said.accumulate);
  if (ranks * split > most_ranks_of_drafts) {
    settings.problem(settings.where({train_key}), fmt::format("{} GPUs are too many", ranks * split),
                     fmt::format("{} at most", most_ranks_of_drafts));
    return {};
  }
  return {static_cast<int>(ranks * split), static_cast<int>(said.micro), static_cast<int>(said.accumulate)};
}

}  // namespace gradway
