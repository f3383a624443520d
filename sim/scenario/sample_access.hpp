// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "sim/base/units.hpp"

namespace gradway {

struct Dataset;

/// The program that makes batches.
enum class LoaderKind : std::uint8_t {
  pytorch,  ///< DataLoader: worker processes, each of which makes whole batches
  dali,     ///< NVIDIA DALI: a reader, CPU threads that share each batch, and a GPU stage, per rank
  tf_data   ///< tf.data: threads of the training process that share each batch
};
inline constexpr std::array<std::string_view, 3> loader_words{"pytorch", "dali", "tf_data"};
constexpr std::string_view name_of(LoaderKind loader) {
  return loader_words[static_cast<std::size_t>(loader)];
}

/// How rows that match a predicate are distributed over the row groups of a Parquet file.
enum class MatchingRows : std::uint8_t {
  random,    ///< each row matches independently of the others
  clustered  ///< the file is sorted by the predicate's column
};
inline constexpr std::array<std::string_view, 2> matching_rows_words{"random", "clustered"};

/// A predicate on the rows of a Parquet file. A reader skips row groups whose statistics exclude it.
struct Predicate {
  double selectivity = 1;  ///< share of rows that match
  MatchingRows rows = MatchingRows::random;
  /// Share of row groups without a matching row that are read all the same: 0 for a range and the minimum and
  /// maximum of a column, the rate of false positives of a Bloom filter, 1 without statistics.
  double false_positives = 0;
  auto operator<=>(const Predicate&) const = default;
};

/// Expected share of row groups that are read. Random rows: a group of n rows has none that matches with
/// probability (1 - s)^n. Clustered rows are a run of s N rows, which touches (s N - 1) / n + 1 of N / n
/// groups on average.
double share_of_row_groups(const Predicate& predicate, double rows, double rows_of_a_group);

/// The dataset of the rows that match. Reading and decompressing one of them includes its share of all rows
/// in the groups that are read. Replaces another predicate. @pre it is a Parquet dataset
Dataset with_predicate(Dataset dataset, const Predicate& predicate);
Dataset without_predicate(Dataset dataset);

/// Parsers of CSV files.
enum class CsvParser : std::uint8_t { pandas, pyarrow };
inline constexpr std::array<std::string_view, 2> csv_parser_words{"pandas", "pyarrow"};

/// Bytes of text that one core parses per second, with the conversion of fields to numbers.
/// @source pandas: hluska.ca, NYC TLC, 18.2 GB in 288.6 s; PyArrow: apache/arrow, pull request 2576
BytesPerSecond parse_rate(CsvParser parser);

/// Order in which the samples of a memory-mapped file are accessed.
enum class AccessOrder : std::uint8_t { random, sequential };
inline constexpr std::array<std::string_view, 2> access_order_words{"random", "sequential"};

/// Reads of a memory-mapped sample that is not in the page cache.
struct MappedSample {
  Bytes read{};      ///< from storage
  Bytes request{};   ///< size of a read request
  double waits = 0;  ///< major page faults, each of which waits for a request
};

/// A fault on a page that is not in the page cache reads a window around it. Samples in random order use only
/// the half from the page on. A sample that reaches the last quarter of a window starts to read the next one,
/// without waiting for it. Samples in sequential order use all of a window.
/// @param window Linux's read-ahead; 0: one page per fault, as with MADV_RANDOM
/// @source mm/filemap.c (do_sync_mmap_readahead) and mm/readahead.c of Linux 6; own measurement, 2026-11-26,
///         Linux 6.18, window 8 MiB: samples of 4 KiB, 1 MiB and 4 MiB in random order read 7.4, 7.6 and 15
///         MiB per major fault, with MADV_RANDOM 4 KiB
MappedSample mapped_sample(Bytes size, Bytes window, AccessOrder order);

/// CPU time of page faults to map a sample. @param faults at least the major ones
/// @source own measurement, 2026-11-26, Linux 6.18 on a Xeon: samples of 4 to 192 KiB in the page cache take
///         2.0 to 2.4 us, of 1 MiB 5.3 us, of 4 MiB 15.2 us
Seconds fault_time(Bytes size, double faults);

}  // namespace gradway
