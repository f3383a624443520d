// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <vector>

#include <catch2/catch.hpp>

#include "calibration/harness/host.hpp"

using namespace gradway;
using namespace gradway::probe;

TEST_CASE("the probe measures host memory and the disk, and leaves no file", "[harness][host]") {
  const auto folder = std::filesystem::temp_directory_path() / "gradway_host_test";
  std::filesystem::create_directories(folder);
  std::vector<Row> rows;
  Context context;
  context.quick = true;
  context.emit = [&](const Row& row) { rows.push_back(row); };
  context.remark = [](const std::string& remark) { FAIL(remark); };
  context.done = [](double) {};
  probe_host(context, folder);
  REQUIRE(rows.size() == 3);
  CHECK(rows[0].at("kind") == "host_memory");
  CHECK(rows[1].at("op") == "write");
  CHECK(rows[2].at("op") == "read");
  for (const auto& row : rows) {
    const auto rate = row.at("bytes").get<double>() / row.at("seconds").get<double>();
    CHECK(rate > 1e6);  // a slow disk
    CHECK(rate < 1e13);
  }
  CHECK(std::filesystem::is_empty(folder));
  std::filesystem::remove_all(folder);
}
