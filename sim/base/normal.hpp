// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace gradway {

/// Half width of the central interval that holds a share of a normal distribution, in standard deviations:
/// 1.645 for 0.9. @pre 0 < share < 1
double normal_half_width(double share);

}  // namespace gradway
