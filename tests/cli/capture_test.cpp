// SPDX-License-Identifier: Apache-2.0
// `gradway capture` without PyTorch: how the program that it starts may end. tests/python/ has the recorder.
#include <catch2/catch.hpp>

#include "tests/cli/program.hpp"

using namespace gradway::testing;

TEST_CASE("a captured program that ends by a signal is named with it", "[cli][capture]") {
  const TemporaryFolder folder;
  const auto captured = [&](const std::string& script) {
    folder.write("python3", "#!/bin/sh\n" + script + "\n");
    std::filesystem::permissions(folder.path() / "python3", std::filesystem::perms::owner_all);
    return run_gradway({"capture", "train.py"}, {.environment = {"PATH=" + folder.path().string()}});
  };
  const auto failed = captured("kill -SEGV $$");
  CHECK(failed.status == 2);
  CHECK(failed.errors ==
        "error: the program was ended by signal 11 (Segmentation fault)\n"
        "  hint: run it alone with python3: a library of the program may have failed, or memory run out\n");
  CHECK(captured("exit 2").status == 2);
  CHECK(captured("test \"$GRADWAY\" = " GRADWAY_PROGRAM).status == 0);
}
