// SPDX-License-Identifier: Apache-2.0
// Row groups that a predicate leaves, and reads of memory-mapped samples: closed forms against a count.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

#include "sim/base/random.hpp"
#include "sim/scenario/input.hpp"

using namespace gradway;

namespace {

constexpr Bytes kib{1024};
constexpr Bytes mib{1048576};

/// Share of groups of `group` rows that have a matching row, counted.
double counted(const std::vector<bool>& matches, std::size_t group) {
  std::size_t touched = 0;
  std::size_t groups = 0;
  for (std::size_t i = 0; i < matches.size(); i += group, ++groups)
    if (std::any_of(matches.begin() + static_cast<std::ptrdiff_t>(i),
                    matches.begin() + static_cast<std::ptrdiff_t>(i + group), [](bool one) { return one; }))
      ++touched;
  return static_cast<double>(touched) / static_cast<double>(groups);
}

}  // namespace

TEST_CASE("random rows touch 1 - (1 - s)^n of the row groups", "[loading]") {
  constexpr std::size_t rows = 1'000'000;
  const auto group = GENERATE(as<std::size_t>{}, 10, 100, 1000);
  const auto selectivity = GENERATE(0.0005, 0.002, 0.02);
  CAPTURE(group, selectivity);
  std::vector<bool> matches(rows);
  Random random{7, RandomStream::batches};
  for (std::size_t i = 0; i < rows; ++i) matches[i] = random.uniform() < selectivity;
  const auto share = share_of_row_groups({.selectivity = selectivity}, rows, static_cast<double>(group));
  CHECK(share == Approx(1 - std::pow(1 - selectivity, group)).epsilon(1e-9));
  CHECK(counted(matches, group) == Approx(share).epsilon(0.1));
}

TEST_CASE("clustered rows touch the groups of one run", "[loading]") {
  constexpr std::size_t rows = 100'000;
  constexpr std::size_t group = 100;
  const auto selectivity = GENERATE(0.0001, 0.001, 0.05, 1.0);
  CAPTURE(selectivity);
  const auto run = static_cast<std::size_t>(std::lround(selectivity * rows));
  double sum = 0;
  int starts = 0;
  for (std::size_t start = 0; start + run <= rows; start += 7, ++starts) {
    const auto first = start / group;
    const auto last = (start + run - 1) / group;
    sum += static_cast<double>(last - first + 1) * group / rows;
  }
  const auto share =
      share_of_row_groups({.selectivity = selectivity, .rows = MatchingRows::clustered}, rows, group);
  CHECK(share == Approx(sum / starts).epsilon(0.02));
}

TEST_CASE("statistics that exclude nothing, or too little, leave more row groups", "[loading]") {
  const Predicate exact{.selectivity = 1e-3};
  const auto touched = share_of_row_groups(exact, 1e6, 100);
  auto bloom = exact;
  bloom.false_positives = 0.01;
  CHECK(share_of_row_groups(bloom, 1e6, 100) == Approx(touched + 0.01 * (1 - touched)));
  auto none = exact;
  none.false_positives = 1;
  CHECK(share_of_row_groups(none, 1e6, 100) == Approx(1));
}

TEST_CASE("a predicate reads all rows of the groups that it touches, for fewer samples", "[loading]") {
  Dataset dataset;
  dataset.format = SampleFormat::parquet;
  dataset.samples = 1e6;
  dataset.row_group = 100;
  dataset = with_columns(dataset, {{.name = "a", .size = Bytes{1000}, .unpacked = Bytes{1000}}});
  const auto filtered = with_predicate(dataset, {.selectivity = 0.01});
  const auto share = 1 - std::pow(0.99, 100);
  CHECK(filtered.samples == Approx(1e4));
  CHECK((filtered.sample_size * filtered.samples).value() == Approx(1e9 * share));
  CHECK(filtered.request == dataset.request);
  // Another predicate replaces the first.
  const auto again = with_predicate(filtered, {.selectivity = 0.01, .rows = MatchingRows::clustered});
  CHECK((again.sample_size * again.samples).value() == Approx(1e9 * (9999.0 / 100 + 1) / 1e4));
  CHECK(without_predicate(again).sample_size.value() == Approx(1000));
  CHECK(without_predicate(again).samples == Approx(1e6));
}

TEST_CASE("a mapped sample in random order reads whole windows, and waits for the first", "[loading]") {
  const auto window = mib * 8;
  // Own measurement of 2026-11-26, Linux 6.18, read_ahead_kb 8192: MiB per major fault.
  const auto read = [&](Bytes size) {
    const auto one = mapped_sample(size, window, AccessOrder::random);
    CHECK(one.waits == 1);
    return one.read / mib;
  };
  CHECK(read(kib * 4) == Approx(7.4).epsilon(0.1));
  CHECK(read(kib * 512) == Approx(7.5).epsilon(0.1));
  CHECK(read(mib) == Approx(7.6).epsilon(0.1));
  CHECK(read(mib * 4) == Approx(15).epsilon(0.1));
}

TEST_CASE("without a window each page of a mapped sample waits for a request", "[loading]") {
  const auto kibs = GENERATE(4.0, 32.0, 192.0, 4096.0);
  const auto pages = mapped_sample(kib * kibs, {}, AccessOrder::random);
  CHECK(pages.waits == Approx(kibs / 4));
  CHECK(pages.read / kib == Approx(kibs));
  CHECK(pages.request / kib == Approx(4));
}

TEST_CASE("mapped samples in the order of the file read nothing twice", "[loading]") {
  const auto sample = mapped_sample(kib * 192, kib * 128, AccessOrder::sequential);
  CHECK(sample.read / kib == Approx(192));
  CHECK(sample.waits == Approx(1.5));
}

TEST_CASE("page faults in the page cache take what was measured", "[loading]") {
  // Own measurement of 2026-11-26: samples in random order, all pages in the page cache.
  struct Row {
    double kib, us;
  };
  for (const auto& row :
       {Row{4, 2.0}, Row{64, 2.1}, Row{192, 2.2}, Row{512, 3.3}, Row{1024, 5.3}, Row{4096, 15.2}})
    CHECK(fault_time(kib * row.kib, 1).value() * 1e6 == Approx(row.us).epsilon(0.25));
}
