// SPDX-License-Identifier: Apache-2.0
#include "readers/topology/topology_matrix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>

#include "sim/base/printable.hpp"
#include "sim/base/problem.hpp"

namespace gradway {

namespace {

constexpr std::size_t most_columns_of_matrix = 1024;
constexpr int most_nvlinks = 1024;
constexpr std::string_view expected_matrix =
    "give the whole output of `nvidia-smi topo -m`, from its first line on";

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
  if (text == "SOC") return Connection{PathType::sys, 0};  // of drivers before 2018
  const auto links =
      number_behind(text, path_words[static_cast<std::size_t>(PathType::nvlink)], most_nvlinks);
  if (!links || *links == 0) return std::nullopt;
  return Connection{PathType::nvlink, *links};
}

/// Length of the cell or of the name of a device with which a text starts; 0 if it starts with neither.
std::size_t length_of_part(std::string_view text) {
  for (const std::string_view start : {"NV", "GPU", "NIC"}) {
    const auto end = std::min(text.find_first_not_of("0123456789", start.size()), text.size());
    if (text.starts_with(start) && end > start.size()) return end;
  }
  for (const std::string_view cell : {"NODE", "PIX", "PXB", "PHB", "SYS", "SOC", "X"}) {
    if (text.starts_with(cell)) return cell.size();
  }
  return 0;
}

/// The cells and names that a copy without blanks between them joined: "NODENODE", "NIC11NIC12".
std::vector<MatrixWord> separated(const MatrixWord& word) {
  std::vector<MatrixWord> pieces;
  for (std::size_t offset = 0; offset < word.text.size();) {
    const auto length = length_of_part(std::string_view{word.text}.substr(offset));
    if (length == 0) return {word};
    pieces.push_back({word.text.substr(offset, length), word.column + static_cast<int>(offset), word.line});
    offset += length;
  }
  return pieces;
}

/// Whether the word may be a name at the start of a line, if a terminal broke the header.
bool is_name(std::string_view word) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  return is_letter(word.front()) && std::ranges::all_of(word, [&](char c) {
           return is_letter(c) || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.';
         });
}

/// Whether the word may be an affinity of a row: "0-31,64-95", "1", "N/A".
bool is_affinity(std::string_view word) {
  return word.find_first_not_of("0123456789,-N/A") == std::string_view::npos;
}

class MatrixParser {
 public:
  MatrixParser(std::string_view text, const std::string& file) : lines_{matrix_lines(text)}, file_{file} {}

  TopologyMatrix parse() {
    const auto header = std::ranges::find_if(lines_, is_header);
    if (header == lines_.end()) fail({}, "there is no line 'GPU0 GPU1 ...'", std::string{expected_matrix});
    const bool is_of_amd = std::ranges::any_of(
        lines_, [](const auto& line) { return line.text.find("between two GPUs ===") != std::string::npos; });
    if (is_of_amd)
      fail({}, "this is the output of `rocm-smi --showtopo`, which gradway does not read",
           "import the topology that RCCL writes (NCCL_TOPO_DUMP_FILE) with 'gradway import nccl-topo'");
    auto line = read_header(static_cast<std::size_t>(header - lines_.begin()));
    matrix_.cells.resize(devices_.size());
    rows_.resize(devices_.size());
    matrix_.numa_nodes.resize(matrix_.gpus);
    const auto is_complete = [&] {  // What follows is another matrix, such as that of `topo -p2p`.
      return is_header(lines_[line]) && std::ranges::none_of(rows_, &std::vector<MatrixWord>::empty);
    };
    while (line < lines_.size() && !is_complete()) line = read_line(line);
    for (std::size_t i = 0; i < devices_.size(); ++i) {
      if (rows_[i].empty())
        fail(devices_[i], fmt::format("there is no row '{}'", devices_[i].text),
             std::string{expected_matrix});
    }
    check_symmetry();
    for (auto i = matrix_.gpus; i < devices_.size(); ++i) {
      const auto named = legend_.find(devices_[i].text);
      matrix_.nics.push_back(named == legend_.end() ? devices_[i].text : named->second);
    }
    return std::move(matrix_);
  }

 private:
  /// Columns after the cells of a GPU's row.
  enum class Affinity { cpu, numa, gpu_numa };

  /// The row of GPU0 begins like the header, but continues with its own cell.
  static bool is_header(const MatrixLine& line) {
    return !line.words.empty() && line.words[0].text == "GPU0" &&
           (line.words.size() < 2 || line.words[1].text != "X");
  }

  [[noreturn]] void fail(const MatrixWord& word, std::string message, std::string hint) const {
    const auto length = static_cast<int>(word.text.size());
    const auto text =
        word.line == 0 ? std::string{} : shown_line(lines_[static_cast<std::size_t>(word.line) - 1].text);
    throw ConfigError{
        Problem{Where{file_, word.line, word.column, length, text}, std::move(message), {}, std::move(hint)}};
  }

