// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>

#include "readers/dataset/tar_module.hpp"

namespace gradway {
namespace {

struct Close {
  void operator()(archive* open) const { archive_read_free(open); }
};

/// Name as in the header; in UTF-8 if the header says so and the locale has other characters.
std::string name_of(archive_entry* entry) {
  const auto* name = archive_entry_pathname(entry);
  if (name == nullptr) name = archive_entry_pathname_utf8(entry);
  return name == nullptr ? "" : name;
}

TarProblem read_headers(const char* file, const VisitTarHeader& visit) {
  TarProblem not_tar{"this is not a tar file", "decompress it first if it is a compressed tar file"};
  constexpr std::size_t block_size = 1 << 20;
  const std::unique_ptr<archive, Close> tar{archive_read_new()};
  archive_read_support_format_tar(tar.get());  // ustar, GNU and pax; no filter, so nothing is decompressed.
  if (archive_read_open_filename(tar.get(), file, block_size) != ARCHIVE_OK) return not_tar;
  archive_entry* entry = nullptr;
  for (std::int64_t begin = -1;; begin = archive_read_header_position(tar.get())) {
    const auto status = archive_read_next_header(tar.get(), &entry);
    if (status == ARCHIVE_EOF) return {};
    if (status != ARCHIVE_OK && status != ARCHIVE_WARN) {
      if (begin < 0) return not_tar;
      const auto* error = archive_error_string(tar.get());
      return {fmt::format("the tar file is damaged after the file that begins at byte {}: {}", begin,
                          error == nullptr ? "no header of a file" : error),
              ""};
    }
    if (archive_entry_filetype(entry) == AE_IFREG && archive_entry_hardlink(entry) == nullptr)
      visit(name_of(entry), static_cast<std::uint64_t>(archive_entry_size(entry)));
    if (archive_read_data_skip(tar.get()) != ARCHIVE_OK)
      return {fmt::format("the tar file is truncated inside the file that begins at byte {}",
                          archive_read_header_position(tar.get())),
              ""};
  }
}

}  // namespace

extern "C" __attribute__((visibility("default"))) void gradway_read_tar_headers(const char* file,
                                                                                const VisitTarHeader& visit,
                                                                                TarProblem& problem) {
  problem = read_headers(file, visit);
}

}  // namespace gradway
