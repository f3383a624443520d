// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sim/samples/samples.hpp"

namespace gradway {

/// A file as it was read, unpacked.
struct SampleFile {
  std::string name;  ///< as the user wrote it
  std::string content;
};

/// A file of samples, plain or packed by gzip: what it holds tells which. @throws ConfigError if it cannot be
/// read
SampleFile read_sample_file(const std::string& name);

/// Understands files of samples, each a JSON list of rows; calibration/SAMPLES.md says what they hold. Keys
/// that nobody knows are passed over; kinds of rows are not. The digest is that of the unpacked texts and the
/// names are those of plain files: packing a file changes nothing in a calibration.
///
/// @throws ConfigError with what is wrong with every row of every file
Samples read_samples(const std::vector<SampleFile>& files);

}  // namespace gradway
