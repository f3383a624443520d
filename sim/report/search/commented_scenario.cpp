// SPDX-License-Identifier: Apache-2.0
#include "sim/report/search/commented_scenario.hpp"

#include <algorithm>
#include <array>
#include <ostream>
#include <string_view>

#include <fmt/format.h>

#include "sim/base/contract.hpp"
#include "sim/base/text.hpp"
#include "sim/config/find/scenario_keys.hpp"
#include "sim/report/format/text.hpp"

namespace gradway::report {
namespace {

constexpr std::size_t widest_comment = 100;

/// A key that `init` suggests as a comment, for all scenarios or for those of one strategy.
struct SuggestedKey {
  std::string_view key;
  std::string_view value;
  std::string_view strategy{};  ///< empty: any
  bool needs_text_model = false;
};
constexpr std::array suggested_keys{
    SuggestedKey{"job.accumulate", "4"},
    SuggestedKey{"job.sequence", "512", "", true},
    SuggestedKey{"job.compile", "true"},
    SuggestedKey{"job.recompute", "full"},
    SuggestedKey{"job.clip_grad_norm", "true"},
    SuggestedKey{"strategy.bucket_cap", "100 MiB", "ddp"},
    SuggestedKey{"strategy.gradient_as_bucket_view", "true", "ddp"},
    SuggestedKey{"strategy.comm_hook", "bf16", "ddp"},
    SuggestedKey{"strategy.wrap", "2 blocks", "fsdp"},
    SuggestedKey{"strategy.reshard_after_forward", "false", "fsdp"},
    SuggestedKey{"strategy.stage", "3", "zero"},
    SuggestedKey{"strategy.overlap_grad_reduce", "true", "distributed_optimizer"},
    SuggestedKey{"parallel.replicate", "2", "fsdp", true},
    SuggestedKey{"parallel.replicate", "2", "fsdp1", true},
    SuggestedKey{"parallel.tensor", "2", "", true},
    SuggestedKey{"parallel.pipeline", "2", "ddp", true},
    SuggestedKey{"parallel.pipeline", "2", "distributed_optimizer", true}};

const config::ScenarioKey& described(std::string_view key) {
  const auto& keys = config::described_keys();
  const auto row = std::ranges::find(keys, key, &config::ScenarioKey::name);
  expects(row != keys.end(), "keys that are written are described");
  return *row;
}

std::string group_of(std::string_view key) {
  const auto dot = key.find('.');
  return std::string{key.substr(0, dot == std::string_view::npos ? 0 : dot)};
}

class Writer {
 public:
  Writer(std::ostream& out, const FirstScenario& scenario) : out_{out}, scenario_{scenario} {}

  void write() {
    for (std::size_t i = 0; i < scenario_.settings.size(); ++i) {
      const auto& [key, value] = scenario_.settings[i];
      const auto group = group_of(key);
      if (!group.empty() && (i == 0 || group_of(scenario_.settings[i - 1].first) != group))
        line("", group, "");
      line("", key, value);
      const bool ends =
          i + 1 == scenario_.settings.size() || group_of(scenario_.settings[i + 1].first) != group;
      if (!group.empty() && ends) write_suggestions(group);
    }
    const bool has_layout = std::ranges::any_of(
        scenario_.settings, [](const auto& setting) { return setting.first.starts_with("parallel."); });
    if (!scenario_.is_text || has_layout) return;
    line("#", "parallel", "");
    write_suggestions("parallel");
  }

 private:
  /// Writes a key with its help above it. @param mark precedes the key: "#" for a key that is commented out
  void line(std::string_view mark, std::string_view key, std::string_view value) {
    const auto& row = described(key);
    const auto group = group_of(key);
    const std::string indent(group.empty() ? 0 : 2, ' ');
    const auto meaning = row.is_group() ? row.meaning : fmt::format("{} ({})", row.meaning, row.value());
    for (const auto& text : wrap(meaning, widest_comment - indent.size() - 2))
      out_ << fmt::format("{}# {}\n", indent, text);
    const auto name = group.empty() ? key : key.substr(group.size() + 1);
    out_ << fmt::format("{}{}{}:{}{}\n", indent, mark, name, value.empty() ? "" : " ", value);
  }

  void write_suggestions(std::string_view group) {
    const auto kind = std::ranges::find(scenario_.settings, "strategy.kind",
                                        [](const auto& setting) { return std::string_view{setting.first}; });
    for (const auto& suggestion : suggested_keys) {
      const bool fits_strategy = suggestion.strategy.empty() || suggestion.strategy == kind->second;
      if (group_of(suggestion.key) == group && fits_strategy && !has(suggestion.key) &&
          (!suggestion.needs_text_model || scenario_.is_text))
        line("#", suggestion.key, suggestion.value);
    }
  }

  bool has(std::string_view key) const {
    return std::ranges::any_of(scenario_.settings, [&](const auto& setting) { return setting.first == key; });
  }

  std::ostream& out_;
  const FirstScenario& scenario_;
};

}  // namespace

void write_commented_scenario(std::ostream& out, const FirstScenario& scenario, const std::string& file) {
  out << fmt::format(
      "# A scenario to start from: gradway run {}\n"
      "# The comment above each key says what it does and, in brackets, its values. Remove the '#' in front "
      "of\n"
      "# a key to set it. 'gradway list keys' lists all keys.\n",
      file.empty() ? "FILE" : shell_word(file));
  if (!scenario.recipe.empty())
    for (const auto& line : wrap("Settings as in " + scenario.recipe + ".", widest_comment - 2))
      out << "# " << line << '\n';
  Writer{out, scenario}.write();
}

}  // namespace gradway::report
