// SPDX-License-Identifier: Apache-2.0
#include "sim/base/normal.hpp"

#include <boost/math/distributions/normal.hpp>

#include "sim/base/contract.hpp"

namespace gradway {
namespace {

/// Computes in double precision. By default Boost promotes to long double, whose tables it fills when the
/// program starts; valgrind has 64 bits for these numbers, so that the program would not start there.
using Normal = boost::math::normal_distribution<
    double, boost::math::policies::policy<boost::math::policies::promote_double<false>>>;

}  // namespace

double normal_half_width(double share) {
  expects(share > 0 && share < 1, "the share of a central interval must be between 0 and 1");
  return boost::math::quantile(Normal{}, (1 + share) / 2);
}

}  // namespace gradway
