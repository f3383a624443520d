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
#include "sim/scenario/sample_access.hpp"

namespace gradway {

/// How samples are stored, which decides what one request reads.
enum class SampleFormat : std::uint8_t {
  files,    ///< one file per sample
  shards,   ///< files with many samples that are read sequentially: tar, TFRecord
  tokens,   ///< token ids in one memory-mapped file, read in random windows
  pages,    ///< one file that is read in pages of many samples, as in FFCV
  parquet,  ///< row groups, whose columns are read separately
  csv,      ///< lines of text in one file, which are read sequentially and parsed
  mapped    ///< one memory-mapped file of arrays
};
inline constexpr std::array<std::string_view, 7> sample_format_words{"files",   "shards", "tokens", "pages",
                                                                     "parquet", "csv",    "mapped"};
constexpr std::string_view name_of(SampleFormat format) {
  return sample_format_words[static_cast<std::size_t>(format)];
}

/// Kind of samples, so that a text model is not trained on images.
enum class SampleContent : std::uint8_t { images, text, volumes };
inline constexpr std::array<std::string_view, 3> sample_content_words{"images", "text", "volumes"};
constexpr std::string_view name_of(SampleContent content) {
  return sample_content_words[static_cast<std::size_t>(content)];
}

/// Where samples are compressed: in the store, over the network and in the caches of nodes.
enum class CodecPlace : std::uint8_t {
  everywhere,         ///< files are compressed, and workers decompress what they read
  store_and_network,  ///< nodes decompress what they fetch, so that caches hold plain samples
  store,              ///< the storage decompresses what it sends
  network,            ///< the storage compresses what it sends, and nodes decompress it
  cache               ///< nodes compress what they fetch, and decompress what they read from their caches
};
inline constexpr std::array<std::string_view, 5> codec_place_words{"everywhere", "store_and_network", "store",
                                                                   "network", "cache"};
constexpr std::string_view name_of(CodecPlace place) {
  return codec_place_words[static_cast<std::size_t>(place)];
}

/// Where equal pieces of samples are kept or sent once.
enum class DedupPlace : std::uint8_t {
  none,
  store,   ///< the storage keeps each piece once and sends all of them
  cache,   ///< caches keep each piece once as well: nodes hash what they fetch
  network  ///< an index names the pieces, so that nodes fetch only those that their caches do not hold
};
inline constexpr std::array<std::string_view, 4> dedup_place_words{"none", "store", "cache", "network"};
constexpr std::string_view name_of(DedupPlace place) {
  return dedup_place_words[static_cast<std::size_t>(place)];
}

/// When a dataset is copied from a cold tier to the tier from which training reads.
enum class StageIn : std::uint8_t {
  before,  ///< the job starts when all of it is copied
  during   ///< the job starts at once; what is not copied yet is read from the cold tier, and kept
};
inline constexpr std::array<std::string_view, 2> stage_in_words{"before", "during"};

/// When a copy for a later step starts. The program issues it on its own stream at the start of the step.
enum class CopyStart : std::uint8_t {
  ahead,   ///< when it is issued: the CPU may be most of a step ahead of the GPU
  step,    ///< when the GPU begins the step: the copy waits for the compute stream
  forward  ///< after the forward pass
};
inline constexpr std::array<std::string_view, 3> copy_start_words{"ahead", "step", "forward"};
constexpr std::string_view name_of(CopyStart start) {
  return copy_start_words[static_cast<std::size_t>(start)];
}

/// A column of a Parquet file; sizes are means per row.
struct Column {
  std::string name;
  Bytes size{};                  ///< as stored
  Bytes unpacked{};              ///< decompressed
  std::optional<Codec> codec{};  ///< empty: none, or one without cost here
};

/// The training data.
struct Dataset {
  std::string name;
  std::string source;
  double samples = 0;   ///< number of samples in an epoch, over all ranks
  Bytes sample_size{};  ///< mean size of a stored sample, without a codec
  double spread = 0;    ///< standard deviation of the size over its mean
  SampleFormat format = SampleFormat::files;
  std::optional<SampleContent> content{};  ///< empty: unknown, suits any model
  Bytes request{};                         ///< size of a read request of shards and pages; 0: one sample
  double duplicates = 0;                   ///< share of its bytes that occur in other samples before
  bool compressible = true;  ///< false for JPEG, video and random floats, which codecs do not make smaller
  Bytes delivered{};         ///< size of a sample when it is copied to the GPU; 0: the model's own
  /// CPU time per sample, on one core.
  struct Cpu {
    Seconds decode{};     ///< from an image or record to numbers
    Seconds transform{};  ///< to crop, flip and normalise it
    Seconds collate{};    ///< to copy it into the batch
    std::optional<double>
        error{};  ///< relative standard error on the job's CPU; empty: measured on another CPU
    Seconds sum() const { return decode + transform + collate; }
  };
  Cpu cpu{};
  Seconds unpack{};                      ///< CPU time per sample to decompress its columns, on one core
  std::vector<Column> columns{};         ///< columns of a Parquet dataset that are read
  double row_group = 0;                  ///< mean number of rows in a row group of a Parquet dataset
  std::optional<Predicate> predicate{};  ///< `samples` are the rows that match
  double rows_read = 1;                  ///< number of rows read for each that matches
  double pixels = 0;                     ///< mean number of pixels of an image; 0: unknown
  Seconds gpu_decode{};                  ///< GPU time to decode a sample; 0: the GPU cannot decode it
};

/// Whether each request reads one sample.
constexpr bool reads_by_sample(SampleFormat format) {
  return format == SampleFormat::files || format == SampleFormat::tokens || format == SampleFormat::mapped;
}

/// Size of a read request of a loader worker. @param sample size of a stored sample
inline Bytes request_of(const Dataset& dataset, Bytes sample) {
  return reads_by_sample(dataset.format) ? sample : std::max(dataset.request, sample);
}

/// The dataset with only these columns. A request reads the part of a row group that belongs to a column.
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

/// A storage tier, as a client sees it.
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
  BytesPerSecond read{};                  ///< aggregate; of node-local storage: per node
  std::optional<double> error{};          ///< relative standard error of its rates; empty: published figures
  std::optional<BytesPerSecond> write{};  ///< aggregate, as `read`; empty: unknown
  std::optional<BytesPerSecond> per_node{};        ///< maximum of one node
  std::optional<BytesPerSecond> per_connection{};  ///< maximum of one reader, after its first byte
  Seconds first_byte{};                            ///< mean latency from a request to its first byte
  double first_byte_spread = 0;  ///< standard deviation of first_byte over its mean; 1: exponential
  std::optional<double> requests_per_second{};  ///< aggregate; of node-local storage: per node
  /// Token bucket: the rate is `read` until `credit` was read above `sustained`, then it is `sustained`.
  struct Burst {
    Bytes credit{};
    BytesPerSecond sustained{};
  };
  std::optional<Burst> burst{};
  /// In USD as of a date; empty: unknown or free.
  struct Price {
    std::string as_of;
    std::optional<double> usd_per_gb_month{};
    std::optional<double> usd_per_million_requests{};
    std::optional<double> usd_per_gb_out{};  ///< egress, or traffic between zones
    std::optional<double> usd_per_million_writes{};
    std::optional<double> usd_per_gb_in{};  ///< written, or traffic between zones
    bool is_known() const { return !as_of.empty(); }
  };
  Price price{};

  /// Whether each node has its own.
  bool is_local() const {
    return kind == Kind::local_drive || kind == Kind::memory || kind == Kind::block_volume;
  }
};
inline std::string_view name_of(StorageTier::Kind kind) {
  return StorageTier::kind_words[static_cast<std::size_t>(kind)];
}

/// Cache of samples in each node.
struct Cache {
  enum class Kind : std::uint8_t { page_cache, local_nvme };
  static constexpr std::array<std::string_view, 2> kind_words{"page_cache", "local_nvme"};

  Kind kind = Kind::page_cache;
  Bytes size{};  ///< per node
  CachePolicy policy = CachePolicy::keeps;
  std::optional<StorageTier> tier{};  ///< storage of the cache; empty: host memory
};

}  // namespace gradway
