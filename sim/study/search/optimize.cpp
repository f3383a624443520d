// SPDX-License-Identifier: Apache-2.0
#include "sim/study/search/optimize.hpp"

#include "sim/base/contract.hpp"
#include "sim/scenario/strategy_facts.hpp"
#include "sim/study/search/search.hpp"

namespace gradway {

Seconds time_per_sample(const Job& job, const SettingResult& tried) {
  return tried.metrics.step_time / job.samples();
}

Choice choice_of(const Job& job, const SettingResult& tried) {
  return tried.choice(time_per_sample(job, tried).value());
}

namespace {

/// Resets the settings in which members of a family differ.
struct ResetFamilySettings {
  void operator()(NoExchange&) const {}
  void operator()(OneCollective&) const {}
  void operator()(Ddp& ddp) const {
    ddp.bucket_cap.reset();
    ddp.static_graph = false;
  }
  void operator()(Fsdp& fsdp) const { fsdp.forward_prefetch = fsdp.backward_prefetch = 0; }
  void operator()(Fsdp1& fsdp) const {
    fsdp.forward_prefetch = Fsdp1{}.forward_prefetch;
    fsdp.backward_prefetch = Fsdp1{}.backward_prefetch;
  }
  void operator()(Zero&) const {}
  void operator()(DistributedOptimizer&) const {}
};

}  // namespace

Strategy family_of(Strategy strategy) {
  std::visit(ResetFamilySettings{}, strategy);
  return strategy;
}

SearchResult optimize(const SearchSpace& space, const std::string& engine, const ForEach& for_each) {
  const auto kind = space.jobs.front().job.strategy.index();
  for (const auto& job : space.jobs)
    expects(job.job.strategy.index() == kind, "every job of the search has the same kind of strategy");
  return is_ddp(space.jobs.front().job.strategy) ? search_ddp(space, engine, for_each)
                                                 : search_sharded(space, engine, for_each);
}

}  // namespace gradway
