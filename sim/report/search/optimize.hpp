// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/report/format/json_document.hpp"
#include "sim/report/format/style.hpp"
#include "sim/study/search/optimize.hpp"

namespace gradway::report {

/// A finished search that found something, with the words for it.
struct Optimized {
  std::string scenario;
  std::string model;
  std::string platform;
  std::string engine;
  std::vector<Job> jobs;          ///< of the search space
  std::vector<std::string> keys;  ///< that were searched
  /// By job: keys beside the strategy, and their values, in which it differs from the one as written.
  std::vector<std::vector<std::pair<std::string, std::string>>> changes;
  std::vector<ShardingSetting> sharding;  ///< searched settings of a strategy that shards
  std::vector<CommHook> lossy_left_out;   ///< that would have been searched, were they allowed
  Optimum optimum;
  std::vector<SettingResult> left_out;  ///< settings that cannot run
  std::optional<TrainingGoal> goal{};   ///< of the whole training, if it was asked for
  std::vector<SettingResult> missed;    ///< settings that miss its limits
  bool none_meets = false;              ///< ... as all do
  double settings = 0;
  std::size_t simulated = 0;
};

/// How much more gets done in the same time with the best than with the other: 0.2 is 20 % more.
double gain_over(const Optimized& found, const SettingResult& other);

/// The job of a setting.
Job job_of(const Optimized& found, const SettingResult& tried);

/// Whether the best and the other are tied, and no setting between them is not.
bool is_tied_with_best(const Optimized& found, const SettingResult& other);

/// Probability that the best is faster than the other.
double best_is_faster(const Optimized& found, const SettingResult& other);

/// Whose defaults a search starts from: "PyTorch".
std::string_view framework_of(const Optimized& found);

/// What to make of the gain over the framework's defaults, in words. Less than 0.5 %, or than what is not
/// known of it, is not worth changing.
std::string verdict(const Optimized& found);

/// What to know before taking the best: of its prediction, and of settings that change more than speed.
std::vector<Warning> warnings_of(const Optimized& found);

/// For a person: the best settings, what they bring and what each of them does, how flat the optimum is, what
/// was left out, and the code for the framework.
void write_table(std::ostream& out, const Optimized& found, const Style& style);

/// The same as one document.
JsonDocument json_document(const Optimized& found, std::string_view version);
void write_json(std::ostream& out, const Optimized& found, std::string_view version);

}  // namespace gradway::report
