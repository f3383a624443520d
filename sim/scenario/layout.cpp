// SPDX-License-Identifier: Apache-2.0
#include "sim/scenario/layout.hpp"

namespace gradway {

RankPlace place_of(const Layout& layout, int data, int rank) {
  RankPlace place;
  const auto take = [&](int size) {
    const int at = rank % size;
    rank /= size;
    return at;
  };
  for (const auto axis : layout.order) {
    if (axis == RankAxis::tensor) place.tensor = take(layout.tensor);
    if (axis == RankAxis::data) place.data = take(data);
    if (axis == RankAxis::pipeline) place.pipeline = take(layout.pipeline);
  }
  return place;
}

}  // namespace gradway
