// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "readers/fit/fit.hpp"
#include "sim/config/config.hpp"
#include "tests/support/config_files.hpp"
#include "tests/support/samples.hpp"

using namespace gradway;
using namespace gradway::test;

namespace {

constexpr double five_digits = 1e-4;

/// Writes a calibration into a temporary folder and reads it.
Calibration read_back(const std::string& text) {
  const auto folder = std::filesystem::temp_directory_path() / "gradway-calibration-file-test";
  std::filesystem::create_directories(folder);
  const auto file = folder / "back.yaml";
  std::ofstream{file} << text;
  const auto calibration = load_calibration(file.string(), {});
  std::filesystem::remove_all(folder);
  return calibration;
}

void check_same(const std::vector<SizedTime>& a, const std::vector<SizedTime>& b) {
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    CHECK(a[i].size == b[i].size);
    CHECK(a[i].time.value() == Approx(b[i].time.value()).epsilon(five_digits));
  }
}

void check_same(const std::vector<CollectiveTable>& a, const std::vector<CollectiveTable>& b) {
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    CAPTURE(i);
    CHECK(a[i].transport == b[i].transport);
    CHECK(a[i].kind == b[i].kind);
    CHECK(a[i].algorithm == b[i].algorithm);
    CHECK(a[i].protocol == b[i].protocol);
    CHECK(a[i].ranks == b[i].ranks);
    CHECK(a[i].samples == b[i].samples);
    CHECK(a[i].predicted_from == b[i].predicted_from);
    CHECK(a[i].latency.value() == Approx(b[i].latency.value()).epsilon(five_digits));
    CHECK(a[i].bandwidth.value() == Approx(b[i].bandwidth.value()).epsilon(five_digits));
    CHECK(a[i].residual.has_value() == b[i].residual.has_value());
    CHECK(a[i].interpolation.has_value() == b[i].interpolation.has_value());
    if (a[i].interpolation && b[i].interpolation)
      CHECK(a[i].interpolation->worst == Approx(b[i].interpolation->worst).margin(6e-4));
    check_same(a[i].points, b[i].points);
    check_same(a[i].outliers, b[i].outliers);
  }
}

}  // namespace

TEST_CASE("a written fit is unchanged after reading", "[fit]") {
  auto samples = shipped_samples();
  std::erase_if(samples.collectives, [](const auto& row) { return row.transport == Transport::shm; });
  auto calibration = fit(samples, {"a \"node\": #1, with \\ and\nanother line", "2026-11-21"}, {});
  calibration.contention = {{.transport = Transport::shm,
                             .precision = Precision::bf16,
                             .ranks = 4,
                             .channels = 24,
                             .kernel_slowdown = 1.131,
                             .collective_slowdown = 1.017,
                             .measured_on = "elsewhere",
                             .source = "own"}};

  const auto back = read_back(text_of(calibration));

  CHECK(back.name == "back");
  CHECK(back.source == calibration.source);
  CHECK(back.date == "2026-11-21");
  check_same(back.tables, calibration.tables);
  REQUIRE(back.links.size() == calibration.links.size());
  for (std::size_t i = 0; i < back.links.size(); ++i) {
    CHECK(back.links[i].role == calibration.links[i].role);
    CHECK(back.links[i].gpus == calibration.links[i].gpus);
    CHECK(back.links[i].bandwidth.value() ==
          Approx(calibration.links[i].bandwidth.value()).epsilon(five_digits));
    CHECK(back.links[i].latency.value() == Approx(calibration.links[i].latency.value()).epsilon(five_digits));
    CHECK(back.links[i].largest == calibration.links[i].largest);
  }
  REQUIRE(back.kernels.matrix.size() == calibration.kernels.matrix.size());
  CHECK(back.kernels.matrix[1].rate.value() ==
        Approx(calibration.kernels.matrix[1].rate.value()).epsilon(1e-3));
  CHECK(back.kernels.memory.size() == calibration.kernels.memory.size());
  CHECK(back.kernels.optimizers.size() == calibration.kernels.optimizers.size());
  CHECK(back.kernels.attention.size() == calibration.kernels.attention.size());
  CHECK(back.kernels.launches.size() == calibration.kernels.launches.size());
  REQUIRE(back.holdout_errors.size() == calibration.holdout_errors.size());
  CHECK(back.holdout_errors[0].rows == calibration.holdout_errors[0].rows);
  CHECK(back.holdout_errors[0].error.worst == Approx(calibration.holdout_errors[0].error.worst).margin(6e-4));
  REQUIRE(back.contention.size() == 1);
  CHECK(back.contention[0].channels == 24);
  CHECK(back.contention[0].ranks == 4);
  CHECK(back.contention[0].measured_on == "elsewhere");
  REQUIRE(back.samples);
  CHECK(back.samples->digest == calibration.samples->digest);
  CHECK(back.samples->files == calibration.samples->files);
}

