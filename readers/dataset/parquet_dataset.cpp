// SPDX-License-Identifier: Apache-2.0
#include "readers/dataset/dataset.hpp"
#include "sim/base/text.hpp"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/base/printable.hpp"
#include "sim/cost/codecs.hpp"
#include "sim/files/text_file.hpp"

namespace gradway {
namespace {

bool is_parquet(const std::filesystem::path& path) {
  return lower_case(path.extension().string()) == ".parquet";
}

[[noreturn]] void refuse_file(const std::filesystem::path& file, const std::string& message,
                              const std::string& hint) {
  refuse_at(TextFile{file.string(), ""}.whole(), message, hint);
}

/// Adds the footer of a file with the same columns.
void add_footer(ParquetFooter& total, const ParquetFooter& footer, const std::filesystem::path& file) {
  if (!std::ranges::equal(total.columns, footer.columns, {}, &ParquetColumn::name, &ParquetColumn::name))
    refuse_file(file, "its columns differ from those of the previous files",
                "give a folder that contains the files of one dataset");
  total.rows += footer.rows;
  total.row_groups += footer.row_groups;
  for (std::size_t i = 0; i < total.columns.size(); ++i) {
    auto& column = total.columns[i];
    column.packed += footer.columns[i].packed;
    column.unpacked += footer.columns[i].unpacked;
    if (column.codec != footer.columns[i].codec) column.codec = "several";
  }
}

std::string column_yaml(const ParquetColumn& column, double rows) {
  const auto quoted =
      nlohmann::json(printable(column.name)).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  auto text =
      fmt::format("  - {{ name: {}, size: {:.10g} B", quoted, static_cast<double>(column.packed) / rows);
  if (column.codec == "none") return text + " }\n";
  const auto codec = column.codec == "gzip" ? "zlib" : column.codec;
  const bool is_known = std::ranges::find(codecs(), codec, &Codec::name) != codecs().end();
  text += fmt::format(", unpacked: {:.10g} B", static_cast<double>(column.unpacked) / rows);
  return text + (is_known ? fmt::format(", codec: {} }}\n", codec)
                          : fmt::format(" }}  # codec: {}, whose cost is unknown\n", column.codec));
}

}  // namespace

std::optional<ParquetFooter> parquet_of(const std::filesystem::path& path) {
  std::error_code ignored;
  std::optional<ParquetFooter> total;
  if (std::filesystem::is_directory(path, ignored)) {
    const auto files = files_below(path);
    const auto count = std::ranges::count_if(files, is_parquet);
    if (count == 0) return std::nullopt;
    for (const auto& file : files) {
      if (!is_parquet(file))
        refuse_file(file,
                    fmt::format("this is not a Parquet file, but {} other files of the folder are", count),
                    "give a folder that contains only Parquet files");
      const auto footer = read_parquet_footer(file);
      if (total) {
        add_footer(*total, footer, file);
      } else {
        total = footer;
      }
    }
  } else if (is_parquet(path) && std::filesystem::exists(path, ignored)) {
    total = read_parquet_footer(path);
  }
  if (!total) return std::nullopt;
  std::uint64_t bytes = 0;
  for (const auto& column : total->columns) bytes += column.packed;
  if (total->rows == 0 || bytes == 0) refuse_file(path, "it contains no samples", "");
  return total;
}

std::string parquet_yaml(const ParquetFooter& footer, const std::string& name) {
  const auto rows = static_cast<double>(footer.rows);
  std::string text = fmt::format(
      "# A sample is a row. 'input: {{ columns: [NAME, ...] }}' in a scenario reads some of the columns.\n"
      "# Footers do not contain the cost of decoding or the size of a sample on the GPU: add 'delivered' "
      "(bytes\n"
      "# per sample on the GPU) and 'cpu: {{ decode: TIME, transform: TIME, collate: TIME }}' (of one "
      "core).\n"
      "schema: 1\nsource: >-\n  Footers of {}: {} row groups\nsamples: {}\nformat: parquet\n"
      "row_group: {:.10g}  # rows, on average\ncolumns:\n",
      printable(name), footer.row_groups, footer.rows, rows / static_cast<double>(footer.row_groups));
  for (const auto& column : footer.columns) text += column_yaml(column, rows);
  return text;
}

}  // namespace gradway
