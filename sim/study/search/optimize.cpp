// SPDX-License-Identifier: Apache-2.0
#include "sim/study/search/optimize.hpp"

#include "sim/base/contract.hpp"
#include "sim/study/search/search_ddp.hpp"
#include "sim/study/search/search_sharded.hpp"

namespace gradway {

Seconds time_per_sample(const Job& job, const Tried& tried) {
  return tried.metrics.step_time / job.samples();
}

Choice choice_of(const Job& job, const Tried& tried) {
  return {time_per_sample(job, tried).value(), tried.metrics.step_time, tried.errors};
}

Strategy family_of(Strategy strategy) {
  if (auto* ddp = std::get_if<Ddp>(&strategy)) {
    ddp->bucket_cap.reset();
    ddp->static_graph = false;
  } else if (auto* fsdp = std::get_if<Fsdp>(&strategy)) {
    fsdp->forward_prefetch = fsdp->backward_prefetch = 0;
  } else if (auto* fsdp1 = std::get_if<Fsdp1>(&strategy)) {
    fsdp1->forward_prefetch = Fsdp1{}.forward_prefetch;
    fsdp1->backward_prefetch = Fsdp1{}.backward_prefetch;
  }
  return strategy;
}

SearchResult optimize(const SearchSpace& space, const std::string& engine, const ForEach& for_each) {
  const auto kind = space.jobs.front().job.strategy.index();
  for (const auto& job : space.jobs)
    expects(job.job.strategy.index() == kind, "every job of the search has the same kind of strategy");
  const bool is_ddp = std::holds_alternative<Ddp>(space.jobs.front().job.strategy);
  return is_ddp ? search_ddp(space, engine, for_each) : search_sharded(space, engine, for_each);
}

}  // namespace gradway
