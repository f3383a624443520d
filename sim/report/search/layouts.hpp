// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/report/format/json_document.hpp"
#include "sim/report/format/style.hpp"
#include "sim/study/compare/training.hpp"
#include "sim/study/search/layouts.hpp"

namespace gradway::report {

/// Facts about the model that framework settings need.
struct SnippetModel {
  int blocks = 0;
  int tokens = 0;  ///< per sample
  bool has_experts = false;
};

/// A finished search of layouts that found at least one.
struct LayoutSearchReport {
  Scenario written;
  std::string engine;
  int global_batch = 0;
  LayoutSearchResult found;
  std::optional<TrainingGoal> goal{};  ///< set if a whole training was asked for
  std::size_t rows = 10;               ///< of the table: the fastest

  SnippetModel shape() const;
  /// "512 x h100-sxm on 64 nodes"
  std::string hardware() const;
};

/// Keys and values of a layout, as `gradway run --set` takes them.
std::vector<std::pair<std::string, std::string>> settings_of(const Job& job);

/// A framework's settings for a layout.
struct LayoutSnippet {
  std::string framework;  ///< key in JSON documents: "megatron"
  std::string file;       ///< name of its file
  std::string text;
};

/// Arguments of Megatron-LM, or tables of torchtitan's job file, with every setting that `gradway import`
/// reads, so that importing it predicts the same step. Comments list settings of the job that the framework
/// lacks.
LayoutSnippet layout_snippet(const Job& job, const SnippetModel& model);

/// Writes for a person: the best layouts and those that need less memory, what was left out and why, and the
/// settings to paste.
void write_table(std::ostream& out, const LayoutSearchReport& search_report, const Style& style);

/// The same as one document, with all layouts that were simulated.
JsonDocument json_document(const LayoutSearchReport& search_report, std::string_view version);

}  // namespace gradway::report
