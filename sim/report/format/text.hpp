// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/units.hpp"

namespace gradway::report {

// Numbers for people: at most four digits and the unit that fits. Files hold full precision instead.

std::string time_text(Seconds time);                          ///< "91.93 ms"
std::string range_text(Seconds low, Seconds high);            ///< "674.3 to 738.1 ms"
std::string bytes_text(Bytes amount);                         ///< "1.226 GB", powers of ten
std::string rate_text(BytesPerSecond rate);                   ///< "450 GB/s"
std::string count_text(double count, std::string_view unit);  ///< "4.41 GFLOP", "1.5 k" without a unit
std::string percent_text(double fraction);                    ///< "12.3 %"
std::string signed_percent_text(double fraction);             ///< "+1.25 %", "-0.50 %"

/// The exact amount in the largest unit of scenario files that allows it: "25 MiB", "100 MB", "1234567 B".
std::string exact_bytes_text(Bytes amount);

/// "306,535,400"
std::string thousands_text(std::int64_t count);
std::string thousands_text(std::unsigned_integral auto count) {
  return thousands_text(static_cast<std::int64_t>(count));
}

/// The number with `digits` digits, but all digits before the point: "98.7", "123,456".
std::string digits_text(double value, int digits);

/// "1 node", "8 nodes". @param noun forms its plural with an s
std::string counted_text(std::int64_t count, std::string_view noun);
std::string counted_text(std::unsigned_integral auto count, std::string_view noun) {
  return counted_text(static_cast<std::int64_t>(count), noun);
}

/// Columns that UTF-8 text occupies on a terminal, one per code point. Colour sequences occupy none.
std::size_t columns_of(std::string_view text);

/// The text on one line: control characters are escaped, except for our own colour sequences.
std::string one_line(std::string_view text);

/// Text cut in its middle to at most `width` columns, because both ends of "node0.gpu0 -> fabric" matter.
std::string fit(std::string_view text, std::size_t width);

/// Text cut at its end to at most `width` columns.
std::string shorten(std::string_view text, std::size_t width);

/// Text in lines of at most `width` columns, broken at blanks if possible.
/// @pre width > 0
std::vector<std::string> wrap(std::string_view text, std::size_t width);

/// The first sentence, without its full stop. A stop ends a sentence only if a blank follows it.
std::string first_sentence(std::string_view text);

/// A cell of a CSV file, quoted where RFC 4180 requires it. Text that a spreadsheet would evaluate as a
/// formula gets a leading apostrophe; numbers do not.
std::string csv_cell(const std::string& text);

/// One character per value, from the smallest (▁) to the largest (█) in eight levels. Values that agree in
/// the four digits that tables show are all ▄. Infinite values and NaN are blank.
std::string sparkline(const std::vector<double>& values);

}  // namespace gradway::report
