// SPDX-License-Identifier: Apache-2.0
#include "sim/import/dataset/tar_headers.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "sim/base/printable.hpp"
#include "sim/files/text_file.hpp"

namespace gradway {
namespace {

// POSIX.1-1988 (ustar), POSIX.1-2001 (pax) and GNU's manual of tar, "Basic Tar Format".
constexpr std::size_t block_size = 512;
constexpr std::uint64_t most_extra = 1 << 20;  // bytes of a long name or of pax records
using Block = std::array<char, block_size>;
struct Field {
  std::size_t at;
  std::size_t length;
};
constexpr Field name_field{0, 100};
constexpr Field size_field{124, 12};
constexpr Field checksum_field{148, 8};
constexpr Field magic_field{257, 5};
constexpr Field prefix_field{345, 155};
constexpr std::size_t kind_at = 156;

std::string_view field(const Block& block, Field place) {
  const std::string_view text{block.data() + place.at, place.length};
  return text.substr(0, text.find('\0'));
}

/// Octal digits, or GNU's big-endian number where the first bit is set.
std::optional<std::uint64_t> number(const Block& block, Field place) {
  const std::string_view bytes{block.data() + place.at, place.length};
  std::uint64_t value = 0;
  if ((static_cast<unsigned char>(bytes.front()) & 0x80U) != 0) {
    constexpr std::size_t width = sizeof value;
    for (const auto c : bytes.substr(bytes.size() - width))
      value = value << 8U | static_cast<unsigned char>(c);
    return value >> 63U == 0 ? std::optional{value} : std::nullopt;
  }
  auto digits = field(block, place);
  digits.remove_prefix(std::min(digits.find_first_not_of(' '), digits.size()));
  digits = digits.substr(0, digits.find(' '));
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 8);
  const bool is_number = error == std::errc{} && end == digits.data() + digits.size();
  return is_number ? std::optional{value} : std::nullopt;
}

bool checksum_is_right(const Block& block) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < block.size(); ++i) {
    const bool is_its_own = i >= checksum_field.at && i < checksum_field.at + checksum_field.length;
    sum += is_its_own ? static_cast<unsigned char>(' ') : static_cast<unsigned char>(block[i]);
  }
  return number(block, checksum_field) == sum;
}

/// "30 path=a/long/name\n" and so on: the value of one key.
std::optional<std::string> pax_value(std::string_view records, std::string_view key) {
  std::optional<std::string> value;
  while (!records.empty()) {
    std::size_t length = 0;
    const auto [end, error] = std::from_chars(records.data(), records.data() + records.size(), length);
    if (error != std::errc{} || length < 2 || length > records.size()) return value;
    const auto digits = static_cast<std::size_t>(end - records.data());
    if (length < digits + 2) return value;
    const auto record = records.substr(digits + 1, length - digits - 2);  // blank and line's end left out
    if (record.starts_with(key) && record.substr(key.size()).starts_with('='))
      value = std::string{record.substr(key.size() + 1)};
    records.remove_prefix(length);
  }
  return value;
}

class TarReader {
 public:
  explicit TarReader(const std::filesystem::path& file)
      : name_{file.string()}, stream_{file, std::ios::binary} {
    std::error_code error;
    length_ = std::filesystem::file_size(file, error);
    if (!stream_ || error) refuse_at(whole(), "the file cannot be read", "");
  }

  void read(const std::function<void(const std::string&, std::uint64_t)>& tell) {
    Block block{};
    while (at_ < length_) {
      const auto start = at_;
      take(block.data(), block.size(), start);
      if (std::ranges::all_of(block, [](char c) { return c == '\0'; })) return;
      const auto size = number(block, size_field);
      if (!size || !checksum_is_right(block))
        refuse_at(whole(),
                  start == 0 ? "this is not a tar file"
                             : fmt::format("byte {} is not where a file of the tar file begins", start),
                  start == 0 ? "unpack it if it is a tar file that was packed as a whole" : "");
      member(block, *size, start, tell);
    }
  }

 private:
  Where whole() const { return TextFile{name_, ""}.whole(); }

  void take(char* to, std::uint64_t size, std::uint64_t start) {
    if (size > length_ - at_) end_early(start);
    if (!stream_.read(to, static_cast<std::streamsize>(size))) end_early(start);
    at_ += size;
  }
  void pass_over(std::uint64_t size, std::uint64_t start) {
    if (size > length_ - at_) end_early(start);
    at_ += size;
    stream_.seekg(static_cast<std::streamoff>(at_));
  }
  [[noreturn]] void end_early(std::uint64_t start) const {
    refuse_at(whole(), fmt::format("the tar file ends inside the file that begins at byte {}", start), "");
  }
  void pass_padding(std::uint64_t size) {
    const auto padding = (block_size - size % block_size) % block_size;
    pass_over(std::min<std::uint64_t>(padding, length_ - at_), at_);
  }

  std::string extra(std::uint64_t size, std::uint64_t start) {
    if (size > most_extra)
      refuse_at(whole(), fmt::format("what byte {} begins with is no header of a file", start), "");
    std::string text(size, '\0');
    take(text.data(), size, start);
    pass_padding(size);
    return text;
  }

  void member(const Block& block, std::uint64_t size, std::uint64_t start,
              const std::function<void(const std::string&, std::uint64_t)>& tell) {
    switch (block[kind_at]) {
      case 'L':
        long_name_ = extra(size, start);
        long_name_->resize(std::min(long_name_->find('\0'), long_name_->size()));
        return;
      case 'x':
        records_ = extra(size, start);
        return;
      case 'K':
      case 'g':
        extra(size, start);
        return;
      default:
        break;
    }
    const auto path = pax_value(records_, "path");
    if (const auto text = pax_value(records_, "size")) {
      const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), size);
      if (error != std::errc{} || end != text->data() + text->size())
        refuse_at(whole(), fmt::format("byte {}: the size '{}' is not a number", start, printable(*text)),
                  "");
    }
    pass_over(size, start);
    pass_padding(size);
    const auto kind = block[kind_at];
    if (kind == '0' || kind == '\0' || kind == '7') tell(path ? *path : name_of(block), size);
    long_name_.reset();
    records_.clear();
  }

  std::string name_of(const Block& block) const {
    if (long_name_) return *long_name_;
    const auto prefix = field(block, magic_field) == "ustar" ? field(block, prefix_field) : "";
    const auto name = field(block, name_field);
    return prefix.empty() ? std::string{name} : fmt::format("{}/{}", prefix, name);
  }

  std::string name_;
  std::ifstream stream_;
  std::uint64_t length_ = 0;
  std::uint64_t at_ = 0;
  std::optional<std::string> long_name_{};  ///< of the next file
  std::string records_{};                   ///< pax, of the next file
};

}  // namespace

void read_tar_headers(const std::filesystem::path& file,
                      const std::function<void(const std::string& name, std::uint64_t size)>& tell) {
  check_regular_file(file, file.string());
  TarReader{file}.read(tell);
}

}  // namespace gradway
