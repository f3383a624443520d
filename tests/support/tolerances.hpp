// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace gradway::tolerance {

/// For closed forms and the agreement of two engines, which differ by rounding only.
constexpr double closed_form = 1e-9;

}  // namespace gradway::tolerance
