// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sim/samples/samples.hpp"

namespace gradway {

/// What copies at once share, from patterns of copies and the links of copies alone.
///
/// A pattern whose slowest copy takes over 5 % longer than alone met a limit: a part that at least two of its
/// copies use, that no other pattern got more through (by over 5 %), and of several such parts the one that
/// most of its copies use, then the narrowest; if there is none, something that just these copies share. A
/// part gets what its patterns got through it: of those that it limited the one with the most copies, else
/// the most that was seen. Parts are alike on all GPUs.
///
/// Copies at the pace of the slowest: exact if all were slowed alike, else the least that the part can, and
/// `most`, the sum of the rates, the most.
std::vector<SharedLimit> fit_shared_limits(const std::vector<PatternRow>& patterns,
                                           const std::vector<CopyRow>& copies,
                                           const std::vector<LinkRate>& links);

/// Time of the slowest copy of a pattern: its time alone, or its share of what the parts let through.
/// @return nothing if one of the copies was not measured alone
std::optional<Seconds> pattern_time(const PatternRow& pattern, const std::vector<LinkRate>& links,
                                    const std::vector<SharedLimit>& limits);

}  // namespace gradway
