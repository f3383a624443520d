// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <cstdlib>
#include <filesystem>

#include "tests/cli/program.hpp"

using namespace gradway::testing;
using Catch::Matchers::Contains;

namespace {

const std::filesystem::path program{GRADWAY_PROGRAM};
const auto module_name = "libgradway_simgrid.so";

/// Installs the program, with or without the module.
World installed(const TemporaryFolder& prefix, bool with_module) {
  namespace fs = std::filesystem;
  const auto command = "cmake --install '" + program.parent_path().string() + "' --prefix '" +
                       prefix.path().string() + "' > '" + (prefix.path() / "log").string() + "'";
  REQUIRE(std::system(command.c_str()) == 0);
  if (!with_module) fs::remove(prefix.path() / "lib" / "gradway" / module_name);
  return {.folder = prefix.path(), .program = (prefix.path() / "bin" / "gradway").string()};
}

}  // namespace

TEST_CASE("the program starts without the libraries of its modules", "[cli][start]") {
  // The loader lists what it would load, and runs nothing.
  const auto listed = run_gradway({"--version"}, {.environment = {"LD_TRACE_LOADED_OBJECTS=1"}});
  REQUIRE_THAT(listed.output, Contains("libc.so"));
  CHECK_THAT(listed.output,
             !Contains("simgrid") && !Contains("libns3") && !Contains("archive") && !Contains("ssl"));
}

TEST_CASE("variables of ns-3, which SimGrid brings along, do nothing", "[cli][start]") {
  const auto variable = GENERATE("NS_GLOBAL_VALUE=RngSeed=x", "NS_LOG=print-list");
  const auto arguments = GENERATE(std::vector<std::string>{"--version"},
                                  std::vector<std::string>{"run", "article/g6e", "--engine", "simgrid"});
  CAPTURE(variable, arguments.front());
  const auto with = run_gradway(arguments, {.environment = {variable}});
  const auto without = run_gradway(arguments);
  CHECK(with.status == 0);
  CHECK(with.errors.empty());
  CHECK(with.output == without.output);
}

TEST_CASE("an installed program finds its modules and its data", "[cli][start]") {
  const TemporaryFolder prefix;
  prefix.write("a.tar", "no tar file");
  const auto world = installed(prefix, true);
  const auto here = run_gradway({"run", "article/g6e", "--engine", "simgrid"});
  const auto there = run_gradway({"run", "article/g6e", "--engine", "simgrid"}, world);
  CHECK(there.status == 0);
  CHECK(there.errors.empty());
  CHECK(there.output == here.output);
  CHECK_THAT(run_gradway({"import", "dataset", "a.tar"}, world).errors, Contains("this is not a tar file"));
  CHECK(run_gradway({"--version"}, world).output == run_gradway({"--version"}).output);
  CHECK(run_gradway({"list", "platforms"}, world).output == run_gradway({"list", "platforms"}).output);
}

TEST_CASE("without the module there is one engine less", "[cli][start]") {
  const TemporaryFolder prefix;
  const auto world = installed(prefix, false);
  CHECK(run_gradway({"run", "article/g6e"}, world).status == 0);
  const auto outcome = run_gradway({"run", "article/g6e", "--engine", "simgrid"}, world);
  CHECK(outcome.status == 3);
  CHECK(outcome.output.empty());
  CHECK_THAT(outcome.errors, Contains("error: the engine 'simgrid' cannot be loaded: ") &&
                                 Contains("hint: 'libgradway_simgrid.so' must be where"));
}

TEST_CASE("the digest of the program follows from its sources and settings alone", "[cli][start]") {
  const TemporaryFolder one, other;
  const auto digest_of = [](const TemporaryFolder& root, const std::string& settings) {
    const auto path = [&](const char* name) { return "'" + (root.path() / name).string() + "'"; };
    const auto command = "cmake -DOUT=" + path("out.cpp") + " -DROOT=" + path("") +
                         " -DSOURCES=" + path("sources.txt") + " -DSETTINGS='" + settings + "' -P '" +
                         GRADWAY_SOURCE_DIR + "/cmake/program_digest.cmake'";
    REQUIRE(std::system(command.c_str()) == 0);
    return content_of(root.path() / "out.cpp");
  };
  for (const auto* root : {&one, &other}) {
    root->write("sources.txt", "run/a.cpp\nrun/b.cpp\n");
    root->write("run/a.cpp", "int a = 1;\n");
    root->write("run/b.cpp", "int b = 2;\n");
  }
  const auto digest = digest_of(one, "-O1");
  CHECK_THAT(digest, Contains("program_digest() { return \""));
  CHECK(digest_of(other, "-O1") == digest);
  CHECK(digest_of(other, "-O3") != digest);
  other.write("run/b.cpp", "int b = 3;\n");
  CHECK(digest_of(other, "-O1") != digest);
}
