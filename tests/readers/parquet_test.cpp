// SPDX-License-Identifier: Apache-2.0
// Footers of Parquet files: those of another writer, and synthetic ones with every kind of damage.
#include <catch2/catch.hpp>

#include <string>

#include "readers/dataset/dataset.hpp"
#include "sim/config/config.hpp"
#include "tests/support/config_files.hpp"

using namespace gradway;
using namespace gradway::test;
using Catch::Matchers::Contains;

namespace {

std::string varint(std::uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7U) bytes += static_cast<char>((value & 0x7FU) | 0x80U);
  return bytes + static_cast<char>(value);
}

/// A field of Thrift's compact protocol, with `delta` from the number of the previous field.
std::string head(unsigned delta, unsigned type) {
  return {static_cast<char>(delta << 4U | type)};
}
std::string number(unsigned delta, std::int64_t value, unsigned type = 6) {
  return head(delta, type) + varint(static_cast<std::uint64_t>(value) << 1U ^ (value < 0 ? ~0ULL : 0ULL));
}
std::string text(const std::string& value) {
  return varint(value.size()) + value;
}
std::string list(unsigned delta, unsigned type, const std::vector<std::string>& values) {
  std::string all = head(delta, 9);
  all += values.size() < 15 ? head(static_cast<unsigned>(values.size()), type)
                            : head(15, type) + varint(values.size());
  for (const auto& value : values) all += value;
  return all;
}
const std::string stop(1, '\0');

/// ColumnChunk: its place, then type, path, codec, values, sizes.
std::string chunk(const std::vector<std::string>& path, int codec, std::int64_t unpacked,
                  std::int64_t packed) {
  std::vector<std::string> parts;
  for (const auto& part : path) parts.push_back(text(part));
  const auto data = number(1, 6, 5) + list(2, 8, parts) + number(1, codec, 5) + number(1, 7) +
                    number(1, unpacked) + number(1, packed) + stop;
  return number(2, 4) + head(1, 12) + data + stop;
}

std::string group(std::int64_t rows, const std::vector<std::string>& chunks) {
  return list(1, 12, chunks) + number(2, rows) + stop;
}

/// FileMetaData: a version, the rows, the row groups, and ignored fields.
std::string footer(std::int64_t rows, const std::vector<std::string>& groups) {
  const auto pair = head(1, 8) + text("pandas") + head(1, 8) + text("{}") + stop;
  const std::string flags = head(2, 1) + head(1, 2) + head(1, 7) + std::string(8, 'd') + head(1, 11) +
                            varint(1) + std::string{'\x85'} + text("a") + varint(3);
  return number(1, 2, 5) + number(2, rows) + list(1, 12, groups) + list(1, 12, {pair}) + flags + stop;
}

std::string file(const std::string& footer_bytes, const std::string& end = "PAR1") {
  std::string length;
  for (auto left = footer_bytes.size(), i = std::size_t{0}; i < 4; ++i, left >>= 8U)
    length += static_cast<char>(left & 0xFFU);
  return "PAR1" + std::string(100, 'x') + footer_bytes + length + end;
}

const std::string two_columns =
    footer(30, {group(10, {chunk({"image", "bytes"}, 0, 1000, 1000), chunk({"text"}, 6, 400, 100)}),
                group(20, {chunk({"image", "bytes"}, 0, 2000, 2000), chunk({"text"}, 6, 800, 200)})});

}  // namespace

// tests/readers/data/images.parquet: 60 rows of random bytes, a text and a number in groups of 25, snappy
// except for the first column, by the npm package hyparquet-writer 0.17, whose own reader gave these sums.
TEST_CASE("the footer of another program's file agrees with that program", "[import][dataset]") {
  const auto found = read_parquet_footer(GRADWAY_SOURCE_DIR "/tests/readers/data/images.parquet");
  CHECK(found.rows == 60);
  CHECK(found.row_groups == 3);
  REQUIRE(found.columns.size() == 3);
  const auto is = [&](std::size_t i, const char* name, const char* codec, std::uint64_t packed,
                      std::uint64_t unpacked) {
    const auto& column = found.columns[i];
    CHECK(column.name == name);
    CHECK(column.codec == codec);
    CHECK(column.packed == packed);
    CHECK(column.unpacked == unpacked);
  };
  is(0, "image", "none", 1717, 1717);
  is(1, "caption", "snappy", 601, 2045);
  is(2, "label", "snappy", 200, 311);
}

