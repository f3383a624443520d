// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "sim/base/units.hpp"

namespace gradway {

/// The samples of a dataset as their files' headers tell them; nothing of a sample itself is read.
struct SampleSizes {
  std::string name;                  ///< of the file or folder, as the user wrote it
  bool shards = false;               ///< tar files; else a file a sample
  std::vector<std::uint64_t> bytes;  ///< of each sample, as it is stored
  std::uint64_t packed_bytes = 0;    ///< of files whose format packs them: JPEG, PNG, video, gzip ...

  Bytes mean() const;
  double spread() const;       ///< standard deviation over the mean
  bool mostly_packed() const;  ///< codecs have nothing left to do
};

/// Of a folder, with those in it: a file is a sample, or all of them are tar files. Of a tar file: what has
/// the same name up to its first dot, one behind the other, is a sample, as WebDataset has it.
/// @throws ConfigError if there is nothing, or files that hold many samples in another way: they are named
SampleSizes sample_sizes(const std::filesystem::path& path);

/// All files of a folder and of those in it, sorted; links are not followed into folders.
/// @throws ConfigError if the folder cannot be read
std::vector<std::filesystem::path> files_below(const std::filesystem::path& folder);

/// The dataset's file, without what sizes do not tell: decoding, and what goes to the GPU.
std::string dataset_yaml(const SampleSizes& sizes);

}  // namespace gradway
