// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace gradway::wasm {

/// Hands over a file, which replaces one of that name. Names that start with '/' belong to the installed
/// data, such as "/models/vit_l_32.yaml"; others are the user's, relative to the working folder.
void give_file(const std::string& name, std::string text);

}  // namespace gradway::wasm
