// SPDX-License-Identifier: Apache-2.0
#include "sim/import/topology_matrix.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>

#include <fmt/format.h>

#include "sim/base/problem.hpp"

namespace gradway {
namespace {

constexpr std::size_t most_devices = 4096;
constexpr int most_nvlinks = 1024;
constexpr std::string_view what_it_is =
    "a matrix is all that `nvidia-smi topo -m` prints, from its first line on";

/// Text without blanks in it, and where it stands.
struct Word {
  std::string text;
  int column = 0;  ///< counts from 1, in what was written
};

struct Line {
  std::vector<Word> words;
  int number = 0;
  std::string text;
};

/// Behind the terminal's escape sequence that begins at `at`, such as ESC[4m.
std::size_t behind_escape(std::string_view text, std::size_t at) {
  ++at;
  if (at < text.size() && text[at] == '[') {
    ++at;
    while (at < text.size() && (text[at] < '@' || text[at] > '~')) ++at;
  }
  return std::min(at + 1, text.size());
}

std::vector<Word> words_of(std::string_view line) {
  std::vector<Word> words;
  bool is_open = false;
  for (std::size_t at = 0; at < line.size();) {
    if (line[at] == '\x1b') {
      at = behind_escape(line, at);
      continue;
    }
    const bool is_blank = static_cast<unsigned char>(line[at]) <= ' ';
    if (!is_blank && !is_open) words.push_back({"", static_cast<int>(at) + 1});
    if (!is_blank) words.back().text += line[at];
    is_open = !is_blank;
    ++at;
  }
  return words;
}

std::vector<Line> lines_of(std::string_view text) {
  std::vector<Line> lines;
  for (int number = 1; !text.empty(); ++number) {
    const auto end = std::min(text.find('\n'), text.size());
    lines.push_back({words_of(text.substr(0, end)), number, std::string{text.substr(0, end)}});
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

/// "GPU12" -> 12
std::optional<int> number_behind(std::string_view word, std::string_view start, int most) {
  if (!word.starts_with(start) || word.size() == start.size()) return std::nullopt;
  int number = -1;
  const auto [end, error] = std::from_chars(word.data() + start.size(), word.data() + word.size(), number);
  if (error != std::errc{} || end != word.data() + word.size() || number < 0 || number > most)
    return std::nullopt;
  return number;
}

struct CellWord {
  std::string_view text;
  PathType type;
};
constexpr std::array cell_words{CellWord{"X", PathType::self},    CellWord{"PIX", PathType::pix},
                                CellWord{"PXB", PathType::pxb},   CellWord{"PHB", PathType::phb},
                                CellWord{"NODE", PathType::node}, CellWord{"SYS", PathType::sys}};

std::optional<Connection> read_cell(std::string_view text) {
  const auto* const word = std::ranges::find(cell_words, text, &CellWord::text);
  if (word != cell_words.end()) return Connection{word->type, 0};
  const auto links = number_behind(text, "NV", most_nvlinks);
  if (!links || *links == 0) return std::nullopt;
  return Connection{PathType::nvlink, *links};
}

class Parser {
 public:
  Parser(std::string_view text, const std::string& file) : lines_{lines_of(text)}, file_{file} {}

  TopologyMatrix parse() {
    const auto header = std::ranges::find_if(lines_, is_header);
    if (header == lines_.end()) fail({}, {}, "there is no line 'GPU0 GPU1 ...'", std::string{what_it_is});
    read_header(*header);
    matrix_.cells.resize(devices_.size());
    rows_.resize(devices_.size());
    matrix_.numa_nodes.resize(matrix_.gpus);
    for (auto line = header + 1; line != lines_.end(); ++line) read_line(*line);
    for (std::size_t i = 0; i < devices_.size(); ++i) {
      if (rows_[i] == nullptr)
        fail(*header, devices_[i], fmt::format("there is no row '{}'", devices_[i].text),
             std::string{what_it_is});
    }
    check_symmetry();
    for (auto i = matrix_.gpus; i < devices_.size(); ++i) {
      const auto named = legend_.find(devices_[i].text);
      matrix_.nics.push_back(named == legend_.end() ? devices_[i].text : named->second);
    }
    return std::move(matrix_);
  }

 private:
  /// The row of GPU0 begins like it, but goes on with its own cell.
  static bool is_header(const Line& line) {
    return !line.words.empty() && line.words[0].text == "GPU0" &&
           (line.words.size() < 2 || line.words[1].text != "X");
  }

  [[noreturn]] void fail(const Line& line, const Word& word, std::string what, std::string hint) const {
    const auto length = static_cast<int>(word.text.size());
    const auto is_plain = line.text.find('\x1b') == std::string::npos;
    throw ConfigError{Problem{Where{file_, line.number, word.column, length, is_plain ? line.text : ""},
                              std::move(what),
                              {},
                              std::move(hint)}};
  }

  void read_header(const Line& line) {
    const auto& words = line.words;
    const auto is_affinity = [&](std::size_t i) {
      return words[i].text == "CPU" || words[i].text == "NUMA" || words[i].text == "GPU";
    };
    std::size_t i = 0;
    for (; i < words.size() && !is_affinity(i); ++i) {
      const auto number = number_behind(words[i].text, "GPU", static_cast<int>(most_devices));
      if (i == most_devices) fail(line, words[i], "the matrix has too many columns", std::string{what_it_is});
      if (number && static_cast<std::size_t>(*number) != i)
        fail(line, words[i], fmt::format("'{}' is not the next GPU", words[i].text),
             "GPUs come first, in order");
      if (number) ++matrix_.gpus;
      devices_.push_back(words[i]);
    }
    for (; i < words.size(); ++i) {
      if (words[i].text != "NUMA") continue;
      const bool is_of_gpu = words[i - 1].text == "GPU";
      columns_behind_numa_ = is_of_gpu ? columns_behind_numa_ + 1 : 0;
      has_numa_ = has_numa_ || !is_of_gpu;
    }
  }

  void read_line(const Line& line) {
    if (line.words.empty()) return;
    const auto& name = line.words[0].text;
    if (name.ends_with(':') && line.words.size() == 2) {  // of the legend
      legend_[name.substr(0, name.size() - 1)] = line.words[1].text;
      return;
    }
    const auto device = std::ranges::find(devices_, name, &Word::text);
    if (device == devices_.end()) return;
    const auto i = static_cast<std::size_t>(device - devices_.begin());
    if (rows_[i] != nullptr)
      fail(line, line.words[0], fmt::format("'{}' has a second row", name), "keep one matrix");
    rows_[i] = &line;
    read_cells(line, i);
    if (i < matrix_.gpus) read_numa(line, i);
  }

  void read_cells(const Line& line, std::size_t i) {
    for (std::size_t j = 0; j < devices_.size(); ++j) {
      if (j + 1 >= line.words.size()) {
        fail(line, line.words.back(),
             fmt::format("the row of '{}' has {} cells, not {}", devices_[i].text, j, devices_.size()),
             "has the row been cut off, or broken in two?");
      }
      const auto& word = line.words[j + 1];
      const auto cell = read_cell(word.text);
      if (!cell || (cell->type == PathType::self) != (i == j)) {
        fail(line, word,
             fmt::format("'{}' cannot stand between '{}' and '{}'", word.text, devices_[i].text,
                         devices_[j].text),
             i == j ? "a device itself is 'X'" : "write NV#, PIX, PXB, PHB, NODE or SYS");
      }
      matrix_.cells[i].push_back(*cell);
    }
  }

  /// Counted from the end of the row, as the cell of the CPUs may be empty.
  void read_numa(const Line& line, std::size_t i) {
    const auto rest = line.words.size() - devices_.size() - 1;
    if (!has_numa_ || rest <= columns_behind_numa_) return;
    const auto& word = line.words[line.words.size() - 1 - columns_behind_numa_];
    matrix_.numa_nodes[i] = number_behind(word.text, "", static_cast<int>(most_devices));
  }

  void check_symmetry() const {
    for (std::size_t i = 0; i < devices_.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        if (matrix_.cells[i][j] == matrix_.cells[j][i]) continue;
        const auto& word = rows_[i]->words[j + 1];
        fail(*rows_[i], word,
             fmt::format("'{}' is '{}' to '{}', but '{}' the other way", devices_[i].text, word.text,
                         devices_[j].text, rows_[j]->words[i + 1].text),
             "has the matrix been edited by hand?");
      }
    }
  }

  std::vector<Line> lines_;
  const std::string& file_;
  TopologyMatrix matrix_;
  std::vector<Word> devices_;  ///< of the header
  std::vector<const Line*> rows_;
  std::map<std::string, std::string> legend_;
  bool has_numa_ = false;
  std::size_t columns_behind_numa_ = 0;
};

}  // namespace

TopologyMatrix read_topology_matrix(std::string_view text, const std::string& file) {
  return Parser{text, file}.parse();
}

}  // namespace gradway
