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

/// What frameworks are told of the model.
struct SnippetModel {
  int blocks = 0;
  int tokens = 0;  ///< a sample
  bool has_experts = false;
};

/// A finished search of layouts that found some, with the words for it.
struct LaidOut {
  std::string scenario;
  std::string model;
  std::string hardware;  ///< "512 x h100-sxm on 64 nodes"
  std::string platform;
  std::string engine;
  Job written;
  SnippetModel shape;
  int global_batch = 0;
  LayoutSearchResult found;
  std::optional<TrainingGoal> goal{};  ///< of the whole training, if it was asked for
};

/// What `gradway run --set` takes for a layout, key by key.
std::vector<std::pair<std::string, std::string>> settings_of(const Job& job);

/// What the framework is told of a layout.
struct LayoutSnippet {
  std::string framework;  ///< a key of documents: "megatron"
  std::string file;       ///< a name for it
  std::string text;
};

/// Arguments of Megatron-LM, or tables of torchtitan's job file, with all that `gradway import` reads of a
/// job: it gives the same step. What the framework cannot be told of the job is in comments.
LayoutSnippet layout_snippet(const Job& job, const SnippetModel& model);

/// For a person: the best layouts and those that need less memory, what was left out and why, and the
/// settings to paste.
void write_table(std::ostream& out, const LaidOut& laid_out, const Style& style);

/// The same as one document, with all layouts that were simulated.
JsonDocument json_document(const LaidOut& laid_out, std::string_view version);
void write_json(std::ostream& out, const LaidOut& laid_out, std::string_view version);

}  // namespace gradway::report
