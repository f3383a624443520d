// SPDX-License-Identifier: Apache-2.0
// The keys of `input`.
#include "sim/scenario/field_rows.hpp"
#include "sim/scenario/key_context.hpp"
#include "sim/scenario/shared_by_loaders.hpp"

namespace gradway {
namespace {

// In the order of false and true.
constexpr std::array<std::string_view, 2> storage_network_words{"own", "shared"};
constexpr std::array<std::string_view, 2> sample_sizes_words{"mean", "drawn"};
constexpr std::array<std::string_view, 2> decoder_words{"cpu", "gpu"};
constexpr std::array<std::string_view, 2> epoch_words{"later", "first"};

/// What keys of `input` need.
namespace input_lacks {
Lack dataset(const KeyContext& context) {
  return lack_unless(context.job.input.dataset.has_value(), "samples are ready without input.dataset",
                     "set input.dataset, or leave it out");
}
Lack storage(const KeyContext& context) {
  return lack_unless(context.job.input.storage.has_value(),
                     "samples are in host memory without input.storage",
                     "set input.storage, or leave it out");
}
Lack shared_storage(const KeyContext& context) {
  const auto& input = context.job.input;
  if (!input.storage) return storage(context);
  return lack_unless(!input.storage->is_local(), "each node has its own storage");
}
Lack shared_network(const KeyContext& context) {
  return lack_unless(context.job.input.shares_network, "the storage has its own network",
                     "write 'storage_network: shared', or leave it out");
}
Lack workers(const KeyContext& context) {
  if (!context.job.input.dataset) return dataset(context);
  return lack_unless(context.job.input.loader_workers > 0, "the training process loads the samples itself",
                     "set input.loader_workers, or leave it out");
}
Lack copies(const KeyContext& context) {
  return lack_unless(context.job.input.background_copy > Bytes{}, "nothing is copied in the background",
                     "set input.background_copy, or leave it out");
}
Lack staging(const KeyContext& context) {
  return lack_unless(context.job.input.staged_from.has_value(), "the dataset is not staged",
                     "set input.staged_from, or leave it out");
}
Lack staging_or_prefetch(const KeyContext& context) {
  return lack_unless(context.job.input.staged_from || context.job.input.cache_prefetch,
                     "nothing is copied between storage tiers",
                     "set input.staged_from or input.cache_prefetch, or leave it out");
}
Lack first_epoch(const KeyContext& context) {
  const auto& input = context.job.input;
  return lack_unless(input.cache || input.persistent_workers || input.stage_in == StageIn::during,
                     "all epochs are alike without a cache, staging or persistent workers",
                     "set input.cache, or leave it out");
}
}  // namespace input_lacks

/// Powers of two up to the hardware threads per rank.
std::vector<std::string> worker_counts(const KeyContext& context) {
  const int most = loader_threads_of_a_rank(*context.platform, context.job.gpus);
  std::vector<std::string> texts;
  for (int workers = 1; workers <= most; workers *= 2) texts.push_back(std::to_string(workers));
  return texts;
}
std::vector<std::string> decoders(const KeyContext& context) {
  if (!(context.job.input.dataset->gpu_decode > Seconds{})) return {};
  return {decoder_words.begin(), decoder_words.end()};
}
std::vector<std::string> useful_codecs(const KeyContext& context) {
  std::vector<std::string> texts;
  if (context.job.input.dataset->compressible)
    for (const auto& codec : codecs()) texts.emplace_back(codec.name);
  return texts;
}
std::vector<std::string> cache_policies(const KeyContext& context) {
  if (!context.job.input.cache) return {};
  return {cache_policy_words.begin(), cache_policy_words.end()};
}

template <class Member>
std::optional<Member> of_cache(const InputSettings& input, Member Cache::*member) {
  return input.dataset && input.cache ? std::optional{(*input.cache).*member} : std::nullopt;
}

}  // namespace

FieldTable make_fields(std::type_identity<Predicate>) {
  return {
      field("selectivity", &Predicate::selectivity, value::Real{1e-12, 1}, "share of rows that match",
            {.is_required = true}),
      field("rows", &Predicate::rows, value::Words{"a distribution", matching_rows_words},
            "random: matching rows are anywhere in the file; clustered: the file is sorted by them"),
      field(
          "false_positives", &Predicate::false_positives, value::Real{0, 1},
          "share of row groups without a matching row that are read: 0 for minimum and maximum and a range, "
          "the rate of a Bloom filter, 1 without statistics")};
}

FieldTable make_fields(std::type_identity<InputSettings>) {
  using Input = InputSettings;
  constexpr auto loads = [](const Input& input) { return input.dataset.has_value(); };
  constexpr auto is_csv = [](const Input& input) {
    return input.dataset && input.dataset->format == SampleFormat::csv;
  };
  constexpr auto is_mapped = [](const Input& input) {
    return input.dataset && input.dataset->format == SampleFormat::mapped;
  };
  constexpr auto stages = [](const Input& input) { return input.staged_from.has_value(); };
  constexpr auto copies = [](const Input& input) { return input.staged_from || input.cache_prefetch; };
  constexpr std::string_view no_own_error = "its prediction errors are those of the core and the storage";
  constexpr std::string_view stated = "a figure from the user";
  return {
      field("pin_memory", &Input::pin_memory, value::Boolean{},
            "batches are in pinned host memory, so that their copies overlap with kernels",
            {.tries = {"true, false"}}),
      field("loader", &Input::loader, value::Words{"a loader", loader_words},
            "what makes batches. pytorch: DataLoader; dali: NVIDIA DALI; tf_data: tf.data",
            {.is_echoed = loads, .lack = input_lacks::dataset}),
      field("loader_workers", &Input::loader_workers, value::Whole{0, 4096},
            "with a dataset: number of loader processes per rank (DataLoader's num_workers; threads of DALI "
            "and tf.data); 0: the training process loads the data; default of tf_data: AUTOTUNE",
            {.outside_identity = no_own_error,
             .lack = input_lacks::dataset,
             .tries = {.by_scenario = worker_counts}}),
      field("prefetch", &Input::prefetch, value::WordsOrNone{"a copy start", copy_start_words},
            "when the copy of the next batch starts, on its own stream. ahead: when the CPU issues it; step: "
            "when the GPU begins the step; forward: after the forward pass; none: each batch is copied in "
            "its own step"),
      field("background_copy", &Input::background_copy, value::Amount{value::Unit::size, "100 MB", "0 MB"},
            "amount of data that each GPU also copies from pinned host memory during every step"),
      field("background_start", &Input::background_start, value::Words{"a copy start", copy_start_words},
            "with background_copy: when it starts, with the values of input.prefetch",
            {.lack = input_lacks::copies}),
      field("prefetch_factor", &Input::prefetch_factor, value::Whole{1, 1024},
            "number of batches that each worker loads in advance (DataLoader's prefetch_factor; of DALI and "
            "tf.data: batches in all)",
            {.is_echoed = loads,
             .outside_identity = no_own_error,
             .lack = input_lacks::workers,
             .tries = {"1, 2, 4, 8"}}),
      field("persistent_workers", &Input::persistent_workers, value::Boolean{},
            "workers are kept from one epoch to the next (DataLoader's persistent_workers); false: each "
            "epoch starts them again",
            {.is_echoed = loads, .outside_identity = no_own_error, .lack = input_lacks::dataset}),
      field("worker_start", &Input::worker_start, value::Amount{value::Unit::time, "6 ms", "0 ms"},
            "time that the training process takes to start one worker",
            {.is_echoed = loads, .outside_identity = stated, .lack = input_lacks::workers}),
      field("sample_sizes", &Input::draws_sizes, value::Words{"a choice of sample sizes", sample_sizes_words},
            "mean: all samples have the mean size; drawn: the sizes of each batch are drawn with the "
            "dataset's spread",
            {.is_echoed = loads,
             .outside_identity = "the same samples, on average or drawn",
             .lack = input_lacks::dataset}),
      field("batch_overhead", &Input::batch_overhead, value::Amount{value::Unit::time, "1 ms", "0 ms"},
            "with a dataset: CPU time of the training process for each batch that it receives",
            {.is_echoed = loads, .outside_identity = stated, .lack = input_lacks::dataset}),
      field("batch_overhead_spread", &Input::batch_overhead_spread, value::Real{0, 100},
            "standard deviation of batch_overhead over its mean, drawn for each rank and step",
            {.is_echoed = loads, .outside_identity = stated}),
      field("epoch_steps", &Input::epoch_steps, value::Whole{2, 100000},
            "with a dataset: simulate a whole epoch with this number of steps, from empty queues to its last "
            "batch; default: a step in the middle of an epoch",
            {.is_echoed = loads,
             .outside_identity = "the same step, in an epoch that is simulated whole",
             .lack = input_lacks::dataset}),
      custom("dataset", value::Name{},
             "dataset that is read during training, or a map with its keys (samples, sample_size, format "
             "...); default: samples are ready in host memory"),
      custom<Input>("columns", value::Names{}, "columns of a Parquet dataset that are read; default: all",
                    {.lack = input_lacks::dataset},
                    [](const Input& input) {
                      return input.dataset && !input.columns.empty() ? std::optional{input.columns}
                                                                     : std::nullopt;
                    }),
      custom("storage", value::Name{},
             "storage tier of the dataset (gradway list storage), or a map with the keys of such a file; "
             "default: host memory",
             {.lack = input_lacks::dataset}),
      field("storage_network", &Input::shares_network,
            value::Words{"a storage network", storage_network_words},
            "own: the storage has its own NICs; shared: each rank reads samples over the NIC nearest to its "
            "GPU, which NCCL uses as well",
            {.is_echoed = loads, .lack = input_lacks::shared_storage}),
      field("storage_weight", &Input::storage_weight, value::Real{0.001, 1000},
            "with storage_network shared: weight of each reading worker on a link that it shares with a "
            "collective, whose weight is 1",
            {.is_echoed = loads, .outside_identity = stated, .lack = input_lacks::shared_network}),
      custom("staged_from", value::Name{},
             "cold tier from which the dataset is copied to input.storage (gradway list storage); default: "
             "it is on input.storage",
             {.lack = input_lacks::dataset}),
      field("stage_in", &Input::stage_in, value::Words{"a time of staging", stage_in_words},
            "with staged_from. before: the job starts when the dataset is copied; during: it starts at once "
            "and reads from the cold tier what is not copied yet",
            {.is_echoed = stages, .lack = input_lacks::staging}),
      field(
          "copy_streams", &Input::copy_streams, value::Whole{1, 100000},
          "with staged_from or cache_prefetch: requests that each node has in flight for it",
          {.is_echoed = copies, .outside_identity = no_own_error, .lack = input_lacks::staging_or_prefetch}),
      custom<Input>("codec", value::Words{"a codec", codec_names()}, "lossless compression of samples",
                    {.lack = input_lacks::dataset, .tries = {.by_scenario = useful_codecs}},
                    [](const Input& input) {
                      return input.dataset && input.codec ? std::optional{std::string{input.codec->name}}
                                                          : std::nullopt;
                    }),
      field("codec_in", &Input::codec_in, value::Words{"a place of compression", codec_place_words},
            "with codec: where samples are compressed. everywhere: in the store, over the network and in "
            "caches, as of compressed files; store_and_network: nodes decompress what they fetch",
            {.is_echoed = [](const Input& input) { return input.codec.has_value(); }}),
      field("dedup", &Input::dedup, value::Words{"a place of deduplication", dedup_place_words},
            "with duplicates of the dataset: what keeps equal pieces once. store: the storage; cache: caches "
            "as well; network: nodes also fetch only pieces that their caches do not hold",
            {.is_echoed = loads, .lack = input_lacks::dataset}),
      field("decode", &Input::decode_on_gpu, value::Words{"a decoder", decoder_words},
            "processor that decodes samples",
            {.is_echoed = loads, .lack = input_lacks::dataset, .tries = {.by_scenario = decoders}}),
      field("hw_decoder_load", &Input::hw_decoder_load, value::Real{0, 1},
            "with loader dali and decode gpu: share of the images that the GPU's JPEG decoder decodes; "
            "default: 0.65, or 0 without a decoder",
            {.lack = input_lacks::dataset}),
      group("predicate", &Input::predicate, "predicate by which a reader of Parquet skips row groups",
            {.is_echoed = loads, .lack = input_lacks::dataset}),
      field("csv_parser", &Input::csv_parser, value::Words{"a CSV parser", csv_parser_words},
            "parser of a dataset of format csv", {.is_echoed = is_csv, .lack = input_lacks::dataset}),
      field("access", &Input::access, value::Words{"an order", access_order_words},
            "order in which samples of a memory-mapped dataset are accessed",
            {.is_echoed = is_mapped, .lack = input_lacks::dataset}),
      field("read_ahead", &Input::read_ahead, value::Amount{value::Unit::size, "128 KiB", "0 B"},
            "window that a page fault of a memory-mapped dataset reads (read_ahead_kb of the drive); 0: one "
            "page (MADV_RANDOM)",
            {.is_echoed = is_mapped, .lack = input_lacks::dataset}),
      field("epoch", &Input::first_epoch, value::Words{"an epoch", epoch_words},
            "first: caches are empty and workers have yet to be started",
            {.is_echoed = loads, .lack = input_lacks::first_epoch}),
      custom<Input>("cache", value::Words{"a cache", Cache::kind_words},
                    "where each node keeps the samples that it has read", {.lack = input_lacks::dataset},
                    [](const Input& input) { return of_cache(input, &Cache::kind); }),
      custom<Input>("cache_size", value::Amount{value::Unit::size, "500 GB"},
                    "size of the cache of each node", {},
                    [](const Input& input) { return of_cache(input, &Cache::size); }),
      custom<Input>(
          "cache_policy", value::Words{"a cache policy", cache_policy_words},
          "what a full cache evicts. keeps: nothing; lru: the least recently read sample; random: any sample",
          {.default_text = "keeps", .tries = {.by_scenario = cache_policies}},
          [](const Input& input) { return of_cache(input, &Cache::policy); }),
      field(
          "cache_prefetch", &Input::cache_prefetch, value::Boolean{},
          "each node reads coming samples, whose order is known, into its cache before workers ask for them",
          {.is_echoed = [](const Input& input) { return input.cache.has_value(); },
           .outside_identity = no_own_error})};
}

}  // namespace gradway
