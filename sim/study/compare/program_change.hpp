// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/compute/memory_range.hpp"
#include "sim/study/ask/ask.hpp"

namespace gradway {

/// What a module of a model costs a GPU in a step.
struct ModuleCost {
  Seconds kernels{};            ///< of the forward and the backward pass
  Seconds launches{};           ///< CPU time to issue them
  int operations = 0;           ///< kernels that are launched
  std::int64_t parameters = 0;  ///< trained numbers: what optimizer states, gradients and messages grow with

  bool operator==(const ModuleCost&) const = default;
};

/// A module, or the modules of all blocks that differ in their numbers only: "transformer.h.*.attn.c_attn".
struct ModuleChange {
  std::string name;
  ModuleCost before;
  ModuleCost after;
};

/// Kernels of one kind, in any size, that only one of two programs has: "rows layer_norm bf16".
struct KernelChange {
  std::string kernel;
  int removed = 0;
  int added = 0;
  Seconds time_removed{};
  Seconds time_added{};

  Seconds difference() const { return time_added - time_removed; }
};

/// The prediction of one of two states of a program.
struct ProgramCost {
  std::string name;  ///< of its file
  Job job;
  Answer answer;
  MemoryUse memory;  ///< of the GPU with the largest need
  MemoryRange memory_range;
};

/// Whether the step becomes shorter or longer by more than the errors that two predictions do not share.
enum class ChangeSign : std::uint8_t { equal, tied, faster, slower };
inline constexpr std::array<std::string_view, 4> change_sign_words{"equal", "tied", "faster", "slower"};
constexpr std::string_view name_of(ChangeSign sign) {
  return change_sign_words[static_cast<std::size_t>(sign)];
}

/// What a change of a program costs.
struct ProgramChange {
  ProgramCost before;
  ProgramCost after;
  /// Time of a sample after the change over that before it. With equal batches that of the steps.
  Expected ratio;
  ChangeSign sign = ChangeSign::equal;
  std::vector<ModuleChange> modules{};  ///< that differ, the largest difference of kernel times first
  std::vector<KernelChange> kernels{};  ///< the same
  /// Whether the job fits into the GPU's memory before and does not after.
  bool no_longer_fits() const;
};

/// Predicts both states of a program and their difference. They are predictions of one program, so all errors
/// are shared except those of kernels and launches that only one of them has (decision 0016).
/// @throws ConfigError, SimulationError as `ask` does
ProgramChange program_change(Scenario before, Scenario after, const AskOptions& options);

}  // namespace gradway
