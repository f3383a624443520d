// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/base/units.hpp"
#include "sim/config/yaml/node.hpp"

namespace gradway::config {

// Parsers for quantities of a whole training, which accept everyday notation. All reject infinite and
// implausible values.

double tokens(const Node& node);          ///< "300B", "1.5T", "300 billion tokens", "2e9"
double samples(const Node& node);         ///< "90M", "1,200,000", "1.2e9 samples"
Seconds time_span(const Node& node);      ///< "14 days", "36 h", "2 weeks", "1 d 12 h"
Seconds pause_or_none(const Node& node);  ///< "0 s", "250 ms", "5 min"
double dollars(const Node& node);         ///< "100k USD", "$1.5M", "100,000 dollars"
double percentage(const Node& node);      ///< "5 %", at most 100,000 %
double share(const Node& node);           ///< "5 %", at most 100 %
double egress_price(const Node& node);    ///< "0.09 USD/GB"
double grid_intensity(const Node& node);  ///< "380 g/kWh"

}  // namespace gradway::config
