// SPDX-License-Identifier: Apache-2.0
// Files from disk. The rest of text_file.hpp also works where there is none.
#include <array>
#include <filesystem>
#include <istream>

#include <fmt/format.h>

#include "sim/base/printable.hpp"
#include "sim/files/compressed_file.hpp"
#include "sim/files/text_file.hpp"

namespace gradway {
namespace {

constexpr std::size_t largest_text = 64'000'000;  // Keeps a wrong file from filling memory.

void check_characters(const TextFile& file, std::string_view allowed) {
  const std::string_view content = file.content;
  const auto accepted = fmt::format("\t\n\r{}", allowed);
  if (const auto bad = first_control(content, accepted); bad != std::string_view::npos) {
    refuse_at(file.at(bad, 1), fmt::format("unexpected control character {}", code_point(content, bad)),
              "remove it");
  }
  for (auto offset = content.find('\r'); offset != std::string_view::npos;
       offset = content.find('\r', offset + 1)) {
    const auto end = content.find_first_not_of('\r', offset);
    if (end == std::string_view::npos || content[end] != '\n')
      refuse_at(file.at(offset, 1), "unexpected carriage return within a line", "end lines with a line feed");
    offset = end;
  }
}

}  // namespace

void check_regular_file(const std::filesystem::path& file, const std::string& shown) {
  Where where;
  where.file = shown;
  std::error_code error;
  const auto status = std::filesystem::status(file, error);
  if (!std::filesystem::exists(status)) refuse_at(where, "there is no such file", "");
  if (std::filesystem::is_directory(status)) refuse_at(where, "this is a folder, not a file", "");
  if (!std::filesystem::is_regular_file(status))
    refuse_at(where, "this is a pipe or a device, not a file", "write its content to a file first");
}

TextFile read_text_file(const std::string& name, std::string_view allowed, const std::string& hint_if_empty) {
  CompressedFile packed{name, name};
  std::istream in{&packed};
  TextFile file{name, {}};
  for (std::array<char, 1 << 16> buffer{}; in && file.content.size() <= largest_text;) {
    in.read(buffer.data(), buffer.size());
    file.content.append(buffer.data(), static_cast<std::size_t>(in.gcount()));
  }
  if (file.content.size() > largest_text)
    refuse_at(file.whole(), "the file has more than 64 MB",
              "check that this is the right file, or give only the relevant part");
  packed.check();
  if (file.content.find_first_not_of(" \t\r\n") == std::string::npos)
    refuse_at(file.whole(), "the file is empty", hint_if_empty);
  if (file.content.find('\0') != std::string::npos)
    refuse_at(file.whole(), "this is not a text file: it contains NUL bytes", "");
  check_characters(file, allowed);
  file.content.shrink_to_fit();
  return file;
}

}  // namespace gradway