  /// @return the line after the header, which a narrow terminal may have broken
  std::size_t read_header(std::size_t number) {
    auto words = lines_[number++].words;
    for (; number < lines_.size(); ++number) {
      const auto& next_words = lines_[number].words;
      const bool goes_on =
          !next_words.empty() && next_words[0].text != "GPU0" &&
          std::ranges::all_of(next_words, [](const auto& word) { return is_name(word.text); });
      if (!goes_on) break;
      words.insert(words.end(), next_words.begin(), next_words.end());
    }
    const auto is_first_of_affinity = [](const MatrixWord& word) {
      return word.text == "CPU" || word.text == "NUMA" || word.text == "GPU";
    };
    const auto end = std::ranges::find_if(words, is_first_of_affinity);
    if (static_cast<std::size_t>(end - words.begin()) > most_columns_of_matrix)
      fail(words[most_columns_of_matrix], "the matrix has too many columns", std::string{expected_matrix});
    devices_.assign(words.begin(), end);
    for (std::size_t i = 0; i < devices_.size(); ++i) {
      const auto gpu = number_behind(devices_[i].text, "GPU", static_cast<int>(most_columns_of_matrix));
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

  /// @return the line after this one, or after the row that begins with it
  std::size_t read_line(std::size_t number) {
    const auto& line = lines_[number];
    const auto i = device_of(line);
    if (i == devices_.size()) {
      if (line.words.size() == 2 && line.words[0].text.ends_with(':')) {  // part of the legend
        const auto& name = line.words[0].text;
        legend_[name.substr(0, name.size() - 1)] = line.words[1].text;
      }
      return number + 1;
    }
    if (!rows_[i].empty())
      fail(line.words[0], fmt::format("duplicate row '{}'", line.words[0].text), "keep one matrix");
    rows_[i] = line.words;
    const auto next = join_broken_row(rows_[i], i, number + 1);
    read_cells(i);
    if (i < matrix_.gpus) read_numa(i, next == number + 1 ? &line : nullptr);
    return next;
  }

  /// Joins a row that a narrow terminal broke: following lines that continue with cells and with the affinity
  /// of a GPU. A cell cut in two is invalid, or contradicts the symmetry of the matrix.
  /// @return the line after the row
  std::size_t join_broken_row(std::vector<MatrixWord>& row, std::size_t i, std::size_t number) const {
    const auto complete = devices_.size() + 1 + (i < matrix_.gpus ? affinities_.size() : 0);
    for (; number < lines_.size() && row.size() < complete; ++number) {
      const auto& next_words = lines_[number].words;
      if (next_words.empty() || device_of(lines_[number]) < devices_.size()) break;
      auto place = row.size();
      const bool goes_on = std::ranges::all_of(next_words, [&](const auto& word) {
        return place++ <= devices_.size() ? read_cell(word.text).has_value() : is_affinity(word.text);
      });
      if (!goes_on) break;
      row.insert(row.end(), next_words.begin(), next_words.end());
    }
    return number;
  }

  void read_cells(std::size_t i) {
    const auto& row = rows_[i];
    for (std::size_t j = 0; j < devices_.size(); ++j) {
      if (j + 1 >= row.size()) {
        fail(row.back(),
             fmt::format("the row of '{}' has {} cells instead of {}", devices_[i].text, j, devices_.size()),
             "check whether the row is truncated or broken in two");
      }
      const auto& word = row[j + 1];
      const auto cell = read_cell(word.text);
      if (!cell || (cell->type == PathType::self) != (i == j)) {
        fail(word,
             fmt::format("invalid connection '{}' between '{}' and '{}'", word.text, devices_[i].text,
                         devices_[j].text),
             i == j ? "expected 'X' for a device itself" : "expected NV#, PIX, PXB, PHB, NODE or SYS");
      }
      matrix_.cells[i].push_back(*cell);
    }
    if (row.size() > devices_.size() + 1 && read_cell(row[devices_.size() + 1].text)) {
      fail(row[devices_.size() + 1],
           fmt::format("the row of '{}' has more cells than the header has names", devices_[i].text),
           "check whether the header is truncated or broken within a name");
    }
  }

  /// Uses the tabs of an unbroken line, as affinity cells may be empty; otherwise the form of the words.
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
          has_all || (!words.empty() && words[0].text.find(',') != std::string::npos);
      // A list of CPUs that a line break cut in two is two words: the columns after it count from the end.
      const auto word_index = has_all ? words.size() - affinities_.size() + index
                                      : index - (starts_with_cpus || index == 0 ? 0 : 1);
      if (word_index < words.size()) text = words[word_index].text;
    }
    // Of a list, "0,3-9", the first one has the CPUs: the others are memory of GPUs (Grace).
    matrix_.numa_nodes[i] =
        number_behind(text.substr(0, text.find(',')), "", static_cast<int>(most_columns_of_matrix));
  }

