// SPDX-License-Identifier: Apache-2.0
#include "readers/dataset/dataset.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <limits>
#include <map>
#include <string_view>

#include <fmt/format.h>

#include "sim/base/printable.hpp"
#include "sim/files/text_file.hpp"

namespace gradway {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view magic = "PAR1";
constexpr std::string_view encrypted_magic = "PARE";
constexpr std::uint64_t tail_size = 8;  // The footer's length and the magic bytes.
// Bytes of the footer of a file with 100,000 row groups and columns.
constexpr std::uint64_t most_footer = 256 << 20;
constexpr std::size_t most_columns_of_file = 100'000;

/// CompressionCodec of parquet.thrift, by number.
constexpr std::array<std::string_view, 8> codec_names{"none",   "snappy", "gzip", "lzo",
                                                      "brotli", "lz4",    "zstd", "lz4"};

/// Types of Thrift's compact protocol.
enum class ThriftType : std::uint8_t {
  stop = 0,
  yes = 1,
  no = 2,
  byte = 3,
  i16 = 4,
  i32 = 5,
  i64 = 6,
  real = 7,
  binary = 8,
  list = 9,
  set = 10,
  map = 11,
  structure = 12,
  uuid = 13
};

/// The footer is damaged.
struct Damaged {
  const char* what;
};

/// Reads Thrift's compact protocol, never beyond its bytes (decision 0056).
class Compact {
 public:
  explicit Compact(std::string_view bytes) : bytes_{bytes} {}

  /// Calls `take(field, type)` for each field of a structure; it must read the value or call `skip`.
  template <class Take>
  void structure(const Take& take) {
    const DepthGuard guard{depth_};
    std::int64_t field = 0;
    for (;;) {
      const auto head = byte();
      const auto type = type_of(head & 0x0FU);
      if (type == ThriftType::stop) return;
      const auto delta = head >> 4U;
      field = delta != 0 ? field + delta : zigzag();
      if (field < std::numeric_limits<std::int16_t>::min() ||
          field > std::numeric_limits<std::int16_t>::max())
        throw Damaged{"the number of a field is beyond 16 bits"};
      take(field, type);
    }
  }

  /// Calls `read_value()` for each value of a list; it must read the value.
  template <class Each>
  void list(ThriftType element_type, ThriftType type, const Each& read_value) {
    expect(type, ThriftType::list);
    const auto [count, own] = list_head();
    if (count > 0) expect(own, element_type);
    const DepthGuard guard{depth_};
    for (std::uint64_t i = 0; i < count; ++i) read_value();
  }

  std::uint64_t count(ThriftType type) {
    if (type != ThriftType::i64 && type != ThriftType::i32) throw Damaged{"a number has an unexpected type"};
    const auto value = zigzag();
    if (value < 0) throw Damaged{"a count is negative"};
    return static_cast<std::uint64_t>(value);
  }

  std::string text(ThriftType type) {
    expect(type, ThriftType::binary);
    return std::string{binary()};
  }

  void skip(ThriftType type) {
    const DepthGuard guard{depth_};
    switch (type) {
      case ThriftType::stop:
        throw Damaged{"a list holds values without a type"};
      case ThriftType::yes:
      case ThriftType::no:
        return;
      case ThriftType::byte:
        advance(1);
        return;
      case ThriftType::i16:
      case ThriftType::i32:
      case ThriftType::i64:
        varint();
        return;
      case ThriftType::real:
        advance(8);
        return;
      case ThriftType::uuid:
        advance(16);
        return;
      case ThriftType::binary:
        binary();
        return;
      case ThriftType::list:
      case ThriftType::set: {
        const auto [count, of] = list_head();
        for (std::uint64_t i = 0; i < count; ++i) skip_element(of);
        return;
      }
      case ThriftType::map: {
        const auto pairs = size();
        if (pairs == 0) return;
        const auto types = byte();
        for (std::uint64_t i = 0; i < pairs; ++i) {
          skip_element(type_of(types >> 4U));
          skip_element(type_of(types & 0x0FU));
        }
        return;
      }
      case ThriftType::structure:
        structure([&](std::int64_t, ThriftType field) { skip(field); });
        return;
    }
  }

