// SPDX-License-Identifier: Apache-2.0
#include "calibration/harness/library_places.hpp"

#include <map>

#include <catch2/catch.hpp>

#include "tests/support/config_files.hpp"

namespace gradway::probe {
namespace {

using test::TemporaryFolder;
using Names = std::vector<std::string>;

/// The places below the folder as relative paths, and plain names.
Names places_in(const TemporaryFolder& folder, const Names& names, const Names& named,
                std::map<std::string, std::string> variables = {}) {
  std::vector<std::filesystem::path> roots;
  for (const auto& root : named) roots.push_back(folder.path() / root);
  const auto variable = [&](const char* name) -> const char* {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  };
  Names places;
  const auto begin = folder.path().string() + "/";
  for (const auto& place : library_places(names, roots, variable)) {
    if (place.starts_with(begin)) places.push_back(place.substr(begin.size()));
    if (place.find('/') == std::string::npos) places.push_back(place);
  }
  return places;
}

TEST_CASE("a library is found in a folder, in its lib, and in packages of Python below it") {
  const TemporaryFolder folder;
  const std::string file = GENERATE("a/libnccl.so.2", "a/lib/libnccl.so.2", "a/lib64/libnccl.so.2",
                                    "a/nvidia/nccl/lib/libnccl.so.2",
                                    "a/lib/python3.12/site-packages/nvidia/nccl/lib/libnccl.so.2",
                                    "a/lib/python3/dist-packages/nvidia/cu13/lib/libnccl.so.2");
  folder.write(file, "");
  folder.write("b/libnccl.so.2", "");
  CHECK(places_in(folder, {"libnccl.so.2"}, {"a"}) == Names{file, "libnccl.so.2"});
}

TEST_CASE(
    "folders that were named come first, then those of variables, the loader's, and the Python's in PATH") {
  const TemporaryFolder folder;
  const auto root = folder.path().string();
  for (const auto* place : {"named", "home", "env", "python"})
    folder.write(place + std::string{"/lib/libx.so.2"}, "");
  folder.write("python/bin/python3", "");
  CHECK(places_in(folder, {"libx.so.2"}, {"named"},
                  {{"NCCL_HOME", root + "/home"},
                   {"CUDA_HOME", ""},
                   {"VIRTUAL_ENV", root + "/env"},
                   {"PATH", "::" + root + "/nowhere:" + root + "/python/bin"}}) ==
        Names{"named/lib/libx.so.2", "home/lib/libx.so.2", "env/lib/libx.so.2", "libx.so.2",
              "python/lib/libx.so.2"});
}

TEST_CASE("of several names the first is preferred below each folder") {
  const TemporaryFolder folder;
  folder.write("lib/libx.so.13", "");
  folder.write("libx.so.12", "");
  CHECK(places_in(folder, {"libx.so.13", "libx.so.12"}, {""}) ==
        Names{"lib/libx.so.13", "libx.so.12", "libx.so.13", "libx.so.12"});
}

}  // namespace
}  // namespace gradway::probe
