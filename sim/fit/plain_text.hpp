// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace gradway {

/// One line of plain characters, without blanks at its ends: what a probe read may hold anything.
std::string plain_line(std::string_view text);

/// Text in lines of at most 118 characters, each behind `start`, broken at blanks.
std::string wrapped(std::string_view start, std::string_view text);

}  // namespace gradway
