// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/base/units.hpp"
#include "sim/cost/cache.hpp"
#include "sim/cost/codecs.hpp"

namespace gradway {

/// How samples lie in storage: what one request brings.
enum class SampleFormat : std::uint8_t {
  files,   ///< a file a sample
  shards,  ///< many samples in a file that is read from its start to its end: tar, TFRecord
  tokens,  ///< ids in one file, mapped into memory, random windows of it
  pages,   ///< one file that is read in pages of many samples, as FFCV's
  parquet  ///< rows in groups, of which columns are read by themselves
};
inline constexpr std::array<std::string_view, 5> sample_format_words{"files", "shards", "tokens", "pages",
                                                                     "parquet"};
constexpr std::string_view name_of(SampleFormat format) {
  return sample_format_words[static_cast<std::size_t>(format)];
}

/// What a sample is, so that a model of text is not trained on images.
enum class SampleContent : std::uint8_t { images, text, volumes };
inline constexpr std::array<std::string_view, 3> sample_content_words{"images", "text", "volumes"};
constexpr std::string_view name_of(SampleContent content) {
  return sample_content_words[static_cast<std::size_t>(content)];
}

/// When a copy for a later step starts, as the program issues it on a stream of its own at the step's start.
enum class CopyStart : std::uint8_t {
  ahead,   ///< as soon as it is issued: the CPU may be most of a step ahead of the GPU
  step,    ///< it waits for the compute stream: when the GPU begins the step
  forward  ///< issued behind the forward pass, and waits for it
};
inline constexpr std::array<std::string_view, 3> copy_start_words{"ahead", "step", "forward"};
constexpr std::string_view name_of(CopyStart start) {
  return copy_start_words[static_cast<std::size_t>(start)];
}

/// A column of a Parquet file: what a row has in it, on average.
struct Column {
  std::string name;
  Bytes size{};                  ///< as stored
  Bytes unpacked{};              ///< what its codec makes of it
  std::optional<Codec> codec{};  ///< whose cost is known; empty: none, or one that costs nothing here
};

/// What is trained on.
struct Dataset {
  std::string name;
  std::string source;
  double samples = 0;   ///< of an epoch, over all ranks
  Bytes sample_size{};  ///< as stored, on average; without a codec
  double spread = 0;    ///< standard deviation of the size over its mean
  SampleFormat format = SampleFormat::files;
  std::optional<SampleContent> content{};  ///< empty: not known, suits any model
  Bytes request{};           ///< what one request brings of shards and pages; files: a sample. 0: a sample
  bool compressible = true;  ///< codecs make it smaller: not JPEG, video, random floats
  Bytes delivered{};         ///< of a sample, as it goes to the GPU
  /// CPU time of one core a sample.
  struct Cpu {
    Seconds decode{};               ///< image or record to numbers
    Seconds transform{};            ///< to crop, flip, normalise
    Seconds collate{};              ///< to put it into the batch
    std::optional<double> error{};  ///< relative standard error of these on the job's CPU; empty: they were
                                    ///< measured on another CPU
    Seconds sum() const { return decode + transform + collate; }
  };
  Cpu cpu{};
  Seconds unpack{};               ///< CPU time of one core a sample to unpack its columns
  std::vector<Column> columns{};  ///< of Parquet, those that are read
  double row_group = 0;           ///< of Parquet: rows that lie together, on average
  Seconds gpu_decode{};           ///< GPU time a sample where the GPU decodes; 0: it cannot
};

/// What one request of a loader worker brings. @param sample as it is stored
inline Bytes request_of(const Dataset& dataset, Bytes sample) {
  const bool by_sample = dataset.format == SampleFormat::files || dataset.format == SampleFormat::tokens;
  return by_sample ? sample : std::max(dataset.request, sample);
}

/// The dataset if only these of its columns are read: a row group's chunk of a column is a request.
inline Dataset with_columns(Dataset dataset, std::vector<Column> columns) {
  dataset.columns = std::move(columns);
  dataset.sample_size = {};
  dataset.unpack = {};
  for (const auto& column : dataset.columns) {
    dataset.sample_size += column.size;
    if (column.codec) dataset.unpack += column.unpacked / column.codec->decompressed;
  }
  if (!dataset.columns.empty())
    dataset.request = dataset.sample_size * (dataset.row_group / static_cast<double>(dataset.columns.size()));
  return dataset;
}

/// Where samples lie, as a client sees it.
struct StorageTier {
  enum class Kind : std::uint8_t {
    object_store,
    parallel_file_system,
    block_volume,
    local_drive,
    nfs,
    memory
  };
  static constexpr std::array<std::string_view, 6> kind_words{
      "object_store", "parallel_file_system", "block_volume", "local_drive", "nfs", "memory"};

  std::string name;
  std::string source;
  Kind kind = Kind::local_drive;
  BytesPerSecond read{};          ///< of all that serve it; of a drive: in each node
  std::optional<double> error{};  ///< standard error of what it gives the job, of itself; empty: a figure of
                                  ///< others
  std::optional<BytesPerSecond> write{};           ///< the same; empty: not known
  std::optional<BytesPerSecond> per_node{};        ///< what one node gets at most
  std::optional<BytesPerSecond> per_connection{};  ///< what one reader gets at most, behind its first byte
  Seconds first_byte{};                            ///< from a request to its first byte, on average
  double first_byte_spread = 0;                    ///< its standard deviation over the mean; 1: exponential
  std::optional<double> requests_per_second{};     ///< of all that serve it; of a drive: in each node
  /// A token bucket: `read` until this much was read above `sustained`, then `sustained` alone.
  struct Burst {
    Bytes credit{};
    BytesPerSecond sustained{};
  };
  std::optional<Burst> burst{};
  /// In USD as of a date; empty: not known or none.
  struct Price {
    std::string as_of;
    std::optional<double> usd_per_gb_month{};
    std::optional<double> usd_per_million_requests{};
    std::optional<double> usd_per_gb_out{};  ///< egress, or the crossing of a zone
    bool is_known() const { return !as_of.empty(); }
  };
  Price price{};

  /// Each node has its own.
  bool is_local() const {
    return kind == Kind::local_drive || kind == Kind::memory || kind == Kind::block_volume;
  }
};
inline std::string_view name_of(StorageTier::Kind kind) {
  return StorageTier::kind_words[static_cast<std::size_t>(kind)];
}

/// Where samples lie that were read before, in each node.
struct Cache {
  enum class Kind : std::uint8_t { page_cache, local_nvme };
  static constexpr std::array<std::string_view, 2> kind_words{"page_cache", "local_nvme"};

  Kind kind = Kind::page_cache;
  Bytes size{};  ///< of each node
  CachePolicy policy = CachePolicy::keeps;
  std::optional<StorageTier> tier{};  ///< that it is read from; empty: host memory
};

}  // namespace gradway
