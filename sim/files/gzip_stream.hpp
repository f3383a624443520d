// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <iosfwd>

namespace gradway {

/// Writes text compressed by gzip: the same bytes for the same text, without a name or a time in them.
/// @param write is given the stream for the text
void write_gzip(std::ostream& out, const std::function<void(std::ostream&)>& write);

}  // namespace gradway
