// SPDX-License-Identifier: Apache-2.0
#include "readers/dataset/dataset.hpp"
#include "sim/base/text.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <numeric>
#include <string_view>

#include <fmt/format.h>

#include "sim/base/printable.hpp"
#include "sim/files/text_file.hpp"

namespace gradway {
namespace {

namespace fs = std::filesystem;

/// File formats with many samples whose headers gradway does not read.
struct Container {
  std::string_view ending;
  std::string_view name;
};
constexpr std::array containers{Container{".tfrecord", "TFRecord"},
                                Container{".arrow", "Arrow"},
                                Container{".mds", "MDS"},
                                Container{".beton", "FFCV"},
                                Container{".h5", "HDF5"},
                                Container{".hdf5", "HDF5"},
                                Container{".zip", "zip"},
                                Container{".lmdb", "LMDB"},
                                Container{".tar.gz", "packed tar"},
                                Container{".tgz", "packed tar"},
                                Container{".tar.zst", "packed tar"},
                                Container{".tar.bz2", "packed tar"},
                                Container{".tar.xz", "packed tar"}};

/// Compressed formats, which a codec does not compress further.
constexpr std::array<std::string_view, 15> packed_endings{".jpg",  ".jpeg", ".png",  ".webp", ".avif",
                                                          ".gif",  ".mp4",  ".mkv",  ".webm", ".mp3",
                                                          ".flac", ".ogg",  ".opus", ".gz",   ".zst"};

bool is_packed(const std::string& name) {
  const auto small = lower_case(name);
  return std::ranges::any_of(packed_endings, [&](auto ending) { return small.ends_with(ending); });
}

bool is_tar(const fs::path& path) {
  return lower_case(path.extension().string()) == ".tar";
}

Where whole(const fs::path& path) {
  return TextFile{path.string(), ""}.whole();
}

void refuse_containers(const fs::path& path) {
  const auto name = lower_case(path.filename().string());
  for (const auto& container : containers) {
    if (!name.ends_with(container.ending)) continue;
    refuse_at(whole(path),
              fmt::format("gradway cannot read the sizes of samples in {} files", container.name),
              "give a folder of files, a tar file or a folder of tar files, or write the dataset file by "
              "hand (see models/datasets)");
  }
}

/// Key of a sample in a tar file: the name up to the first dot after the folders.
std::string key_of(const std::string& name) {
  const auto folder = name.rfind('/');
  return name.substr(0, name.find('.', folder == std::string::npos ? 0 : folder + 1));
}

void add_tar(const fs::path& file, SampleSizes& sizes) {
  std::string before;
  bool is_first = true;
  read_tar_headers(file, [&](const std::string& name, std::uint64_t size) {
    const auto key = key_of(name);
    if (is_first || key != before) sizes.bytes.push_back(0);
    sizes.bytes.back() += size;
    if (is_packed(name)) sizes.packed_bytes += size;
    before = key;
    is_first = false;
  });
}

void add_folder(const fs::path& folder, SampleSizes& sizes) {
  const auto files = files_below(folder);
  const auto tars = std::ranges::count_if(files, is_tar);
  sizes.shards = tars > 0;
  for (const auto& file : files) {
    refuse_containers(file);
    if (sizes.shards) {
      if (!is_tar(file))
        refuse_at(whole(file),
                  fmt::format("this is not a tar file, but {} other files of the folder are", tars),
                  "give a folder that contains only tar files, or one with a file per sample");
      add_tar(file, sizes);
      continue;
    }
    std::error_code error;
    const auto size = fs::file_size(file, error);
    if (error) refuse_at(whole(file), fmt::format("its size cannot be read: {}", error.message()), "");
    sizes.bytes.push_back(size);
    if (is_packed(file.string())) sizes.packed_bytes += size;
  }
}

double total(const SampleSizes& sizes) {
  return static_cast<double>(std::reduce(sizes.bytes.begin(), sizes.bytes.end(), std::uint64_t{0}));
}

}  // namespace

std::vector<fs::path> files_below(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::recursive_directory_iterator entry{folder, error}; !error && entry != fs::end(entry);
       entry.increment(error)) {
    std::error_code gone;
    if (entry->is_regular_file(gone)) files.push_back(entry->path());
  }
  if (error) refuse_at(whole(folder), fmt::format("the folder cannot be read: {}", error.message()), "");
  std::ranges::sort(files);
  return files;
}

Bytes SampleSizes::mean() const {
  return Bytes{total(*this) / static_cast<double>(bytes.size())};
}

double SampleSizes::spread() const {
  const auto middle = mean().value();
  double squares = 0;
  for (const auto size : bytes) squares += std::pow(static_cast<double>(size) - middle, 2);
  return std::sqrt(squares / static_cast<double>(bytes.size())) / middle;
}

bool SampleSizes::mostly_packed() const {
  return static_cast<double>(packed_bytes) > total(*this) / 2;
}

SampleSizes sample_sizes(const fs::path& path) {
  SampleSizes sizes;
  sizes.name = path.string();
  std::error_code ignored;
  if (!fs::exists(path, ignored)) refuse_at(whole(path), "there is no such file or folder", "");
  refuse_containers(path);
  if (fs::is_directory(path, ignored)) {
    add_folder(path, sizes);
  } else if (is_tar(path)) {
    sizes.shards = true;
    add_tar(path, sizes);
  } else {
    refuse_at(whole(path), "this is neither a folder nor a tar or Parquet file",
              "give a folder of files, or a file that ends in .tar or .parquet");
  }
  if (sizes.bytes.empty()) refuse_at(whole(path), "it contains no samples", "");
  if (total(sizes) == 0) refuse_at(whole(path), "all samples are empty", "");
  return sizes;
}

std::string dataset_yaml(const SampleSizes& sizes) {
  const std::string_view read_from = sizes.shards ? "in the headers of the tar files" : "of the files";
  std::string text = fmt::format(
      "# Sizes do not contain the cost of decoding or the size of a sample on the GPU: add 'delivered' "
      "(bytes\n"
      "# per sample on the GPU) and 'cpu: {{ decode: TIME, transform: TIME, collate: TIME }}' (of one "
      "core).\n"
      "schema: 1\nsource: >-\n  Sizes {} of {}\nsamples: {}\nsample_size: {:.10g} B\n"
      "spread: {:.4g}\n",
      read_from, printable(sizes.name), sizes.bytes.size(), std::max(sizes.mean().value(), 1.0),
      sizes.spread());
  // AWS's guide to S3 performance recommends ranges of 8 to 16 MB.
  text += sizes.shards ? "format: shards\nrequest: 8 MiB  # object stores are fastest with 8 to 16 MB\n"
                       : "format: files\n";
  if (sizes.mostly_packed()) text += "compressible: false\n";
  return text;
}

}  // namespace gradway
