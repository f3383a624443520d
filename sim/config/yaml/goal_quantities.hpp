// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/base/units.hpp"
#include "sim/config/yaml/node.hpp"

namespace gradway::config {

// Parsers for what people ask of a whole training, in their own words. All refuse what is not finite or too
// small to mean anything.

double tokens(const Node& node);          ///< "300B", "1.5T", "300 billion tokens", "2e9"
double samples(const Node& node);         ///< "90M", "1,200,000", "1.2e9 samples"
Seconds time_span(const Node& node);      ///< "14 days", "36 h", "2 weeks", "1 d 12 h"
Seconds pause_or_none(const Node& node);  ///< "0 s", "250 ms", "5 min"
double dollars(const Node& node);         ///< "100k USD", "$1.5M", "100,000 dollars"
double share(const Node& node);           ///< "5 %" of something: not more than all
double egress_price(const Node& node);    ///< "0.09 USD/GB"
double grid_intensity(const Node& node);  ///< "380 g/kWh"

}  // namespace gradway::config
