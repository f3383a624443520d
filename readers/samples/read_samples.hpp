// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "readers/samples/samples.hpp"

namespace gradway {

/// The decompressed contents of a file.
struct SampleFile {
  std::string name;  ///< As given by the user.
  std::string content;
};

/// Reads a file of samples, plain or compressed by gzip. @throws ConfigError if it cannot be read
SampleFile read_sample_file(const std::string& name);

/// Parses files of samples, each a JSON list of rows (see calibration/SAMPLES.md). Unknown keys are ignored;
/// unknown kinds of rows are errors. The digest and the names are those of the decompressed files, so
/// compressing a file does not change a calibration.
///
/// @throws ConfigError with the problems of every row of every file
Samples read_samples(const std::vector<SampleFile>& files);

}  // namespace gradway
