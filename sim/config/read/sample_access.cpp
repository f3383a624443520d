// SPDX-License-Identifier: Apache-2.0
// What a loader can read, and how: keys of `input` against each other and against the dataset.
#include <fmt/format.h>

#include "sim/config/read/input.hpp"
#include "sim/scenario/shared_by_loaders.hpp"

namespace gradway::config {
namespace {

/// Reports settings of worker processes and of copies that a loader with threads does not have.
void check_threads(Reader& input, const InputSettings& settings) {
  const auto name = name_of(settings.loader);
  const auto refuse = [&](std::string_view key, const std::string& message, const std::string& hint) {
    if (input.has(key))
      input.error(input.value_place(key), message, hint,
                  {{input.value_place("loader"), "loader is set here"}});
  };
  const auto refuse_processes = [&](std::string_view key) {
    refuse(key, fmt::format("input.{} has no effect: the loader {} has threads, not processes", key, name),
           "leave it out");
  };
  if (settings.persistent_workers) refuse_processes("persistent_workers");
  if (settings.worker_start != InputSettings{}.worker_start) refuse_processes("worker_start");
  if (settings.loader_workers == 0)
    refuse("loader_workers", fmt::format("the loader {} requires loader_workers above 0, its threads", name),
           "set loader_workers to the number of threads");
  if (settings.loader == LoaderKind::dali && settings.prefetch)
    refuse("prefetch",
           "input.prefetch conflicts with the loader dali, which copies batches to the GPU itself",
           "leave prefetch out");
  if (settings.loader == LoaderKind::dali && !settings.pin_memory)
    refuse("pin_memory", "the loader dali copies from pinned memory only", "leave pin_memory out");
  if (settings.loader == LoaderKind::tf_data && settings.decode_on_gpu)
    refuse("decode", "the loader tf_data decodes on the CPU", "write 'decode: cpu', or 'loader: dali'");
}

}  // namespace

void check_loader(Reader& input, const InputSettings& settings) {
  if (settings.loader != LoaderKind::pytorch) check_threads(input, settings);
  const bool is_mixed = settings.loader == LoaderKind::dali && settings.decode_on_gpu;
  if (settings.hw_decoder_load && !is_mixed)
    input.error(input.key_place("hw_decoder_load"),
                "input.hw_decoder_load requires 'loader: dali' and 'decode: gpu'",
                "set them, or leave it out");
}

void choose_rows(ScenarioSpec& spec, Problems& problems) {
  auto& input = spec.job.input;
  if (!input.dataset) return;
  const auto format = input.dataset->format;
  const auto refuse = [&](const std::string& key, const std::string& message, const std::string& hint) {
    problems.add(ConfigError{Problem{spec.place(key), message, {}, hint}});
  };
  struct KeyOfFormat {
    const char* key;
    SampleFormat format;
  };
  for (const auto& [key, needs] :
       {KeyOfFormat{"input.predicate", SampleFormat::parquet},
        KeyOfFormat{"input.csv_parser", SampleFormat::csv}, KeyOfFormat{"input.access", SampleFormat::mapped},
        KeyOfFormat{"input.read_ahead", SampleFormat::mapped}})
    if (format != needs && spec.given.contains(key))
      return refuse(
          key,
          fmt::format("{} requires a dataset of format {}, not {}", key, name_of(needs), name_of(format)),
          "leave it out");
  if (input.loader != LoaderKind::pytorch && format != SampleFormat::files && format != SampleFormat::shards)
    return refuse("input.loader",
                  fmt::format("the loader {} has no reader for datasets of format {}", name_of(input.loader),
                              name_of(format)),
                  "choose a dataset of format files or shards, or 'loader: pytorch'");
  if (input.predicate) input.dataset = with_predicate(std::move(*input.dataset), *input.predicate);
}

void check_nvjpeg(const ScenarioSpec& spec, const Gpu& gpu, Problems& problems) {
  const auto& input = spec.job.input;
  if (input.loader != LoaderKind::dali || !input.decode_on_gpu || !input.dataset) return;
  const auto refuse = [&](const std::string& key, const std::string& message, const std::string& hint) {
    problems.add(ConfigError{Problem{spec.place(key), message, {}, hint}});
  };
  if (input.dataset->pixels == 0)
    refuse("input.dataset", "decoding by DALI on the GPU requires the dataset's 'pixels', of JPEG images",
           "add them to the dataset, or write 'decode: cpu'");
  if (input.hw_decoder_load.value_or(0) > 0 && gpu.jpeg_decoder == 0)
    refuse("input.hw_decoder_load",
           fmt::format("no rate of a JPEG decoder is known for the GPU '{}'", gpu.name),
           "leave hw_decoder_load out: nvJPEG then decodes with CPU threads and kernels");
}

void tune_threads(ScenarioSpec& spec, const Platform& platform) {
  auto& input = spec.job.input;
  if (input.loader != LoaderKind::tf_data || spec.given.contains("input.loader_workers")) return;
  input.loader_workers = loader_threads_of_a_rank(platform, spec.job.gpus);
  input.tunes_threads = true;
}

}  // namespace gradway::config
