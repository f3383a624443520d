// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <sstream>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "observe/acceptance/acceptance.hpp"
#include "readers/samples/read_samples.hpp"
#include "sim/base/problem.hpp"
#include "sim/config/config.hpp"

using namespace gradway;
using Catch::Matchers::Contains;

namespace {

const DataPath data{{GRADWAY_SOURCE_DIR}};

DiagnosisBasis basis_of(const std::string& platform, int gpus) {
  DiagnosisBasis basis;
  basis.platform_name = platform;
  basis.platform = load_platform(platform, gpus, data, &basis.calibration);
  basis.nccl.nvls = false;
  return basis;
}

Samples machine(int number) {
  const auto file =
      fmt::format("{}/calibration/results/h200-4x/samples/machine-{}.json.gz", GRADWAY_SOURCE_DIR, number);
  return read_samples({read_sample_file(file)});
}

const AcceptanceCheck& check_named(const Acceptance& acceptance, std::string_view name,
                                   std::string_view part = "") {
  const auto check = std::ranges::find_if(acceptance.checks, [&](const AcceptanceCheck& each) {
    return each.name == name && each.part.find(part) != std::string::npos;
  });
  REQUIRE(check != acceptance.checks.end());
  return *check;
}

}  // namespace

TEST_CASE("machines of a kind are accepted by the calibration of their kind", "[acceptance]") {
  const auto basis = basis_of("h200-4x-probe", 4);
  for (const int number : {1, 2, 3}) {
    CAPTURE(number);
    const auto acceptance = accept(machine(number), basis, acceptance_table("", ""));
    CHECK(acceptance.passes());
    CHECK_THAT(acceptance.node, Contains("4 x NVIDIA H200, driver 580"));
    for (const auto* const name : {"products", "copies", "peers", "collectives"})
      CHECK(check_named(acceptance, name).share == Approx(1).margin(0.035));
    CHECK(check_named(acceptance, "clocks").verdict == AcceptanceVerdict::unmeasured);
  }
}

TEST_CASE("a part that is slow fails, with the GPU or the operation that is", "[acceptance]") {
  const auto basis = basis_of("h200-4x-probe", 4);
  const auto table = acceptance_table("", "");
  auto samples = machine(1);
  for (auto& copy : samples.copies)
    if (copy.role == LinkRole::to_gpu && copy.gpus == std::vector{2}) copy.time = 2 * copy.time;
  for (auto& row : samples.collectives)
    if (row.kind == CollectiveKind::all_gather && row.transport == Transport::p2p) row.time = 1.2 * row.time;
  samples.remarks.push_back(
      "GPU 3 was slowed by its temperature (by the hardware) in 20 % of the time (load)");
  const auto acceptance = accept(samples, basis, table);
  CHECK_FALSE(acceptance.passes());
  const auto& copies = check_named(acceptance, "copies");
  CHECK(copies.verdict == AcceptanceVerdict::fail);
  CHECK(copies.part == "to_gpu, GPU 2");
  CHECK(copies.share == Approx(0.5).margin(0.02));
  const auto& collectives = check_named(acceptance, "collectives");
  CHECK(collectives.verdict == AcceptanceVerdict::fail);
  CHECK_THAT(collectives.part, Contains("all_gather on "));
  CHECK(check_named(acceptance, "heat").verdict == AcceptanceVerdict::fail);
  CHECK_THAT(check_named(acceptance, "heat").measured, Contains("GPU 3 was slowed by its temperature"));
  CHECK(check_named(acceptance, "products").verdict == AcceptanceVerdict::pass);
}

TEST_CASE("GPUs under the same load are compared with each other", "[acceptance]") {
  auto samples = machine(1);
  for (int gpu = 0; gpu < 4; ++gpu)
    samples.loads.push_back({gpu, gpu == 1 ? 1.8_ms : 1.6_ms, gpu == 1 ? 1.5e9 : 1.7e9, 60.0 + gpu, 690});
  const auto acceptance = accept(samples, basis_of("h200-4x-probe", 4), acceptance_table("", ""));
  const auto& clocks = check_named(acceptance, "clocks");
  CHECK(clocks.part == "GPU 1, 61 C, 690 W");
  CHECK(clocks.measured == "1500 MHz");
  CHECK(clocks.expected == "1700 MHz");
  CHECK(clocks.share == Approx(1.5 / 1.7));
  CHECK(clocks.verdict == AcceptanceVerdict::fail);
  CHECK(check_named(acceptance, "equal_gpus").share == Approx(1.6 / 1.8));
}

TEST_CASE("missing GPUs and parts that were not measured are not accepted", "[acceptance]") {
  auto samples = machine(1);
  samples.nodes.front().gpus.pop_back();
  samples.matrix.clear();
  const auto acceptance = accept(samples, basis_of("h200-4x-probe", 4), acceptance_table("", ""));
  CHECK(check_named(acceptance, "gpus").share == 0.75);
  CHECK(check_named(acceptance, "gpus").verdict == AcceptanceVerdict::fail);
  CHECK(check_named(acceptance, "products").verdict == AcceptanceVerdict::fail);
  std::ostringstream text;
  report::write_acceptance(text, acceptance, {});
  CHECK_THAT(text.str(),
             Contains("products: not measured, but required") && Contains("verdict      FAIL: 2 of "));
}

TEST_CASE("what others demand of a platform is judged beside what is expected", "[acceptance]") {
  const auto table = acceptance_table(
      "# ours\nlimit copies least=0.99\ndemand h200-4x-probe all_reduce=400 to_gpu=50 disk_write=2 "
      "by=contract\n",
      "own");
  auto samples = machine(1);
  samples.host.push_back({"disk write", Bytes{8e9}, 2.0_s});
  const auto acceptance = accept(samples, basis_of("h200-4x-probe", 4), table);
  CHECK(check_named(acceptance, "copies").least == 0.99);
  const auto& all_reduce = check_named(acceptance, "demanded", "all_reduce on 4 ranks");
  CHECK(all_reduce.verdict == AcceptanceVerdict::fail);  // 353 GB/s
  CHECK(all_reduce.source == "contract");
  CHECK(check_named(acceptance, "demanded", "between host and GPU").verdict == AcceptanceVerdict::pass);
  CHECK(check_named(acceptance, "demanded", "disk write").measured == "4 GB/s");
  CHECK_THROWS_WITH(acceptance_table("limit copies\n", "own"),
                    Contains("own:1:1: error: this is no row of thresholds"));
  CHECK_THROWS_WITH(acceptance_table("\nlimit speed least=1\n", "own"), Contains("own:2:1"));
  CHECK_THROWS_WITH(acceptance_table("limit copies least=1 why=\"open\n", "own"), Contains("own:1:1"));
}

TEST_CASE("rows of a load, of host memory and of a disk are read", "[acceptance][samples]") {
  const auto samples = read_samples(
      {{"rows.json",
        R"([{"kind": "load", "gpu": 3, "dtype": "bf16", "seconds": 0.0016, "clock_hz": 1700000000, "celsius": 61, "watts": 690},
            {"kind": "host_memory", "threads": 8, "bytes": 1000000000, "seconds": 0.01},
            {"kind": "disk", "op": "read", "bytes": 1000000000, "seconds": 0.5, "direct": true}])"}});
  REQUIRE(samples.loads.size() == 1);
  CHECK(samples.loads.front().gpu == 3);
  CHECK(samples.loads.front().clock == 1.7e9);
  REQUIRE(samples.host.size() == 2);
  CHECK(samples.host.back().operation == "disk read");
  CHECK(samples.host.back().time == 0.5_s);
}
