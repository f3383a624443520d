// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace gradway {

/// What the footer of a Parquet file tells of a column, over all its row groups.
struct ParquetColumn {
  std::string name;            ///< its path, with dots: "image.bytes"
  std::string codec;           ///< "snappy", "gzip" ...; "none"; "several" where row groups differ
  std::uint64_t packed = 0;    ///< bytes, as they lie in the file
  std::uint64_t unpacked = 0;  ///< bytes, unpacked but not decoded
};

struct ParquetFooter {
  std::uint64_t rows = 0;
  std::uint64_t row_groups = 0;
  std::vector<ParquetColumn> columns;  ///< in the file's order
};

/// Reads the footer, not a page of data. @throws ConfigError if it is no Parquet file, is encrypted, or its
/// footer cannot be what it says it is
/// @source Apache Parquet, parquet.thrift (FileMetaData, RowGroup, ColumnChunk, ColumnMetaData) and the
/// specification of Thrift's compact protocol
ParquetFooter read_parquet_footer(const std::filesystem::path& file);

}  // namespace gradway
