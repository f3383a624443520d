// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "tests/cli/program.hpp"

/// Imports of trainers' files, in a folder of their own.
namespace gradway::testing {

inline const std::string data = std::string{GRADWAY_SOURCE_DIR} + "/tests/readers/data/";

struct Desk {
  TemporaryFolder folder;

  Outcome run(const std::vector<std::string>& arguments) const {
    return run_gradway(arguments, {.folder = folder.path()});
  }
  /// Of a file of that text.
  Outcome import(const std::string& format, const std::string& text, std::vector<std::string> options) const {
    const auto file = format == "deepspeed" ? "ds.json" : "job.toml";
    folder.write(file, text);
    options.insert(options.begin(), {"import", format, file});
    return run(options);
  }
};

inline const std::vector<std::string> where{"--platform", "aws-p4d.24xlarge", "--model",
                                            "gpt_124m",   "--gpus",           "8"};

inline const std::vector<std::string> of_text{"--platform", "dgx-h100", "--model",
                                              "llama3_8b",  "--gpus",   "8"};

inline std::vector<std::string> with(std::vector<std::string> options, const std::vector<std::string>& more) {
  options.insert(options.end(), more.begin(), more.end());
  return options;
}

}  // namespace gradway::testing
