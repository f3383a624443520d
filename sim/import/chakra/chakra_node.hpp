// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace gradway {

/// What a node of a Chakra execution trace stands for.
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

/// @source CollectiveCommType, there
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

/// A named value of a node. Simulators read a number by the field it stands in, so its type counts.
struct ChakraAttribute {
  using Value = std::variant<double, std::int32_t, std::int64_t, std::uint64_t, bool, std::string>;
  std::string name;
  Value value;

  bool operator==(const ChakraAttribute&) const = default;
};

/// A piece of work of one rank, and what it waits for.
struct ChakraNode {
  std::uint64_t id = 0;
  std::string name;
  ChakraType type = ChakraType::invalid;
  std::vector<std::uint64_t> ctrl_deps{};
  std::vector<std::uint64_t> data_deps{};
  std::uint64_t start_micros = 0;
  std::uint64_t duration_micros = 0;
  std::vector<ChakraAttribute> attributes{};  ///< those with a single value; lists are left out

  /// Null if there is none of that name.
  const ChakraAttribute::Value* find(std::string_view attribute) const;
  /// A whole number that is not negative, of whatever type; `otherwise` if there is none.
  std::uint64_t whole(std::string_view attribute, std::uint64_t otherwise) const;

  bool operator==(const ChakraNode&) const = default;
};

// Attributes that gradway adds to those of Chakra: what it needs to read its own traces back exactly.
inline constexpr auto exact_duration = "gradway_duration_ns";  ///< double: Chakra's are whole microseconds
inline constexpr auto kernel_class = "gradway_kernel_class";   ///< string: "matrix", "attention", "memory"
inline constexpr auto step_phase = "gradway_phase";            ///< string: "forward", "backward", "optimizer"

}  // namespace gradway
