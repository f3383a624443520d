// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "sim/plan/sync.hpp"

namespace gradway {

/// Position of a task in the model.
struct ModulePosition {
  std::int32_t block = Blocks::none;
  std::int32_t layer = Task::none;

  /// Moves to the next task's position: calls `leave` for modules that end and `enter` for modules that
  /// begin.
  template <class Leave, class Enter>
  void go_to(ModulePosition next, const Leave& leave, const Enter& enter) {
    const bool other_block = next.block != block;
    const bool other_layer = other_block || next.layer != layer;
    if (other_layer && layer != Task::none) leave(Module{Module::Kind::layer, layer});
    if (other_block && block != Blocks::none) leave(Module{Module::Kind::block, block});
    if (other_block && next.block != Blocks::none) enter(Module{Module::Kind::block, next.block});
    if (other_layer && next.layer != Task::none) enter(Module{Module::Kind::layer, next.layer});
    *this = next;
  }
};

}  // namespace gradway
