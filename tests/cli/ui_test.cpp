// SPDX-License-Identifier: Apache-2.0
// What `gradway ui` refuses before it serves, and the data that its page gets; its server is tested by
// tests/web/ui_server_test.mjs.
#include <catch2/catch.hpp>

#include <nlohmann/json.hpp>

#include "tests/cli/program.hpp"

using namespace gradway::testing;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;
using Json = nlohmann::json;

TEST_CASE("the server does not start for a scenario that does not exist", "[cli][ui]") {
  const auto mistyped = run_gradway({"ui", "article/g6"});
  CHECK(mistyped.status == 2);
  CHECK_THAT(mistyped.errors,
             StartsWith("article/g6: error: there is no such file\n  hint: did you mean 'article/g6e'"));
}

TEST_CASE("the server does not start on a number that is no port", "[cli][ui]") {
  const auto port = GENERATE(as<std::string>{}, "0", "65536", "-1", "http");
  CAPTURE(port);
  const auto refused = run_gradway({"ui", "--port", port});
  CHECK(refused.status == 2);
  CHECK_THAT(refused.errors, StartsWith("error: ") && Contains("--port"));
}

TEST_CASE("the data of a run's page have its report and its scenario", "[cli][ui]") {
  const auto page = run_gradway({"run", "article/g6e", "--set", "job.gpus=4", "--page-data"});
  REQUIRE(page.status == 0);
  CHECK(page.errors.empty());
  const auto document = Json::parse(page.output);
  CHECK(document.at("kind") == "run");
  const auto report =
      Json::parse(run_gradway({"run", "article/g6e", "--set", "job.gpus=4", "--json"}).output);
  CHECK(document.at("report").at("metrics") == report.at("metrics"));
  const TemporaryFolder folder;
  folder.write("again.yaml", document.at("yaml").get<std::string>());
  const auto again = run_gradway({"run", "again.yaml", "--json"}, {.folder = folder.path()});
  CHECK(Json::parse(again.output).at("metrics") == report.at("metrics"));
}

TEST_CASE("the data of a sweep's page have its rows", "[cli][ui]") {
  const std::vector<std::string> sweep{"sweep", "article/g6e", "--vary", "job.gpus=2,4"};
  const auto with = [&](const std::string& format) {
    auto words = sweep;
    words.push_back(format);
    return run_gradway(words);
  };
  const auto page = with("--page-data");
  REQUIRE(page.status == 0);
  const auto document = Json::parse(page.output);
  CHECK(document.at("kind") == "sweep");
  CHECK(document.at("sweep").at("vary").at(0).at("values") == Json{"2", "4"});
  CHECK(document.at("csv") == with("--csv").output);
  CHECK(with("--json").status == 0);
  CHECK(run_gradway({"sweep", "article/g6e", "--vary", "job.gpus=2,4", "--page-data", "--csv"}).status == 2);
}