TEST_CASE("keys of a calibration with their names of gradway 0.2 are read", "[fit]") {
  auto calibration = fit(shipped_samples(), {"ours", "2026-11-21"}, {});
  calibration.contention = {{.transport = Transport::shm,
                             .precision = Precision::bf16,
                             .ranks = 4,
                             .channels = 24,
                             .kernel_slowdown = 1.131,
                             .collective_slowdown = 1.017,
                             .measured_on = "elsewhere",
                             .source = "own"}};
  calibration.tables.front().uncertainty = 0.2;
  const auto text = text_of(calibration);
  auto former = text;
  for (const auto& [name, former_name] :
       {std::pair{"\ncontention:", "\nside_by_side:"}, std::pair{" uncertainty: ", " doubt: "}}) {
    const auto place = former.find(name);
    REQUIRE(place != std::string::npos);
    former.replace(place, std::string{name}.size(), former_name);
  }
  const auto back = read_back(former);
  CHECK(back.tables.front().uncertainty == 0.2);
  CHECK(back.contention.size() == 1);
  CHECK(text_of(back) == text_of(read_back(text)));
}

TEST_CASE("the shipped calibration of the 4 H200 is the fit of the shipped samples", "[fit]") {
  const auto shipped = load_calibration("h200-4x-tables", DataPath{{GRADWAY_SOURCE_DIR}});
  // 132 multiprocessors; NCCL's kernel runs 24 blocks over NVLink, 4 over host memory
  const NodeFacts node{132, {{{Transport::p2p, 2}, 24}, {{Transport::p2p, 4}, 24}, {{Transport::shm, 4}, 4}}};
  const auto fitted = fit(shipped_samples(), {shipped.source, shipped.date}, node);

  check_same(shipped.tables, fitted.tables);
  REQUIRE(shipped.contention.size() == fitted.contention.size());
  for (std::size_t i = 0; i < fitted.contention.size(); ++i) {
    CHECK(shipped.contention[i].transport == fitted.contention[i].transport);
    CHECK(shipped.contention[i].channels == fitted.contention[i].channels);
    CHECK(shipped.contention[i].kernel_slowdown == Approx(fitted.contention[i].kernel_slowdown));
    CHECK(shipped.contention[i].collective_slowdown == Approx(fitted.contention[i].collective_slowdown));
  }
  CHECK(shipped.links.size() == fitted.links.size());
  CHECK(shipped.holdout_errors.size() == fitted.holdout_errors.size());
  REQUIRE(shipped.samples);
  CHECK(shipped.samples->digest == fitted.samples->digest);
  CHECK(shipped.samples->files == fitted.samples->files);
}

TEST_CASE("the same samples give the same bytes, and a changed sample another digest", "[fit]") {
  const auto first = fit(shipped_samples(), {"x", "2026-11-21"}, {});
  CHECK(text_of(first) == text_of(fit(shipped_samples(), {"x", "2026-11-21"}, {})));
  auto file = shipped_file("copies.json");
  const auto digest = read_samples({file}).origin.digest;
  file.content += "\n";
  CHECK(read_samples({file}).origin.digest != digest);
}

TEST_CASE("samples without rows to fit are refused", "[fit][errors]") {
  const auto samples =
      read_samples({{"a.json", R"([{"kind": "note", "section": "copies", "what": "throttled"}])"}});
  CHECK(message_of([&] {
          return fit(samples, {"x", "2026-11-21"}, {});
        }) ==
        "error: the samples contain no row to which a calibration can be fitted\n"
        "  hint: measure collectives first: a prediction needs rows of all_reduce\n");
}
