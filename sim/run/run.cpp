// SPDX-License-Identifier: Apache-2.0
#include "sim/run/simulate.hpp"

namespace gradway {

Run::Run() = default;
Run::Run(const Run&) = default;
Run::Run(Run&&) noexcept = default;
Run& Run::operator=(const Run&) = default;
Run& Run::operator=(Run&&) noexcept = default;
Run::~Run() = default;

}  // namespace gradway
