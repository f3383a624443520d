// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <variant>

#include "sim/base/units.hpp"
#include "sim/files/text_file.hpp"

namespace gradway {

/// One way of running a test of nccl-tests: out of place or in place.
struct NcclTestTime {
  Seconds time{};
  double algorithm_rate = 0;  ///< GB/s as printed, two decimals
  double bus_rate = 0;
  std::optional<double>
      wrong;  ///< values that were wrong, or in old versions the largest error; nothing: N/A
};

/// A row of a table of nccl-tests.
struct NcclTestRow {
  Bytes size{};
  double count = 0;                      ///< elements; of some operations those of one rank
  int element = 0;                       ///< bytes of one
  std::optional<std::string> reduction;  ///< "sum"; nothing: the table has no such column, or says "none"
  bool has_root_column = false;
  int root = -1;
  NcclTestTime out_of_place;
  std::optional<NcclTestTime> in_place;
  Where where;
};

/// A row that is not whole.
struct BrokenTestRow {
  Where where;  ///< what is wrong with it
  std::string what;
  bool is_short = false;  ///< it ends too early
};

/// Understands a line as a row, whatever columns the version of nccl-tests prints; a launcher may have put a
/// word or two before it. @param file its name @return nothing if it is no row
std::variant<std::monostate, NcclTestRow, BrokenTestRow> read_nccl_test_row(const std::string& file,
                                                                            const TextLine& line);

}  // namespace gradway
