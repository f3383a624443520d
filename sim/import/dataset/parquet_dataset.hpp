// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "sim/import/dataset/parquet_footer.hpp"

namespace gradway {

/// The footer of a Parquet file, or those of a folder of such files together. Empty: it is no such file, and
/// the folder has none. @throws ConfigError for damaged files, folders that hold others too, files of other
/// columns, no rows
std::optional<ParquetFooter> parquet_of(const std::filesystem::path& path);

/// The dataset's file: rows, row groups and columns with their codecs. @param name as the user wrote it
std::string parquet_yaml(const ParquetFooter& footer, const std::string& name);

}  // namespace gradway
