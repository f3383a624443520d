// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstdint>

#include "readers/nsys/nsys.hpp"

namespace gradway {
namespace {

struct Capability {
  std::int64_t major;
  std::int64_t minor;
  std::int64_t threads;     ///< Per multiprocessor.
  std::int64_t shared_kib;  ///< Shared memory per multiprocessor.
};
constexpr std::array capabilities{Capability{7, 0, 2048, 96},   Capability{7, 5, 1024, 64},
                                  Capability{8, 0, 2048, 164},  Capability{8, 6, 1536, 100},
                                  Capability{8, 9, 1536, 100},  Capability{9, 0, 2048, 228},
                                  Capability{10, 0, 2048, 228}, Capability{12, 0, 1536, 100}};
constexpr std::int64_t registers = 65'536;  // The same for all capabilities.

}  // namespace

RawDevice limits_of_capability(std::int64_t major, std::int64_t minor) {
  RawDevice device;
  device.major = major;
  device.minor = minor;
  const auto* const match = std::ranges::find_if(capabilities, [&](const Capability& candidate) {
    return candidate.major == major && candidate.minor == minor;
  });
  if (match == capabilities.end()) return device;
  device.threads = match->threads;
  device.registers = registers;
  device.shared = match->shared_kib * 1024;
  return device;
}

}  // namespace gradway
