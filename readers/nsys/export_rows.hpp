// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "readers/nsys/nsys.hpp"

namespace gradway::nsys {

// Rows of the tables of an export.

/// Thread and start of a call.
using Call = std::pair<std::int64_t, std::int64_t>;

struct Range {
  const NvtxRange* text = nullptr;
  std::int64_t start = 0;
  std::int64_t end = 0;
  std::int64_t thread = 0;
  std::string_view type{};  ///< Type of its operands; empty if no kernel shows it.
};

/// A name in the table StringIds.
struct Name {
  std::string text;
  std::string_view type{};           ///< Type of the operands of a kernel of this name.
  std::optional<NvtxRange> range{};  ///< Set when a range of this name is read.
};

/// A row that begins with its start and end, in nanoseconds.
struct Row {
  std::optional<std::int64_t> start, end;
};
struct CallRow : Row {
  std::int64_t thread = 0;
  std::int64_t correlation = 0;
  std::optional<std::int64_t> name;
};
struct ActivityRow : Row {
  std::int64_t process = 0;
  std::int64_t device = 0;
  std::int64_t stream = 0;
  std::int64_t correlation = 0;
};
struct KernelRow : ActivityRow {
  std::optional<std::int64_t> name;
  std::int64_t blocks = 0;
  std::int64_t threads = 0;
  std::int64_t registers = 0;
  std::int64_t shared = 0;
};
struct TransferRow : ActivityRow {
  std::int64_t bytes = 0;
  std::int64_t kind = 0;
  std::string places;  ///< " (Pageable -> Device)"; empty if unknown.
};

/// Process of a thread: Nsight Systems uses 24 bits for the thread and 24 for its process.
inline std::int64_t process_of(std::int64_t thread) {
  return (thread >> 24) & 0xffffff;
}

/// Sorts by start. Rows without a start come first, where they are rejected.
template <class Rows>
void sort_by_start(Rows& rows) {
  std::ranges::stable_sort(rows, {}, [](const Row& row) { return row.start; });
}

/// "cudaLaunchKernel" from "cudaLaunchKernel_v7000".
inline std::string without_version(const std::string& name) {
  const auto suffix = name.rfind("_v");
  const bool has_version =
      suffix != std::string::npos && name.find_first_not_of("0123456789", suffix + 2) == std::string::npos;
  return has_version ? name.substr(0, suffix) : name;
}

/// @source CUpti_ActivityMemcpyKind
inline std::string_view copy_kind(std::int64_t kind) {
  constexpr std::array<std::string_view, 11> kinds{"Unknown", "HtoD", "DtoH", "HtoA", "AtoH", "AtoA",
                                                   "AtoD",    "DtoA", "DtoD", "HtoH", "PtoP"};
  return kind > 0 && kind < static_cast<std::int64_t>(kinds.size()) ? kinds[static_cast<std::size_t>(kind)]
                                                                    : kinds[0];
}

/// @source table ENUM_CUDA_MEM_KIND of exports
inline std::string_view memory_kind(std::int64_t kind) {
  constexpr std::array<std::string_view, 7> kinds{"Pageable", "Pinned", "Device", "Array",
                                                  "Managed",  "Device", "Managed"};
  return kind >= 0 && kind < static_cast<std::int64_t>(kinds.size()) ? kinds[static_cast<std::size_t>(kind)]
                                                                     : std::string_view{};
}

}  // namespace gradway::nsys
