// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/import_formats.hpp"

namespace gradway::cli {
void import_nccl_tests(const ImportArguments&, const Surroundings&) {}
}  // namespace gradway::cli
