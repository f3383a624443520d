// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "sim/base/rows.hpp"
#include "sim/base/units.hpp"
#include "sim/files/text_file.hpp"

namespace gradway {

/// Settings of the user for logs of nccl-tests.
struct NcclTestOptions {
  std::optional<std::string> operation{};  ///< As named in samples.
  std::optional<std::string> transport{};  ///< One of p2p, shm and net.
  std::optional<int> ranks{};
  std::optional<int> nodes{};
  bool in_place = false;  ///< Use the times in place instead of those out of place.
};

/// Size and time of an operation, as in a row of samples.
struct NcclTestSample {
  Bytes size{};
  Seconds time{};
};

/// A run of nccl-tests in the form of samples.
struct NcclTestSamples {
  std::string operation;
  std::string tag;  ///< Transport, algorithm and protocol that were forced: "p2p-Ring-LL".
  int ranks = 0;
  int nodes = 1;
  std::string gpu;    ///< Name by the driver; empty if unknown.
  bool rccl = false;  ///< Of rccl-tests.
  std::optional<int> iterations;
  std::vector<NcclTestSample> rows;
};

struct ImportedTests {
  std::vector<NcclTestSamples> runs;
  std::vector<std::string> warnings;
};

/// Imports a log. The operation is the one named in the log, else the one that fits its columns and the ratio
/// of its bandwidths, with the file's name as a last resort. Ranks and nodes are the listed ones, or from
/// NCCL's lines, or from the ratio. The transport is the slowest one in NCCL's lines, or the network between
/// several nodes, or NVLink if nothing else is as fast. Of an excerpt with the last rank only, nodes follow
/// from the number of its device.
/// @throws ConfigError at damaged rows, or if the log lacks something that only the user knows
ImportedTests import_nccl_test_log(const TextFile& file, const NcclTestOptions& options);

/// Whether a file has the records of NCCL Inspector: a JSON object a line.
bool is_inspector_file(const TextFile& file);

/// Imports records of a running job by NCCL Inspector. A call takes the time of the rank that waited least;
/// of the calls of a size the median counts.
/// @source github.com/NVIDIA/nccl, ext-profiler/inspector: json.cc, output format 4.0
/// @throws ConfigError at incomplete records, without any, or if the transport is unknown
ImportedTests import_inspector(const TextFile& file, const NcclTestOptions& options);

/// A file of samples as text. @source calibration/SAMPLES.md
std::string samples_json(const std::vector<NcclTestSamples>& runs);

/// The rows of nccl_tests.txt of a kind.
std::vector<TextRow> nccl_test_rows(std::string_view kind);

/// Times of a test of nccl-tests, out of place or in place.
struct NcclTestTime {
  Seconds time{};
  double algorithm_rate = 0;  ///< GB/s as printed, with two decimals.
  double bus_rate = 0;
  /// Number of wrong values, or in old versions the largest error; empty for N/A.
  std::optional<double> wrong;
};

/// A row of a table of nccl-tests.
struct NcclTestRow {
  Bytes size{};
  double count = 0;  ///< Elements; for some operations those of one rank.
  int element = 0;   ///< Bytes per element.
  /// Such as "sum"; empty if the table has no such column or the value is "none".
  std::optional<std::string> reduction;
  bool has_root_column = false;
  int root = -1;
  NcclTestTime out_of_place;
  std::optional<NcclTestTime> in_place;
  Where where;
};

/// An incomplete or invalid row.
struct BrokenTestRow {
  Where where;  ///< Place of the problem.
  std::string what;
  bool is_short = false;  ///< It is truncated.
};

/// Reads a line as a row, for the columns of any version of nccl-tests; a launcher may print up to three
/// words before it. @param file its name @return monostate if it is not a row
std::variant<std::monostate, NcclTestRow, BrokenTestRow> read_nccl_test_row(const std::string& file,
                                                                            const TextLine& line);

/// A run of one program of nccl-tests, from its log.
struct NcclTestRun {
  std::string program;                                       ///< Such as "all_reduce"; empty if unknown.
  std::map<int, std::pair<std::string, std::string>> ranks;  ///< Host and device of each listed rank.
  std::string gpu;                                           ///< Driver's name of rank 0's GPU.
  bool rccl = false;                                         ///< Of rccl-tests, which names its RCCL.
  bool is_old = false;            ///< Its table has a column of errors: 2.10 and before.
  std::optional<int> rank_count;  ///< From NCCL's own lines.
  std::optional<int> node_count;
  std::set<std::string> transports;  ///< From NCCL's own lines: P2P, SHM, NET.
  std::string algorithm;             ///< Forced by NCCL_ALGO; empty if none.
  std::string protocol;
  std::optional<int> iterations;
  std::vector<NcclTestRow> rows;  ///< Rows of more than 0 bytes.
  std::vector<std::string> remarks;
};

/// Splits a log into runs and reads their tables. Output of other programs between the rows and prefixes of
/// launchers are ignored.
/// @throws ConfigError at rows that are damaged or whose results were wrong, or if there is no row
std::vector<NcclTestRun> read_nccl_test_log(const TextFile& file);

/// The operation for a program or a user's word, as named in samples: "alltoall" is all_to_all. Empty if
/// there is no such operation.
std::string nccl_operation(std::string_view word);

/// The names of the operations of nccl-tests in samples.
std::vector<std::string> nccl_operations();

/// The operation in a file's name; empty if there is none.
std::string operation_in_name(std::string_view file);

/// Bus bandwidth divided by algorithm bandwidth, from the row with the smallest rounding, and its error.
struct BusRatio {
  double value = 0;
  double margin = 0;
};
std::optional<BusRatio> bus_ratio(const NcclTestRun& run);

/// The operations that fit a run's columns and ratio. @param ranks if known
/// @source nccl-tests, doc/PERFORMANCE.md and src/*.cu at 2.13
std::vector<std::string> operations_like(const NcclTestRun& run, std::optional<int> ranks);

/// Whether old versions print the bytes that ranks send to others as both bandwidths of an operation.
bool has_sent_bytes(const NcclTestRun& run, std::string_view operation);

/// Whether a run has the ratio of an operation.
bool has_ratio_of(const NcclTestRun& run, std::string_view operation, int ranks);

/// The number of ranks that follows from an operation's ratio; empty if none does.
std::optional<int> ranks_by_ratio(const NcclTestRun& run, std::string_view operation);

}  // namespace gradway
