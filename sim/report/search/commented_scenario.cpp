// SPDX-License-Identifier: Apache-2.0
#include "sim/report/search/commented_scenario.hpp"

#include <algorithm>
#include <array>
#include <ostream>
#include <string_view>

#include <fmt/format.h>

#include "sim/base/contract.hpp"
#include "sim/config/find/scenario_keys.hpp"
#include "sim/report/format/text.hpp"

namespace gradway::report {
namespace {

constexpr std::size_t widest_comment = 100;

/// A key that a reader may want next: of all scenarios, or of those whose strategy has it.
struct Offer {
  std::string_view key;
  std::string_view value;
  std::string_view strategy{};  ///< empty: of any
  bool is_of_text = false;
};
constexpr std::array offers{Offer{"job.accumulate", "4"},
                            Offer{"job.sequence", "512", "", true},
                            Offer{"job.compile", "true"},
                            Offer{"job.recompute", "full"},
                            Offer{"job.clip_grad_norm", "true"},
                            Offer{"strategy.bucket_cap", "100 MiB", "ddp"},
                            Offer{"strategy.gradient_as_bucket_view", "true", "ddp"},
                            Offer{"strategy.comm_hook", "bf16", "ddp"},
                            Offer{"strategy.wrap", "2 blocks", "fsdp"},
                            Offer{"strategy.reshard_after_forward", "false", "fsdp"},
                            Offer{"strategy.stage", "3", "zero"},
                            Offer{"strategy.overlap_grad_reduce", "true", "distributed_optimizer"},
                            Offer{"parallel.replicate", "2", "fsdp", true},
                            Offer{"parallel.replicate", "2", "fsdp1", true},
                            Offer{"parallel.tensor", "2", "", true},
                            Offer{"parallel.pipeline", "2", "ddp", true},
                            Offer{"parallel.pipeline", "2", "distributed_optimizer", true}};

const config::ScenarioKey& described(std::string_view key) {
  const auto& keys = config::described_keys();
  const auto found = std::ranges::find(keys, key, &config::ScenarioKey::name);
  expects(found != keys.end(), "keys that are written are described");
  return *found;
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
      if (!group.empty() && ends) offer(group);
    }
    const bool has_layout = std::ranges::any_of(
        scenario_.settings, [](const auto& setting) { return setting.first.starts_with("parallel."); });
    if (!scenario_.is_text || has_layout) return;
    line("#", "parallel", "");
    offer("parallel");
  }

 private:
  /// A key with what it means above it. @param mark in front of it: "#" for one that does not count
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

  void offer(std::string_view group) {
    const auto kind = std::ranges::find(scenario_.settings, "strategy.kind",
                                        [](const auto& setting) { return std::string_view{setting.first}; });
    for (const auto& one : offers) {
      const bool is_of_it = one.strategy.empty() || one.strategy == kind->second;
      if (group_of(one.key) == group && is_of_it && !has(one.key) && (!one.is_of_text || scenario_.is_text))
        line("#", one.key, one.value);
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
      "# Above each key stands what it does and, in brackets, what can stand there. A key behind '#' does\n"
      "# not count until that is taken away. 'gradway list keys' has all keys.\n",
      file.empty() ? "FILE" : file);
  if (!scenario.recipe.empty())
    for (const auto& line : wrap("Settings as in " + scenario.recipe + ".", widest_comment - 2))
      out << "# " << line << '\n';
  Writer{out, scenario}.write();
}

}  // namespace gradway::report
