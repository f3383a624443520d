// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>

#include <catch2/catch.hpp>

#include "sim/config/yaml/quantities.hpp"
#include "sim/config/yaml/scalars.hpp"

using namespace gradway;
using config::Node;

namespace {

Node scalar(std::string text, bool quoted = false) {
  return Node{.kind = Node::Kind::scalar, .text = std::move(text), .quoted = quoted};
}

struct Row {
  std::string text;
  double value;
};

}  // namespace

TEST_CASE("an amount of data is read to bytes", "[config][units]") {
  const auto [text, value] = GENERATE(values<Row>({{"1 B", 1},
                                                   {"1 kB", 1000},
                                                   {"25 MB", 25e6},
                                                   {"2.5 GB", 2.5e9},
                                                   {"1 TB", 1e12},
                                                   {"1 KiB", 1024},
                                                   {"25 MiB", 26214400},
                                                   {"1 GiB", 1073741824},
                                                   {"2 TiB", 2199023255552},
                                                   {"25MiB", 26214400},
                                                   {"  25   MiB ", 26214400},
                                                   {"1e3 B", 1000},
                                                   {".5 kB", 500}}));
  CAPTURE(text);

  CHECK(config::bytes(scalar(text)).value() == Approx(value).epsilon(1e-15));
}

TEST_CASE("a bandwidth is read to bytes a second", "[config][units]") {
  const auto [text, value] = GENERATE(values<Row>({{"450 GB/s", 450e9},
                                                   {"2000 B/s", 2000},
                                                   {"5 kB/s", 5e3},
                                                   {"5 MB/s", 5e6},
                                                   {"4.8 TB/s", 4.8e12},
                                                   {"1 KiB/s", 1024},
                                                   {"1 MiB/s", 1048576},
                                                   {"1 GiB/s", 1073741824},
                                                   {"1 TiB/s", 1099511627776}}));
  CAPTURE(text);

  CHECK(config::bandwidth(scalar(text)).value() == Approx(value).epsilon(1e-15));
}

TEST_CASE("a time is read to seconds", "[config][units]") {
  const auto [text, value] = GENERATE(values<Row>({{"500 ns", 500e-9},
                                                   {"1.1 us", 1.1e-6},
                                                   {"1.1 \u00B5s", 1.1e-6},  // micro sign
                                                   {"1.1 \u03BCs", 1.1e-6},  // Greek mu
                                                   {"91.93 ms", 0.09193},
                                                   {"2 s", 2},
                                                   {"1e-3 s", 1e-3}}));
  CAPTURE(text);

  CHECK(config::duration(scalar(text)).value() == Approx(value).epsilon(1e-15));
}

TEST_CASE("compute rates, prices and rates of steps have units of their own", "[config][units]") {
  CHECK(config::compute_rate(scalar("91.6 TFLOP/s")).value() == Approx(91.6e12));
  CHECK(config::compute_rate(scalar("500 GFLOP/s")).value() == Approx(500e9));
  CHECK(config::compute_rate(scalar("1 PFLOP/s")).value() == Approx(1e15));
  CHECK(config::price_per_hour(scalar("30.13 USD/h")).value() == Approx(30.13));
  CHECK(config::step_rate(scalar("8 steps/s")).value() == 0.125);
}

TEST_CASE("zero is read only where it makes sense", "[config][units]") {
  CHECK(config::bytes_or_zero(scalar("0 MB")) == Bytes{0});
  CHECK(config::duration_or_zero(scalar("0 ns")) == Seconds{0});
  CHECK_THROWS_AS(config::bytes(scalar("0 MB")), ConfigError);
  CHECK_THROWS_AS(config::duration(scalar("0 ns")), ConfigError);
  CHECK_THROWS_AS(config::bytes_or_zero(scalar("-0.5 MB")), ConfigError);
}

TEST_CASE("a unit of bits is never taken for bytes, and the hint has the converted number",
          "[config][units]") {
  const auto hint = [](const std::string& text) {
    try {
      config::bandwidth(scalar(text));
    } catch (const ConfigError& error) {
      return error.problems().front().hint;
    }
    return std::string{"taken"};
  };

  CHECK(hint("400 Gb/s") == "400 Gb/s is 50 GB/s: gradway counts bytes");
  CHECK(hint("400 Gbit/s") == "400 Gbit/s is 50 GB/s: gradway counts bytes");
  CHECK(hint("100 Gbps") == "100 Gbps is 12.5 GB/s: gradway counts bytes");
  CHECK(hint("1.6 Tb/s") == "1.6 Tb/s is 200 GB/s: gradway counts bytes");
  CHECK(hint("10 Mb/s") == "10 Mb/s is 1.25 MB/s: gradway counts bytes");
  CHECK(hint("2 GBps") == "write '2 GB/s'");
  CHECK(hint("5 ms") == "'ms' is a unit of time");
}

TEST_CASE("every unit has its kind alone", "[config][units]") {
  for (const auto& kind : config::quantity_kinds()) {
    for (const auto& unit : kind.units) {
      CAPTURE(kind.name, unit.name);
      CHECK(config::unit_hint(unit.name, 1, "1", kind).empty());  // a good unit is no known confusion
      int owners = 0;
      for (const auto& other : config::quantity_kinds()) {
        owners += static_cast<int>(std::ranges::count(other.units, unit.name, &config::Unit::name));
      }
      CHECK(owners == 1);
    }
  }
}

TEST_CASE("whole numbers are plain digits within their range", "[config][numbers]") {
  CHECK(config::whole(scalar("0"), 0, 10) == 0);
  CHECK(config::whole(scalar("10"), 0, 10) == 10);
  CHECK(config::whole(scalar("-3"), -5, 5) == -3);
  for (const std::string wrong :
       {"11", "-1", "010", "00", "1.0", "1e1", "0x1", "1_0", "+1", "", "ten", "1 "}) {
    CAPTURE(wrong);
    CHECK_THROWS_AS(config::whole(scalar(wrong), 0, 10), ConfigError);
  }
  CHECK_THROWS_AS(config::whole(scalar("1", true), 0, 10), ConfigError);
}

TEST_CASE("only true and false are booleans", "[config][numbers]") {
  CHECK(config::boolean(scalar("true")));
  CHECK_FALSE(config::boolean(scalar("false")));
  for (const std::string wrong : {"True", "yes", "no", "on", "off", "1", "0", "y", ""}) {
    CAPTURE(wrong);
    CHECK_THROWS_AS(config::boolean(scalar(wrong)), ConfigError);
  }
  CHECK_THROWS_AS(config::boolean(scalar("true", true)), ConfigError);
}

TEST_CASE("a date exists", "[config][numbers]") {
  CHECK(config::date(scalar("2024-02-29")) == "2024-02-29");
  for (const std::string wrong : {"2025-02-29", "2026-13-01", "2026-1-24", "24.1.2026", "2026-01-24T00:00"}) {
    CAPTURE(wrong);
    CHECK_THROWS_AS(config::date(scalar(wrong)), ConfigError);
  }
}

TEST_CASE("a compute capability has one dot", "[config][numbers]") {
  CHECK(config::compute_capability(scalar("8.9")) == 89);
  CHECK(config::compute_capability(scalar("10.0")) == 100);
  for (const std::string wrong : {"9", "8.91", "89", ".9", "8.", "0.9", "a.b"}) {
    CAPTURE(wrong);
    CHECK_THROWS_AS(config::compute_capability(scalar(wrong)), ConfigError);
  }
}
