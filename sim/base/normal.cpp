// SPDX-License-Identifier: Apache-2.0
#include "sim/base/normal.hpp"

#include <boost/math/distributions/normal.hpp>

#include "sim/base/contract.hpp"

namespace gradway {

double normal_half_width(double share) {
  expects(share > 0 && share < 1, "the share of a central interval must be between 0 and 1");
  return boost::math::quantile(boost::math::normal{}, (1 + share) / 2);
}

}  // namespace gradway
