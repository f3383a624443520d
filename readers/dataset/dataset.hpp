// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/units.hpp"

namespace gradway {

/// The samples of a dataset, from file sizes and headers; contents of samples are not read.
struct SampleSizes {
  std::string name;                  ///< File or folder, as given by the user.
  bool shards = false;               ///< Tar files; otherwise one file per sample.
  std::vector<std::uint64_t> bytes;  ///< Stored size of each sample.
  std::uint64_t packed_bytes = 0;  ///< Total size of files in compressed formats: JPEG, PNG, video, gzip ...

  Bytes mean() const;
  double spread() const;       ///< Standard deviation divided by the mean.
  bool mostly_packed() const;  ///< Codecs would not compress the samples further.
};

/// Reads a folder with its subfolders, where each file is a sample or all files are tar files; or a tar file,
/// where consecutive members with the same name up to the first dot are a sample, as in WebDataset.
/// @throws ConfigError if there are no samples, or for formats that hold samples in another way
SampleSizes sample_sizes(const std::filesystem::path& path);

/// All files of a folder and its subfolders, sorted; links to folders are not followed.
/// @throws ConfigError if the folder cannot be read
std::vector<std::filesystem::path> files_below(const std::filesystem::path& folder);

/// The dataset file, without what sizes do not show: the cost of decoding and the size on the GPU.
std::string dataset_yaml(const SampleSizes& sizes);

/// Calls `visit` for the files in a tar file in their order: ustar, GNU's long names and sizes, pax. Contents
/// are skipped. @throws ConfigError if it is not a tar file or is truncated
void read_tar_headers(const std::filesystem::path& file,
                      const std::function<void(const std::string& name, std::uint64_t size)>& visit);

/// A column of a Parquet file, over all its row groups.
struct ParquetColumn {
  std::string name;            ///< Path with dots: "image.bytes".
  std::string codec;           ///< "snappy", "gzip" ...; "none"; "several" if row groups differ.
  std::uint64_t packed = 0;    ///< Compressed bytes in the file.
  std::uint64_t unpacked = 0;  ///< Bytes after decompression, before decoding.
};

struct ParquetFooter {
  std::uint64_t rows = 0;
  std::uint64_t row_groups = 0;
  std::vector<ParquetColumn> columns;  ///< In the file's order.
};

/// Reads only the footer. @throws ConfigError if the file is not a Parquet file, is encrypted, or its footer
/// is damaged
/// @source Apache Parquet, parquet.thrift (FileMetaData, RowGroup, ColumnChunk, ColumnMetaData) and the
/// specification of Thrift's compact protocol
ParquetFooter read_parquet_footer(const std::filesystem::path& file);

/// The footer of a Parquet file, or the sum of the footers of a folder of such files. Empty if the file is
/// not a Parquet file or the folder contains none. @throws ConfigError for damaged files, folders that also
/// contain other files, files with different columns, no rows
std::optional<ParquetFooter> parquet_of(const std::filesystem::path& path);

/// The dataset file: rows, row groups and columns with their codecs. @param name as given by the user
std::string parquet_yaml(const ParquetFooter& footer, const std::string& name);

}  // namespace gradway