TEST_CASE("columns are summed over row groups, and files over a folder", "[import][dataset]") {
  const TemporaryFolder folder;
  folder.write("d/0.parquet", file(two_columns));
  folder.write("d/1.parquet",
               file(footer(10, {group(10, {chunk({"image", "bytes"}, 0, 1, 1), chunk({"text"}, 1, 9, 3)})})));
  const auto one = read_parquet_footer(folder.path() / "d/0.parquet");
  CHECK(one.rows == 30);
  CHECK(one.row_groups == 2);
  CHECK(one.columns[0].name == "image.bytes");
  CHECK(one.columns[0].packed == 3000);
  CHECK(one.columns[1].codec == "zstd");
  CHECK(one.columns[1].unpacked == 1200);
  const auto both = parquet_of(folder.path() / "d");
  REQUIRE(both);
  CHECK(both->rows == 40);
  CHECK(both->row_groups == 3);
  CHECK(both->columns[0].packed == 3001);
  CHECK(both->columns[1].codec == "several");
  CHECK_THAT(parquet_yaml(one, "0.parquet"),
             Contains("samples: 30\nformat: parquet\nrow_group: 15 ") &&
                 Contains("- { name: \"image.bytes\", size: 100 B }\n") &&
                 Contains("- { name: \"text\", size: 10 B, unpacked: 40 B, codec: zstd }\n"));
  CHECK_FALSE(parquet_of(folder.path() / "none.parquet"));
}

TEST_CASE("footers truncated at any byte are refused", "[import][dataset]") {
  const TemporaryFolder folder;
  const auto error_of = [&](const std::string& content) {
    folder.write("t.parquet", content);
    return message_of([&] { return read_parquet_footer(folder.path() / "t.parquet"), 0; });
  };
  CHECK(error_of(file(two_columns)).empty());
  CHECK_THAT(error_of("PAR1"), Contains("this is not a Parquet file: it is too short"));
  CHECK_THAT(error_of(file(two_columns, "PAR2")), Contains("it does not begin and end with PAR1"));
  CHECK_THAT(error_of(file(two_columns, "PARE")), Contains("is encrypted"));
  CHECK_THAT(error_of("PAR1" + std::string(4, '\x7f') + "PAR1"),
             Contains("invalid length of 2139062143 bytes"));
  for (std::size_t length = 0; length < two_columns.size(); ++length)
    CHECK_THAT(error_of(file(two_columns.substr(0, length))), Contains("the Parquet footer is damaged"));
  const auto rows_only = [](const std::string& rest) {
    return number(1, 2, 5) + number(2, 30) + rest + stop;
  };
  CHECK_THAT(error_of(file(rows_only(""))), Contains("do not add up to those of the file"));
  CHECK_THAT(error_of(file(footer(-1, {}))), Contains("a count is negative"));
  CHECK_THAT(error_of(file(rows_only(head(1, 12) + stop))), Contains("a field has an unexpected type"));
  CHECK_THAT(error_of(file(rows_only(head(1, 15)))), Contains("a field has an unknown type"));
  CHECK_THAT(error_of(file(rows_only(head(1, 9) + head(15, 12) + varint(1ULL << 60U)))),
             Contains("a list is longer than the rest of the footer"));
  CHECK_THAT(error_of(file(number(1, 2, 5) + head(2, 6) + std::string(12, '\xff'))),
             Contains("longer than 64 bits"));
  std::string deep;
  for (int i = 0; i < 200; ++i) deep += head(9, 12);
  CHECK_THAT(error_of(file(rows_only(deep))), Contains("nested too deep"));
  CHECK_THAT(error_of(file(footer(10, {group(10, {number(2, 4) + stop})}))),
             Contains("described elsewhere, or encrypted"));
  const auto huge = chunk({"a"}, 0, 1, std::int64_t{1} << 62U);
  CHECK_THAT(error_of(file(footer(20, {group(10, {huge}), group(10, {huge})}))), Contains("overflows"));
}

TEST_CASE("folders of Parquet files contain one dataset", "[import][dataset]") {
  const TemporaryFolder folder;
  const auto error_of = [&](const std::string& name) {
    return message_of([&] { return parquet_of(folder.path() / name), 0; });
  };
  folder.write("mixed/a.parquet", file(two_columns));
  folder.write("mixed/b.txt", "x");
  CHECK_THAT(error_of("mixed"), Contains("b.txt") && Contains("this is not a Parquet file, but 1 other"));
  folder.write("other/a.parquet", file(two_columns));
  folder.write("other/b.parquet", file(footer(1, {group(1, {chunk({"text"}, 0, 1, 1)})})));
  CHECK_THAT(error_of("other"), Contains("its columns differ from those of the previous files"));
  folder.write("empty.parquet", file(footer(0, {})));
  CHECK_THAT(error_of("empty.parquet"), Contains("it contains no samples"));
}

TEST_CASE("a column can have less than a byte per row", "[import][dataset]") {
  const TemporaryFolder folder;
  folder.write("t.parquet", file(footer(1'000, {group(1'000, {chunk({"image"}, 0, 1'000'000, 1'000'000),
                                                              chunk({"flag"}, 0, 125, 125)})})));
  const auto yaml = parquet_yaml(read_parquet_footer(folder.path() / "t.parquet"), "t.parquet");
  CHECK_THAT(yaml, Contains("{ name: \"flag\", size: 0.125 B }"));
  CHECK(message_of([&] { return check_text(DataKind::dataset, yaml), 0; }).empty());
}
