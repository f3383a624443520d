// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/base/problem.hpp"

namespace gradway {

/// Something of a trainer's file that the scenario does not have, or has otherwise.
struct DraftNote {
  Where where;  ///< without a line: the file does not say it
  std::string text;
};

/// A scenario as a trainer's file tells it: keys and their values, as they are written.
struct ScenarioDraft {
  using Keys = std::vector<std::pair<std::string, std::string>>;
  std::string trainer;  ///< "DeepSpeed"
  std::string file;
  std::string model;
  std::string platform;
  Keys job;
  Keys strategy;
  Keys parallel;
  std::string optimizer;  ///< empty: not written
  std::vector<DraftNote> notes;
};

/// A model as a trainer's file tells it: keys and their values, as they are written.
struct ModelDraft {
  std::string trainer;  ///< "Hugging Face"
  std::string file;
  ScenarioDraft::Keys keys;
  std::vector<DraftNote> notes;
};

/// What a trainer's file may leave open; texts are empty if not given.
struct DraftOptions {
  std::string model;
  std::string platform;
  std::string precision;
  std::optional<int> gpus{};
  std::optional<int> batch{};  ///< samples of a micro-step on each GPU
  std::optional<int> sequence{};
  std::vector<std::string> known_models{};
  std::function<int(const std::string&)> blocks_of{};  ///< of a known model; 0 if it has none
};

/// A note with its place, on one line.
std::string to_text(const DraftNote& note);

/// How a file begins that is made of a trainer's: notes as comments, schema, source. @param what it is:
/// "model"
std::string head_of_draft(std::string_view trainer, std::string_view what, const std::string& file,
                          const std::vector<DraftNote>& notes);

// The files, the notes as comments at their heads.
std::string scenario_yaml(const ScenarioDraft& draft);
std::string model_yaml(const ModelDraft& draft);

}  // namespace gradway