 private:
  /// Limits the nesting of structures to more than any footer has.
  struct DepthGuard {
    static constexpr int most = 32;
    explicit DepthGuard(int& counter) : depth{counter} {
      if (++depth > most) {
        --depth;
        throw Damaged{"structures are nested too deeply"};
      }
    }
    ~DepthGuard() { --depth; }
    DepthGuard(const DepthGuard&) = delete;
    DepthGuard& operator=(const DepthGuard&) = delete;
    int& depth;
  };

  static void expect(ThriftType type, ThriftType expected) {
    if (type != expected) throw Damaged{"a field has an unexpected type"};
  }

  static ThriftType type_of(unsigned number) {
    if (number > static_cast<unsigned>(ThriftType::uuid)) throw Damaged{"a field has an unknown type"};
    return static_cast<ThriftType>(number);
  }

  /// In lists a boolean takes a byte.
  void skip_element(ThriftType type) {
    if (type == ThriftType::yes || type == ThriftType::no) return advance(1);
    skip(type);
  }

  unsigned byte() {
    if (at_ >= bytes_.size()) throw Damaged{"it is truncated"};
    return static_cast<unsigned char>(bytes_[at_++]);
  }

  void advance(std::uint64_t count) {
    if (count > bytes_.size() - at_) throw Damaged{"it is truncated"};
    at_ += static_cast<std::size_t>(count);
  }

  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const auto next = byte();
      value |= static_cast<std::uint64_t>(next & 0x7FU) << shift;
      if ((next & 0x80U) == 0) return value;
    }
    throw Damaged{"a number is longer than 64 bits"};
  }

  std::int64_t zigzag() {
    const auto value = varint();
    return static_cast<std::int64_t>(value >> 1U) ^ -static_cast<std::int64_t>(value & 1U);
  }

  /// Size of a list or a map: at most the number of remaining bytes, as each value takes at least one.
  std::uint64_t size() {
    const auto count = varint();
    if (count > bytes_.size() - at_) throw Damaged{"a list is longer than the rest of the footer"};
    return count;
  }

  std::pair<std::uint64_t, ThriftType> list_head() {
    const auto head = byte();
    const auto element_type = type_of(head & 0x0FU);
    const auto small = head >> 4U;
    if (small != 15) return {small, element_type};
    return {size(), element_type};
  }

  std::string_view binary() {
    const auto length = varint();
    const auto from = at_;
    advance(length);
    return bytes_.substr(from, static_cast<std::size_t>(length));
  }

  std::string_view bytes_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

void add_checked(std::uint64_t& sum, std::uint64_t amount) {
  if (amount > std::numeric_limits<std::uint64_t>::max() / 2 - sum)
    throw Damaged{"the sum of its sizes overflows"};
  sum += amount;
}

class Footer {
 public:
  explicit Footer(std::string_view bytes) : compact_{bytes} {}

  ParquetFooter read() {
    bool has_rows = false;
    compact_.structure([&](std::int64_t field, ThriftType type) {
      switch (field) {
        case 3:
          footer_.rows = compact_.count(type);
          has_rows = true;
          return;
        case 4:
          return compact_.list(ThriftType::structure, type, [&] { row_group(); });
        default:
          return compact_.skip(type);
      }
    });
    if (!has_rows) throw Damaged{"it does not contain the number of rows"};
    if (rows_of_groups_ != footer_.rows)
      throw Damaged{"the rows of its row groups do not add up to those of the file"};
    return std::move(footer_);
  }

 private:
  void row_group() {
    ++footer_.row_groups;
    compact_.structure([&](std::int64_t field, ThriftType type) {
      if (field == 1) return compact_.list(ThriftType::structure, type, [&] { column_chunk(); });
      if (field == 3) return add_checked(rows_of_groups_, compact_.count(type));
      compact_.skip(type);
    });
  }

