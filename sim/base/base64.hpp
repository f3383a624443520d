// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace gradway {

/// Bytes as text in base64 with padding (RFC 4648, section 4).
std::string base64(std::string_view bytes);

}  // namespace gradway
