// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/scenario/fields.hpp"
#include "sim/scenario/job.hpp"

namespace gradway {

// In the order of false and true.
inline constexpr std::array<std::string_view, 2> storage_network_words{"own", "shared"};
inline constexpr std::array<std::string_view, 2> sample_sizes_words{"mean", "drawn"};
inline constexpr std::array<std::string_view, 2> decoder_words{"cpu", "gpu"};
inline constexpr std::array<std::string_view, 2> epoch_words{"later", "first"};

/// The keys of `input`.
constexpr auto fields_of(std::type_identity<InputSettings>) {
  using Input = InputSettings;
  constexpr auto loads = [](const Input& input) { return input.dataset.has_value(); };
  constexpr std::string_view measured_apart = "what is not known is a core's, and the storage's";
  constexpr std::string_view stated = "a figure that the user states";
  return std::tuple{
      field("pin_memory", &Input::pin_memory, value::Boolean{},
            "copies from pinned host memory, beside kernels"),
      field("loader_workers", &Input::loader_workers, value::Whole{0, 4096},
            "with a dataset: processes of each rank that make its batches; 0: the training process does",
            {.outside_identity = measured_apart}),
      field("prefetch", &Input::prefetch, value::WordsOrNone{"a start of copies", copy_start_words},
            "when the copy of the next batch starts, on a stream of its own: when the CPU issues it, when "
            "the GPU "
            "begins the step, after the forward pass; none: each batch is copied in its own step"),
      field("background_copy", &Input::background_copy, value::Amount{value::Unit::size, "100 MB", "0 MB"},
            "what each GPU also copies from pinned host memory beside every step, for the next one"),
      field("background_start", &Input::background_start, value::Words{"a start of copies", copy_start_words},
            "with a background_copy: when it starts, see input.prefetch"),
      field("prefetch_factor", &Input::prefetch_factor, value::Whole{1, 1024},
            "batches that each worker is ahead, as PyTorch's",
            {.is_echoed = loads, .outside_identity = measured_apart}),
      field("persistent_workers", &Input::persistent_workers, value::Boolean{},
            "workers stay from one epoch to the next, as PyTorch's; else each epoch starts them again",
            {.is_echoed = loads, .outside_identity = measured_apart}),
      field("worker_start", &Input::worker_start, value::Amount{value::Unit::time, "6 ms", "0 ms"},
            "time that the training process takes to start one worker",
            {.is_echoed = loads, .outside_identity = stated}),
      field("sample_sizes", &Input::draws_sizes, value::Words{"a choice of sizes", sample_sizes_words},
            "drawn: each batch of each rank has samples of other sizes, as the dataset's spread says",
            {.is_echoed = loads, .outside_identity = "the same samples, on average or drawn"}),
      field("batch_overhead", &Input::batch_overhead, value::Amount{value::Unit::time, "1 ms", "0 ms"},
            "with a dataset: CPU time of the training process for each batch that it takes",
            {.is_echoed = loads, .outside_identity = stated}),
      field("batch_overhead_spread", &Input::batch_overhead_spread, value::Real{0, 100},
            "its standard deviation over the mean, drawn for each rank and step",
            {.is_echoed = loads, .outside_identity = stated}),
      field("epoch_steps", &Input::epoch_steps, value::Whole{2, 100000},
            "with a dataset: an epoch of so many steps is simulated whole, from empty queues to its last "
            "batch; "
            "left out, a step in its midst",
            {.is_echoed = loads, .outside_identity = "the same step, in an epoch that is simulated whole"}),
      OwnField{
          "dataset", value::Name{},
          "that is read, step by step; or its keys: samples, sample_size, format ...; left out, samples are "
          "in host memory, ready"},
      OwnField{"columns", value::Names{}, "columns of a Parquet file that are read; left out, all"},
      OwnField{
          "storage", value::Name{},
          "of 'gradway list storage', that serves it; or a map with the keys of such a file; left out, host "
          "memory"},
      field("storage_network", &Input::shares_network,
            value::Words{"a network of storage", storage_network_words},
            "own: storage has network cards of its own; shared: samples come over those that NCCL uses, of "
            "each "
            "rank over the one nearest to its GPU",
            {.is_echoed = loads}),
      field("storage_weight", &Input::storage_weight, value::Real{0.001, 1000},
            "with a shared network: the share of each worker that reads, against a collective's of 1, where "
            "they "
            "meet",
            {.is_echoed = loads, .outside_identity = stated}),
      OwnField{"codec", value::Words{"a codec", codec_words}, "that samples are packed with"},
      field("decode", &Input::decode_on_gpu, value::Words{"a decoder", decoder_words}, "who decodes samples",
            {.is_echoed = loads}),
      field("epoch", &Input::first_epoch, value::Words{"an epoch", epoch_words},
            "the first one finds caches empty, and no worker that stands",
            {.is_echoed = loads, .outside_identity = "the same cache and storage, in another epoch"}),
      OwnField{"cache", value::Words{"a cache", Cache::kind_words}, "where each node keeps what it has read"},
      OwnField{"cache_size", value::Amount{value::Unit::size, "500 GB"}, "size of the cache of each node"},
      OwnField{"cache_policy", value::Words{"a cache policy", cache_policy_words},
               "what a full cache gives up: nothing, what was not read for longest, anything", "keeps"}};
}

}  // namespace gradway
