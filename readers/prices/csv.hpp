// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "sim/files/text_file.hpp"

namespace gradway {

/// A cell of comma-separated values.
struct CsvCell {
  std::string text;  ///< without quotes around it, and without blanks at its ends
  std::size_t offset = 0;
  std::size_t length = 0;  ///< in the file
};

/// The rows of a file of comma-separated values (RFC 4180), without empty ones: a cell in double quotes may
/// contain commas, line ends and doubled quotes. @throws ConfigError at a quote that is not closed
std::vector<std::vector<CsvCell>> csv_rows(const TextFile& file);

}  // namespace gradway
