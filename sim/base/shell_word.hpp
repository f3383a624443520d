// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace gradway {

/// A word of a command to paste into a shell, quoted if it has characters that a shell would interpret.
/// Control characters and bytes that are not valid UTF-8 are escaped as in bash, zsh and ksh: $'a\x1b'.
std::string shell_word(std::string_view word);

}  // namespace gradway
