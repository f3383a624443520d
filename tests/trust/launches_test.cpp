// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "sim/compute/compute_costs.hpp"
#include "sim/trust/provenance.hpp"
#include "tests/support/profiles.hpp"

using namespace gradway;

TEST_CASE("launch times of a trace are less certain without a measured step time") {
  const auto basis = [](std::optional<Seconds> step_time, Seconds cpu) {
    auto profile = test::even_profile(50, cpu, 10_us, 2_us);
    profile.step_time = step_time;
    const auto scenario = test::profiled_scenario(profile);
    Provenance provenance;
    add_compute_provenance(scenario, compute_costs(scenario), provenance);
    return provenance.step_basis.launches;
  };
  CHECK(basis({}, 2_us) == Basis::elsewhere);
  CHECK(basis({}, 40_us) == Basis::elsewhere);
  CHECK(basis(1200_us, 2_us) == Basis::measured);
  CHECK(basis(2000_us, 40_us) == Basis::measured);
}
