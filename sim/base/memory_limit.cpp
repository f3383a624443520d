// SPDX-License-Identifier: Apache-2.0
#include "sim/base/memory_limit.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>

namespace gradway {

Bytes memory_limit() {
  const auto pages = static_cast<double>(sysconf(_SC_PHYS_PAGES));
  Bytes most{pages * static_cast<double>(sysconf(_SC_PAGE_SIZE))};
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
    most = std::min(most, Bytes{static_cast<double>(limit.rlim_cur)});
  return most;
}

}  // namespace gradway
