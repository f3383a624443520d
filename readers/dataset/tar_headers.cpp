// SPDX-License-Identifier: Apache-2.0
#include "readers/dataset/dataset.hpp"

#include <memory>

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>

#include "sim/base/printable.hpp"
#include "sim/files/text_file.hpp"

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

}  // namespace

void read_tar_headers(const std::filesystem::path& file,
                      const std::function<void(const std::string& name, std::uint64_t size)>& visit) {
  check_regular_file(file, file.string());
  const auto where = TextFile{file.string(), ""}.whole();
  constexpr std::size_t block_size = 1 << 20;
  const std::unique_ptr<archive, Close> tar{archive_read_new()};
  archive_read_support_format_tar(tar.get());  // ustar, GNU and pax; no filter, so nothing is decompressed.
  const auto refuse_start = [&] {
    refuse_at(where, "this is not a tar file", "decompress it first if it is a compressed tar file");
  };
  if (archive_read_open_filename(tar.get(), file.c_str(), block_size) != ARCHIVE_OK) refuse_start();
  archive_entry* entry = nullptr;
  for (std::int64_t begin = -1;; begin = archive_read_header_position(tar.get())) {
    const auto status = archive_read_next_header(tar.get(), &entry);
    if (status == ARCHIVE_EOF) return;
    if (status != ARCHIVE_OK && status != ARCHIVE_WARN) {
      if (begin < 0) refuse_start();
      const auto* error = archive_error_string(tar.get());
      refuse_at(where,
                fmt::format("the tar file is damaged after the file that begins at byte {}: {}", begin,
                            printable(error == nullptr ? "no header of a file" : error)),
                "");
    }
    if (archive_entry_filetype(entry) == AE_IFREG && archive_entry_hardlink(entry) == nullptr)
      visit(name_of(entry), static_cast<std::uint64_t>(archive_entry_size(entry)));
    if (archive_read_data_skip(tar.get()) != ARCHIVE_OK)
      refuse_at(where,
                fmt::format("the tar file is truncated inside the file that begins at byte {}",
                            archive_read_header_position(tar.get())),
                "");
  }
}

}  // namespace gradway
