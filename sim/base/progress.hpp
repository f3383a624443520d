// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string_view>

namespace gradway {

/// Progress callback for long operations: what is being done and, if known, the completed fraction (0 to 1).
/// It is called often and from one thread. May be empty.
using ProgressCallback = std::function<void(std::string_view activity, std::optional<double> done)>;

inline void report_progress(const ProgressCallback& on_progress, std::string_view activity,
                            std::optional<double> done = {}) {
  if (on_progress) on_progress(activity, done);
}

}  // namespace gradway
