// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "readers/kineto/kineto.hpp"

namespace gradway {

/// Kind of a node of a Chakra execution trace.
/// @source NodeType in et_def.proto of MLCommons Chakra
enum class ChakraType : std::uint8_t {
  invalid = 0,
  metadata = 1,
  mem_load = 2,
  mem_store = 3,
  compute = 4,
  send = 5,
  receive = 6,
  collective = 7,
};

/// @source CollectiveCommType in et_def.proto of MLCommons Chakra
enum class ChakraCollective : std::uint8_t {
  all_reduce = 0,
  reduce = 1,
  all_gather = 2,
  gather = 3,
  scatter = 4,
  broadcast = 5,
  all_to_all = 6,
  reduce_scatter = 7,
};

/// A named value of a node. Simulators read a number from the field of its type, so the type matters.
struct ChakraAttribute {
  using Value = std::variant<double, std::int32_t, std::int64_t, std::uint64_t, bool, std::string>;
  std::string name;
  Value value;

  bool operator==(const ChakraAttribute&) const = default;
};

/// A unit of work of one rank, and its dependencies.
struct ChakraNode {
  std::uint64_t id = 0;
  std::string name;
  ChakraType type = ChakraType::invalid;
  std::vector<std::uint64_t> ctrl_deps{};
  std::vector<std::uint64_t> data_deps{};
  std::uint64_t start_micros = 0;
  std::uint64_t duration_micros = 0;
  std::vector<ChakraAttribute> attributes{};  ///< Attributes with a single value; lists are ignored.

  /// Value of the attribute; null if there is none.
  const ChakraAttribute::Value* find(std::string_view attribute) const;
  /// A non-negative integer attribute of any integer type; `otherwise` if there is none.
  std::uint64_t whole(std::string_view attribute, std::uint64_t otherwise) const;

  bool operator==(const ChakraNode&) const = default;
};

// Attributes that gradway adds to Chakra's, to read its own traces back exactly.
/// A double: Chakra's durations are whole microseconds.
inline constexpr auto exact_duration = "gradway_duration_ns";
inline constexpr auto kernel_class = "gradway_kernel_class";  ///< "matrix", "attention" or "memory".
inline constexpr auto step_phase = "gradway_phase";           ///< "forward", "backward" or "optimizer".

/// Reads the execution trace of one rank by MLCommons Chakra: in Protocol Buffers (a GlobalMetadata, then
/// Nodes, each after its length) or in the JSON of Chakra's jsonizer.
/// @param shown the file's name in messages
/// @throws ConfigError if it cannot be read or is not such a trace
/// @source et_def.proto and protolib of MLCommons Chakra
std::vector<ChakraNode> read_chakra(const std::filesystem::path& file, const std::string& shown);

/// The same for the contents of a file.
std::vector<ChakraNode> chakra_nodes(std::string_view content, const std::string& shown);

/// The nodes in Protocol Buffers, which `read_chakra` reads back. @param version of the schema, in the
/// metadata
std::string chakra_bytes(std::span<const ChakraNode> nodes, std::string_view version = "0.0.4");

/// Imports the Chakra execution trace of a data-parallel rank as a profile. Its compute nodes on the GPU are
/// the launches, in an order in which they can run. Each all-reduce or reduce-scatter is a gradient. The
/// trace does not contain the GPU, the batch size and the optimizer: the first two must be given, and the
/// profile assumes sgd. CPU launches are not in the trace either and cost nothing. Phases come from an
/// attribute of the nodes, or from their names ("...Backward...", "optimizer").
/// @param shown the file's name in messages
/// @throws ConfigError if the trace is not such a step: no compute nodes, no backward pass, no reduction,
/// cyclic or missing dependencies, or ranks that exchange more than gradients
ImportedProfile import_chakra(std::span<const ChakraNode> nodes, const std::string& shown,
                              const ImportOptions& options);

}  // namespace gradway
