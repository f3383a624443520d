// SPDX-License-Identifier: Apache-2.0
#include "cli/shell/read_back.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "readers/samples/read_samples.hpp"
#include "sim/base/problem.hpp"
#include "sim/config/config.hpp"

namespace gradway::cli {
namespace {

/// Calls `read` and reports its error as an error of the input.
template <class Read>
void check(const std::string& input, const Read& read) {
  try {
    read();
  } catch (const ConfigError& error) {
    const auto& first = error.problems().front();
    std::string_view line = first.where.text;
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    Where where;
    where.file = input;
    refuse_at(where, fmt::format("the file made from this input is invalid: {}", first.what),
              fmt::format("a value of the input is probably far out of range{}",
                          line.empty() ? "" : fmt::format(": it leads to '{}'", line)));
  }
}

}  // namespace

void check_reads_back(DataKind kind, const std::string& text, const std::string& input) {
  check(input, [&] { check_text(kind, text); });
}

void check_scenario_reads_back(const std::string& text, const std::string& input, const std::string& out,
                               const DataPath& data, const std::string& model) {
  attribute_errors_to(input, [&] { return load_scenario_text(text, out, data, model); });
}

void refuse_generated_scenario(const std::string& input, const ConfigError& error) {
  const auto& first = error.problems().front();
  std::string_view line = first.where.text;
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  Where where;
  where.file = input;
  throw ConfigError{
      Problem{where, fmt::format("the scenario made from this input is invalid: {}", first.what), first.notes,
              fmt::format("{}{}{}", first.hint, first.hint.empty() || line.empty() ? "" : "; ",
                          line.empty() ? "" : fmt::format("the scenario has '{}'", line))}};
}

void check_samples_read_back(const std::string& text, const std::string& input) {
  check(input, [&] { static_cast<void>(read_samples({{input, text}})); });
}

}  // namespace gradway::cli
