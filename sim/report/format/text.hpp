// SPDX-License-Identifier: Apache-2.0
#pragma once

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

/// The amount in the unit of a scenario that says it exactly: "25 MiB", "100 MB", "1234567 B".
std::string exact_bytes_text(Bytes amount);

/// "306,535,400"
std::string thousands_text(std::int64_t count);

/// "1 node", "8 nodes". @param noun its plural is made with an s
std::string counted_text(std::int64_t count, std::string_view noun);

/// Columns that UTF-8 text takes on a terminal, one a code point. Control sequences of colours take none.
std::size_t columns_of(std::string_view text);

/// The text with every control character escaped but those of our own colours, so that it stays in its line.
std::string one_line(std::string_view text);

/// Text cut in its middle to at most `width` columns: both ends of "node0.gpu0 -> fabric" matter.
std::string fit(std::string_view text, std::size_t width);

/// Text cut at its end to at most `width` columns.
std::string shorten(std::string_view text, std::size_t width);

/// Text in lines of at most `width` columns, broken at blanks where there are any.
/// @pre width > 0
std::vector<std::string> wrap(std::string_view text, std::size_t width);

/// The first sentence, without its full stop. A stop ends a sentence only if a blank follows it.
std::string first_sentence(std::string_view text);

/// A cell of a CSV file, quoted as RFC 4180 says where it must be. A text that a spreadsheet would take for a
/// formula begins with an apostrophe; numbers do not.
std::string csv_cell(const std::string& text);

/// A column of text a value, from the least (▁) to the most (█) in eight levels; values that do not differ
/// in the four digits that a table shows are all ▄. What is not finite is a blank.
std::string sparkline(const std::vector<double>& values);

}  // namespace gradway::report
