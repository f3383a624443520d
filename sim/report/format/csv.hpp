// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace gradway::report {

/// A cell of a CSV file, quoted as RFC 4180 says where it must be. A text that a spreadsheet would take for a
/// formula begins with an apostrophe; numbers do not.
std::string csv_cell(const std::string& text);

}  // namespace gradway::report
