// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace gradway::wasm {

/// Names of the files that the page has, each but the last followed by a NUL. Those that start with '/'
/// belong to the installed data, such as "/models/vit_l_32.yaml"; others are the user's, relative to the
/// working folder.
void give_names(std::string_view list);

}  // namespace gradway::wasm
