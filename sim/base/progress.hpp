// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string_view>

namespace gradway {

/// Is told what long work is at, and how much of that is done (from 0 to 1) where it can be told. Called
/// often and by one thread; empty if nobody wants to know.
using ProgressCallback = std::function<void(std::string_view what, std::optional<double> done)>;

inline void report_progress(const ProgressCallback& on_progress, std::string_view what,
                            std::optional<double> done = {}) {
  if (on_progress) on_progress(what, done);
}

}  // namespace gradway
