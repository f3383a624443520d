// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sim/config/config.hpp"

namespace gradway::cli {

// What gradway writes, it must be able to read. Asked before anything is written or printed, so that an input
// that leads to something else is refused instead.

/// @param input what the text was made of, for the message @throws ConfigError if the text is no such file
void check_reads_back(DataKind kind, const std::string& text, const std::string& input);
/// The same of a scenario with all that it names. @param out where it will stand
/// @param model the text of the model that it names, if that is written with it
void check_scenario_reads_back(const std::string& text, const std::string& input, const std::string& out,
                               const DataPath& data, const std::string& model = {});
/// Tells what is wrong with a scenario that gradway made as what is wrong with its input.
[[noreturn]] void refuse_what_is_made(const std::string& input, const ConfigError& error);
/// What `make` gives; what is wrong with the scenario that it makes is told of the input.
template <class Make>
auto told_of(const std::string& input, const Make& make) {
  try {
    return make();
  } catch (const ConfigError& error) {
    refuse_what_is_made(input, error);
  }
}
/// The same of a file of samples.
void check_samples_read_back(const std::string& text, const std::string& input);

}  // namespace gradway::cli
