// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sim/config/config.hpp"

namespace gradway::cli {

// gradway must be able to read what it writes. These checks run before anything is written or printed, so
// that an input that leads to an invalid file is refused instead.

/// @param input that the text was generated from, for messages @throws ConfigError if the text is invalid
void check_reads_back(DataKind kind, const std::string& text, const std::string& input);
/// The same for a scenario with everything that it names. @param out where it will be written
/// @param model the text of the model that it names, if that is written with it
void check_scenario_reads_back(const std::string& text, const std::string& input, const std::string& out,
                               const DataPath& data, const std::string& model = {});
/// Reports the error of a generated scenario as an error of its input.
[[noreturn]] void refuse_generated_scenario(const std::string& input, const ConfigError& error);
/// The result of `make`. Errors of the scenario that it generates are reported as errors of the input.
template <class Make>
auto attribute_errors_to(const std::string& input, const Make& make) {
  try {
    return make();
  } catch (const ConfigError& error) {
    refuse_generated_scenario(input, error);
  }
}
/// The same for a file of samples.
void check_samples_read_back(const std::string& text, const std::string& input);

}  // namespace gradway::cli
