// SPDX-License-Identifier: Apache-2.0
#include "sim/import/topology/topology_matrix.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>

#include <fmt/format.h>

#include "sim/base/printable.hpp"
#include "sim/base/problem.hpp"
#include "sim/import/topology/matrix_lines.hpp"

namespace gradway {
namespace {

constexpr std::size_t most_columns = 1024;
constexpr int most_nvlinks = 1024;
constexpr std::string_view what_it_is =
    "a matrix is all that `nvidia-smi topo -m` prints, from its first line on";

/// "GPU12" -> 12
std::optional<int> number_behind(std::string_view word, std::string_view start, int most) {
  if (!word.starts_with(start) || word.size() == start.size()) return std::nullopt;
  int number = -1;
  const auto [end, error] = std::from_chars(word.data() + start.size(), word.data() + word.size(), number);
  if (error != std::errc{} || end != word.data() + word.size() || number < 0 || number > most)
    return std::nullopt;
  return number;
}

std::optional<Connection> read_cell(std::string_view text) {
  const auto type = static_cast<PathType>(std::ranges::find(path_words, text) - path_words.begin());
  if (type < PathType::net && type != PathType::nvlink) return Connection{type, 0};
  const auto links =
      number_behind(text, path_words[static_cast<std::size_t>(PathType::nvlink)], most_nvlinks);
  if (!links || *links == 0) return std::nullopt;
  return Connection{PathType::nvlink, *links};
}

/// Can a terminal have put this at the start of a line of names, by breaking the header?
bool is_name(std::string_view word) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  return is_letter(word.front()) && std::ranges::all_of(word, [&](char c) {
           return is_letter(c) || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.';
         });
}

/// A part of the affinity of a row: "0-31,64-95", "1", "N/A".
bool is_affinity(std::string_view word) {
  return word.find_first_not_of("0123456789,-N/A") == std::string_view::npos;
}

class MatrixParser {
 public:
  MatrixParser(std::string_view text, const std::string& file) : lines_{matrix_lines(text)}, file_{file} {}

  TopologyMatrix parse() {
    const auto header = std::ranges::find_if(lines_, is_header);
    if (header == lines_.end()) fail({}, "there is no line 'GPU0 GPU1 ...'", std::string{what_it_is});
    auto line = read_header(static_cast<std::size_t>(header - lines_.begin()));
    matrix_.cells.resize(devices_.size());
    rows_.resize(devices_.size());
    matrix_.numa_nodes.resize(matrix_.gpus);
    while (line < lines_.size()) line = read_line(line);
    for (std::size_t i = 0; i < devices_.size(); ++i) {
      if (rows_[i].empty())
        fail(devices_[i], fmt::format("there is no row '{}'", devices_[i].text), std::string{what_it_is});
    }
    check_symmetry();
    for (auto i = matrix_.gpus; i < devices_.size(); ++i) {
      const auto named = legend_.find(devices_[i].text);
      matrix_.nics.push_back(named == legend_.end() ? devices_[i].text : named->second);
    }
    return std::move(matrix_);
  }

 private:
  /// What stands behind the cells of a GPU's row.
  enum class Affinity { cpu, numa, gpu_numa };

  /// The row of GPU0 begins like it, but goes on with its own cell.
  static bool is_header(const MatrixLine& line) {
    return !line.words.empty() && line.words[0].text == "GPU0" &&
           (line.words.size() < 2 || line.words[1].text != "X");
  }

  [[noreturn]] void fail(const MatrixWord& word, std::string what, std::string hint) const {
    const auto length = static_cast<int>(word.text.size());
    const auto text =
        word.line == 0 ? std::string{} : shown_line(lines_[static_cast<std::size_t>(word.line) - 1].text);
    throw ConfigError{
        Problem{Where{file_, word.line, word.column, length, text}, std::move(what), {}, std::move(hint)}};
  }

  /// @return the line behind the header, which a narrow terminal may have broken
  std::size_t read_header(std::size_t number) {
    auto words = lines_[number++].words;
    for (; number < lines_.size(); ++number) {
      const auto& more = lines_[number].words;
      const bool goes_on = !more.empty() && more[0].text != "GPU0" &&
                           std::ranges::all_of(more, [](const auto& word) { return is_name(word.text); });
      if (!goes_on) break;
      words.insert(words.end(), more.begin(), more.end());
    }
    const auto is_first_of_affinity = [](const MatrixWord& word) {
      return word.text == "CPU" || word.text == "NUMA" || word.text == "GPU";
    };
    const auto end = std::ranges::find_if(words, is_first_of_affinity);
    if (static_cast<std::size_t>(end - words.begin()) > most_columns)
      fail(words[most_columns], "the matrix has too many columns", std::string{what_it_is});
    devices_.assign(words.begin(), end);
    for (std::size_t i = 0; i < devices_.size(); ++i) {
      const auto gpu = number_behind(devices_[i].text, "GPU", static_cast<int>(most_columns));
      if (gpu && static_cast<std::size_t>(*gpu) != i)
        fail(devices_[i], fmt::format("'{}' is not the next GPU", devices_[i].text),
             "GPUs come first, in order");
      if (gpu) ++matrix_.gpus;
    }
    for (auto word = end; word != words.end(); ++word) {
      if (word->text == "CPU") affinities_.push_back(Affinity::cpu);
      if (word->text != "NUMA") continue;
      const bool is_of_gpu = word != words.begin() && (word - 1)->text == "GPU";
      affinities_.push_back(is_of_gpu ? Affinity::gpu_numa : Affinity::numa);
    }
    return number;
  }

