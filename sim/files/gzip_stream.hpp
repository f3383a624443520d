// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <iosfwd>

namespace gradway {

/// Writes text compressed by gzip. The same text gives the same bytes: the stream contains neither a name nor
/// a time.
/// @param write receives the stream for the text
void write_gzip(std::ostream& out, const std::function<void(std::ostream&)>& write);

}  // namespace gradway
