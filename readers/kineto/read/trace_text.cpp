// SPDX-License-Identifier: Apache-2.0
#include "readers/kineto/read/trace_text.hpp"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

namespace gradway {
namespace {

constexpr std::size_t longest_value = 16'000'000;  // In characters. The longest values are call stacks.
constexpr std::size_t read_at_once = 1 << 16;      // In characters.

}  // namespace

// A value begins in the first part of the buffer. Pages that no value is long enough to reach are never used.
TraceText::TraceText(CompressedFile& file)
    : file_{file},
      buffer_{std::make_unique_for_overwrite<char[]>(longest_value + 3 * read_at_once + 1)},
      next_{buffer_.get()},
      end_{next_},
      decoded_{next_} {
  *end_ = '\0';
}

bool TraceText::take_plain() {
  auto* plain = next_;
  while (*plain >= ' ' && *plain < '\x7f' && *plain != '"' && *plain != '\\') ++plain;
  const auto count = static_cast<std::size_t>(plain - next_);
  if (decoded_ != next_) std::memmove(decoded_, next_, count);
  decoded_ += count;
  next_ = plain;
  return count > 0;
}

void TraceText::skip_space() {
  do {
    for (;; ++next_) {
      if (*next_ == ' ') continue;
      if (*next_ == '\n') {
        last_line_ = line_;
        line_ = {line_.number + 1, size() + 1, 0};
      } else if (*next_ != '\r' && *next_ != '\t') {
        break;
      }
    }
    if (next_ != end_) break;
    read_more();
  } while (!at_end_);
  if (next_ - buffer_.get() < static_cast<std::ptrdiff_t>(read_at_once)) return;
  before_ = size();
  end_ = std::copy(next_, end_, buffer_.get());
  *end_ = '\0';
  next_ = buffer_.get();
}

void TraceText::read_more() {
  at_end_ = size() > value_ + longest_value;
  if (at_end_)
    refuse_at(last_place(), fmt::format("a single value is longer than {} MB", longest_value / 1'000'000),
              "check whether the file is damaged: no program writes such a value");
  const auto count = file_.read(end_, read_at_once);
  at_end_ = count == 0;
  end_ += count;
  *end_ = '\0';
}

Position TraceText::last_position() const {
  const auto& line = size() == line_.begin && !at_end_ ? last_line_ : line_;
  // A byte that continues a character has the column after it.
  const bool is_after = at_end_ || size() == 0 || (next_ != buffer_.get() && !starts_character(next_[-1]));
  const auto column = size() - line.begin - line.continued + (is_after ? 1 : 0);
  return {line.number, static_cast<int>(column)};
}

Where TraceText::last_place() const {
  auto where = file_.whole();
  where.line = last_position().line;
  where.column = last_position().column;
  return where;
}

void TraceText::read_to_end() {
  constexpr std::size_t far_enough = 100'000'000;  // A compressed megabyte may decompress to gigabytes.
  for (std::size_t count = 0; !at_end_ && count < far_enough; count += read_at_once)
    at_end_ = file_.read(buffer_.get(), read_at_once) == 0;
}

}  // namespace gradway