  void check_symmetry() const {
    for (std::size_t i = 0; i < devices_.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        if (matrix_.cells[i][j] == matrix_.cells[j][i]) continue;
        const auto& word = rows_[i][j + 1];
        fail(word,
             fmt::format("'{0}' to '{2}' is '{1}', but '{3}' in the other direction", devices_[i].text,
                         word.text, devices_[j].text, rows_[j][i + 1].text),
             "check whether the matrix was edited by hand");
      }
    }
  }

  std::vector<MatrixLine> lines_;
  const std::string& file_;
  TopologyMatrix matrix_;
  std::vector<MatrixWord> devices_;  ///< Names in the header.
  std::vector<Affinity> affinities_;
  std::vector<std::vector<MatrixWord>> rows_;  ///< Complete rows by device, with broken lines joined.
  std::map<std::string, std::string> legend_;
};

using namespace std::string_view_literals;

/// Marks within words: escape sequences without their first character (underline on, all off), and bold text
/// of Markdown.
constexpr std::array bare_escapes{"[4m"sv, "[0m"sv, "[24m"sv, "**"sv};
/// Between words of tables in Markdown and HTML.
constexpr std::array marked_blanks{"|"sv, "&#9;"sv, "&nbsp;"sv, "&#160;"sv, "\xc2\xa0"sv};

/// Position after a blank, a mark between words or a tag such as "<pre>" that begins at `position`;
/// `position` itself if there is none.
std::size_t end_of_blank(std::string_view text, std::size_t position) {
  if (static_cast<unsigned char>(text[position]) <= ' ') return position + 1;
  for (const auto mark : marked_blanks) {
    if (text.substr(position).starts_with(mark)) return position + mark.size();
  }
  if (text[position] != '<') return position;
  const auto end = text.find_first_not_of("abcdefghijklmnopqrstuvwxyz/", position + 1);
  return end < text.size() && end > position + 1 && text[end] == '>' ? end + 1 : position;
}

/// Position after the escape sequence that begins at `position`, such as ESC[4m; `position` itself if there
/// is none.
std::size_t end_of_escape(std::string_view text, std::size_t position) {
  for (const auto bare : bare_escapes) {
    if (text.substr(position).starts_with(bare)) return position + bare.size();
  }
  if (text[position] != '\x1b') return position;
  ++position;
  if (position < text.size() && text[position] == '[') {
    ++position;
    while (position < text.size() && (text[position] < '@' || text[position] > '~')) ++position;
  }
  return std::min(position + 1, text.size());
}

std::vector<MatrixWord> words_of(std::string_view line, int number) {
  std::vector<MatrixWord> words;
  bool is_open = false;
  for (std::size_t position = 0; position < line.size();) {
    if (const auto end = end_of_escape(line, position); end != position) {
      position = end;
      continue;
    }
    const auto after_blank = end_of_blank(line, position);
    const bool is_blank = after_blank != position;
    if (!is_blank && !is_open) words.push_back({"", static_cast<int>(position) + 1, number});
    if (!is_blank) words.back().text += line[position];
    is_open = !is_blank;
    position = is_blank ? after_blank : position + 1;
  }
  std::vector<MatrixWord> separated_words;
  for (const auto& word : words) std::ranges::move(separated(word), std::back_inserter(separated_words));
  return separated_words;
}

}  // namespace

TopologyMatrix read_topology_matrix(std::string_view text, const std::string& file) {
  constexpr std::size_t largest = 8'000'000;  // Far more than a thousand devices need.
  if (text.size() > largest) {
    Where where;
    where.file = file;
    throw ConfigError{Problem{where, "the file has more than 8 MB", {}, std::string{expected_matrix}}};
  }
  return MatrixParser{text, file}.parse();
}

std::vector<std::string> MatrixLine::fields() const {
  std::vector<std::string> fields(1);
  auto word = words.begin();
  for (std::size_t position = 0; position < text.size(); ++position) {
    if (text[position] == '\t') fields.emplace_back();
    if (word == words.end() || static_cast<int>(position) + 1 != word->column) continue;
    fields.back() += word->text;
    ++word;
  }
  return fields;
}

std::vector<MatrixLine> matrix_lines(std::string_view text) {
  std::vector<MatrixLine> lines;
  for (int number = 1; !text.empty(); ++number) {
    const auto end = std::min(text.find('\n'), text.size());
    const auto line = text.substr(0, end);
    lines.push_back({words_of(line, number), std::string{line}});
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

}  // namespace gradway
