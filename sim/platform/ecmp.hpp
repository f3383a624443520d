// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace gradway {

/// Flows that switches hash to uplinks.
struct HashedFlows {
  int flows = 1;    ///< from one switch, of equal rate
  int uplinks = 1;  ///< of the switch
  int groups = 1;   ///< independent hashes of so many flows each, of which all wait for the slowest
};

/// Mean number of flows on the most loaded of all uplinks, if each flow hashes to any uplink of its switch
/// with equal probability, independently of the others: the sum over x of 1 - P(at most x flows on
/// each)^groups. P is exact: numbers of flows by uplink are independent Poisson variables on the condition of
/// their sum. Of more than 2048 flows the excess over the mean grows with the square root of their number, as
/// that of normal variables does.
/// @source static hashing as RFC 2992 describes it; the conditioning: Feller, An Introduction to Probability
///         Theory and Its Applications I, chapter VI
double most_loaded(const HashedFlows& hashed);

/// Share of the uplinks' joint rate that flows reach which wait for the slowest of them.
double hashed_share(const HashedFlows& hashed);

}  // namespace gradway
