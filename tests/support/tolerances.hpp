// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace gradway::tolerance {

/// Closed forms and the agreement of two engines: only rounding may differ.
constexpr double closed_form = 1e-9;

}  // namespace gradway::tolerance
