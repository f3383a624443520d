// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace gradway::cli {

/// While it lives, the first interrupt (Ctrl-C, SIGINT) is noted, so that long work can end with what it has.
/// The second ends the program.
class InterruptNote {
 public:
  InterruptNote();
  ~InterruptNote();
  InterruptNote(const InterruptNote&) = delete;
  InterruptNote& operator=(const InterruptNote&) = delete;

  static bool is_interrupted();
};

}  // namespace gradway::cli
