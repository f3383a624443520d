// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/import/chakra/chakra_node.hpp"

namespace gradway {

/// Reads an execution trace of MLCommons Chakra, one rank's: in Protocol Buffers (a GlobalMetadata, then
/// Nodes, each behind its length) or in the JSON that Chakra's jsonizer makes of it.
/// @param shown the file's name in messages
/// @throws ConfigError if it cannot be read or is no such trace
/// @source et_def.proto and protolib of MLCommons Chakra
std::vector<ChakraNode> read_chakra(const std::filesystem::path& file, const std::string& shown);

/// The same of its bytes.
std::vector<ChakraNode> chakra_nodes(std::string_view content, const std::string& shown);

/// What `read_chakra` reads back, in Protocol Buffers. @param version of the schema's metadata
std::string chakra_bytes(std::span<const ChakraNode> nodes, std::string_view version = "0.0.4");

}  // namespace gradway
