// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/platform/routes.hpp"

namespace gradway {

/// A cell of `nvidia-smi topo -m`.
struct Connection {
  PathType type = PathType::self;
  int nvlinks = 0;  ///< Number of bonded links of NV#, else 0.

  bool operator==(const Connection&) const = default;
};

/// The output of `nvidia-smi topo -m`: types of paths between the GPUs and NICs of a node.
struct TopologyMatrix {
  std::size_t gpus = 0;
  std::vector<std::string> nics;               ///< Names from the legend, if there is one.
  std::vector<std::vector<Connection>> cells;  ///< GPUs first, then NICs; symmetric.
  std::vector<std::optional<int>> numa_nodes;  ///< For each GPU; empty if unknown.

  std::size_t size() const { return cells.size(); }
};

/// Reads the output of `nvidia-smi topo -m`, also if pasted: cells separated by tabs or blanks, or as a table
/// of Markdown or HTML, with or without affinity columns, legends, terminal escapes and other output around
/// it, and with lines that a narrow terminal broke between cells. Of several matrices the first is read.
/// @param file names the text in messages.
/// @throws ConfigError at the line and column of what is not such a matrix
TopologyMatrix read_topology_matrix(std::string_view text, const std::string& file);

/// A word and its place.
struct MatrixWord {
  std::string text;
  int column = 0;  ///< From 1, in the text as written.
  int line = 0;    ///< From 1.
};

/// A line of terminal output.
struct MatrixLine {
  std::vector<MatrixWord> words;
  std::string text;

  /// The fields between tabs, with the words of a field joined; a single field for a line without tabs.
  std::vector<std::string> fields() const;
};

/// Splits a text into lines and words. Escape sequences (such as underlining) are left out, also those that
/// lost their escape character: "[4m".
std::vector<MatrixLine> matrix_lines(std::string_view text);

}  // namespace gradway