  std::size_t device_of(const MatrixLine& line) const {
    if (line.words.empty()) return devices_.size();
    const auto device = std::ranges::find(devices_, line.words[0].text, &MatrixWord::text);
    return static_cast<std::size_t>(device - devices_.begin());
  }

  /// @return the line behind it, or behind the row that begins with it
  std::size_t read_line(std::size_t number) {
    const auto& line = lines_[number];
    const auto i = device_of(line);
    if (i == devices_.size()) {
      if (line.words.size() == 2 && line.words[0].text.ends_with(':')) {  // of the legend
        const auto& name = line.words[0].text;
        legend_[name.substr(0, name.size() - 1)] = line.words[1].text;
      }
      return number + 1;
    }
    if (!rows_[i].empty())
      fail(line.words[0], fmt::format("'{}' has a second row", line.words[0].text), "keep one matrix");
    rows_[i] = line.words;
    const auto behind = join_broken_row(rows_[i], i, number + 1);
    read_cells(i);
    if (i < matrix_.gpus) read_numa(i, behind == number + 1 ? &line : nullptr);
    return behind;
  }

  /// A narrow terminal may have broken the row: takes the lines that go on with cells, and with the affinity
  /// of a GPU. A cell that was cut in two is no cell, or stands against the symmetry of the matrix.
  /// @return the line behind the row
  std::size_t join_broken_row(std::vector<MatrixWord>& row, std::size_t i, std::size_t number) const {
    const auto complete = devices_.size() + 1 + (i < matrix_.gpus ? affinities_.size() : 0);
    for (; number < lines_.size() && row.size() < complete; ++number) {
      const auto& more = lines_[number].words;
      if (more.empty() || device_of(lines_[number]) < devices_.size()) break;
      auto place = row.size();
      const bool goes_on = std::ranges::all_of(more, [&](const auto& word) {
        return place++ <= devices_.size() ? read_cell(word.text).has_value() : is_affinity(word.text);
      });
      if (!goes_on) break;
      row.insert(row.end(), more.begin(), more.end());
    }
    return number;
  }

  void read_cells(std::size_t i) {
    const auto& row = rows_[i];
    for (std::size_t j = 0; j < devices_.size(); ++j) {
      if (j + 1 >= row.size()) {
        fail(row.back(),
             fmt::format("the row of '{}' has {} cells, not {}", devices_[i].text, j, devices_.size()),
             "has the row been cut off, or broken in two?");
      }
      const auto& word = row[j + 1];
      const auto cell = read_cell(word.text);
      if (!cell || (cell->type == PathType::self) != (i == j)) {
        fail(word,
             fmt::format("'{}' cannot stand between '{}' and '{}'", word.text, devices_[i].text,
                         devices_[j].text),
             i == j ? "a device itself is 'X'" : "write NV#, PIX, PXB, PHB, NODE or SYS");
      }
      matrix_.cells[i].push_back(*cell);
    }
    if (row.size() > devices_.size() + 1 && read_cell(row[devices_.size() + 1].text)) {
      fail(row[devices_.size() + 1],
           fmt::format("the row of '{}' has more cells than the first line has names", devices_[i].text),
           "has the first line been cut off, or broken within a name?");
    }
  }

  /// By the tabs of an unbroken line, as cells of the affinity may be empty; else by what the words look
  /// like.
  void read_numa(std::size_t i, const MatrixLine* line) {
    const auto column = std::ranges::find(affinities_, Affinity::numa);
    if (column == affinities_.end()) return;
    const auto index = static_cast<std::size_t>(column - affinities_.begin());
    const auto fields = line == nullptr ? std::vector<std::string>{} : line->fields();
    std::string text;
    if (fields.size() > devices_.size() + 1 + index) {
      text = fields[devices_.size() + 1 + index];
    } else {
      const std::vector words(rows_[i].begin() + static_cast<std::ptrdiff_t>(devices_.size()) + 1,
                              rows_[i].end());
      const bool has_all = words.size() >= affinities_.size();
      const bool starts_with_cpus =
          has_all || (!words.empty() && words[0].text.find_first_of(",-") != std::string::npos);
      // A list of CPUs that a line break has cut in two is two words: the columns behind it count from the
      // end.
      const auto at = has_all ? words.size() - affinities_.size() + index
                              : index - (starts_with_cpus || index == 0 ? 0 : 1);
      if (at < words.size()) text = words[at].text;
    }
    matrix_.numa_nodes[i] = number_behind(text, "", static_cast<int>(most_columns));
  }

  void check_symmetry() const {
    for (std::size_t i = 0; i < devices_.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        if (matrix_.cells[i][j] == matrix_.cells[j][i]) continue;
        const auto& word = rows_[i][j + 1];
        fail(word,
             fmt::format("'{}' is '{}' to '{}', but '{}' the other way", devices_[i].text, word.text,
                         devices_[j].text, rows_[j][i + 1].text),
             "has the matrix been edited by hand?");
      }
    }
  }

  std::vector<MatrixLine> lines_;
  const std::string& file_;
  TopologyMatrix matrix_;
  std::vector<MatrixWord> devices_;  ///< of the header
  std::vector<Affinity> affinities_;
  std::vector<std::vector<MatrixWord>> rows_;  ///< whole, also if they were broken; beside the devices
  std::map<std::string, std::string> legend_;
};

}  // namespace

TopologyMatrix read_topology_matrix(std::string_view text, const std::string& file) {
  constexpr std::size_t largest =
      8'000'000;  // a thousand devices, and far more words about them than there are
  if (text.size() > largest) {
    Where where;
    where.file = file;
    throw ConfigError{Problem{where, "the file has more than 8 MB", {}, std::string{what_it_is}}};
  }
  return MatrixParser{text, file}.parse();
}

}  // namespace gradway
