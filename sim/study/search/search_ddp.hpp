// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/study/search/optimize.hpp"

namespace gradway {

/// `optimize` for jobs of DDP.
SearchResult search_ddp(const SearchSpace& space, const std::string& engine, const ForEach& for_each);

}  // namespace gradway