  void column_chunk() {
    bool has_data = false;
    compact_.structure([&](std::int64_t field, ThriftType type) {
      if (field != 3) return compact_.skip(type);
      if (type != ThriftType::structure) throw Damaged{"a field has an unexpected type"};
      column_data();
      has_data = true;
    });
    if (!has_data) throw Damaged{"a column's data is described elsewhere, or encrypted"};
  }

  void column_data() {
    ParquetColumn chunk;
    compact_.structure([&](std::int64_t field, ThriftType type) {
      switch (field) {
        case 3:
          return compact_.list(ThriftType::binary, type, [&] {
            chunk.name += (chunk.name.empty() ? "" : ".") + compact_.text(ThriftType::binary);
          });
        case 4: {
          const auto codec = compact_.count(type);
          chunk.codec = codec < codec_names.size() ? codec_names[codec] : "unknown";
          return;
        }
        case 6:
          chunk.unpacked = compact_.count(type);
          return;
        case 7:
          chunk.packed = compact_.count(type);
          return;
        default:
          return compact_.skip(type);
      }
    });
    if (chunk.name.empty()) throw Damaged{"a column has no name"};
    const auto [place, is_new] = places_.try_emplace(chunk.name, footer_.columns.size());
    if (is_new) {
      if (places_.size() > most_columns_of_file) throw Damaged{"it has too many columns"};
      footer_.columns.push_back(std::move(chunk));
      return;
    }
    auto& column = footer_.columns[place->second];
    add_checked(column.packed, chunk.packed);
    add_checked(column.unpacked, chunk.unpacked);
    if (column.codec != chunk.codec) column.codec = "several";
  }

  Compact compact_;
  ParquetFooter footer_;
  std::uint64_t rows_of_groups_ = 0;
  std::map<std::string, std::size_t> places_;
};

[[noreturn]] void refuse(const fs::path& file, const std::string& message, const std::string& hint = "") {
  refuse_at(TextFile{file.string(), ""}.whole(), message, hint);
}

std::string read_at(std::ifstream& in, std::uint64_t from, std::uint64_t count, const fs::path& file) {
  std::string bytes(static_cast<std::size_t>(count), '\0');
  in.seekg(static_cast<std::streamoff>(from));
  in.read(bytes.data(), static_cast<std::streamsize>(count));
  if (!in) refuse(file, "the file cannot be read");
  return bytes;
}

}  // namespace

ParquetFooter read_parquet_footer(const fs::path& file) {
  check_regular_file(file, file.string());
  std::error_code error;
  const auto size = fs::file_size(file, error);
  std::ifstream in{file, std::ios::binary};
  if (error || !in) refuse(file, "the file cannot be read");
  if (size < tail_size + magic.size()) refuse(file, "this is not a Parquet file: it is too short");
  const auto tail = read_at(in, size - tail_size, tail_size, file);
  const auto ending = std::string_view{tail}.substr(4);
  if (ending == encrypted_magic) refuse(file, "the footer of this Parquet file is encrypted");
  if (ending != magic || read_at(in, 0, magic.size(), file) != magic)
    refuse(file, "this is not a Parquet file: it does not begin and end with PAR1",
           "check whether it is truncated");
  std::uint64_t length = 0;
  for (std::size_t i = 4; i-- > 0;) length = length << 8U | static_cast<unsigned char>(tail[i]);
  if (length > std::min(size - tail_size - magic.size(), most_footer))
    refuse(file, fmt::format("the Parquet footer is damaged: invalid length of {} bytes", length));
  const auto bytes = read_at(in, size - tail_size - length, length, file);
  try {
    return Footer{bytes}.read();
  } catch (const Damaged& damage) {
    refuse(file, fmt::format("the Parquet footer is damaged: {}", damage.what));
  }
}

}  // namespace gradway
