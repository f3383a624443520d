// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "sim/base/printable.hpp"
#include "sim/base/text.hpp"

using namespace gradway;

TEST_CASE("words of commands are quoted where a shell would interpret them") {
  CHECK(shell_word("article/g6e") == "article/g6e");
  CHECK(shell_word("job.gpus=4") == "job.gpus=4");
  CHECK(shell_word("") == "''");
  CHECK(shell_word("strategy.bucket_cap=100 MiB") == "'strategy.bucket_cap=100 MiB'");
  CHECK(shell_word("it's") == "'it'\\''s'");
  CHECK(shell_word("$(x);`y`|&<>*?~#!\"\\") == "'$(x);`y`|&<>*?~#!\"\\'");
  CHECK(shell_word("é.yaml") == "'é.yaml'");
  CHECK(shell_word("\x1b[31m'\\") == "$'\\x1b[31m\\x27\\x5c'");
  CHECK(shell_word("a\u202eb\n") == "$'a\\xe2\\x80\\xaeb\\x0a'");
  CHECK(shell_word("\xff") == "$'\\xff'");
}

TEST_CASE("bash reads a quoted word as it was, and a terminal obeys nothing in it") {
  for (std::string word :
       {"plain", "two words", "it's", "$HOME `ls` \\n", "\x1b[2J\r\n\t", "\xff\xfe'", "\u202e\\'é", "-n"}) {
    CAPTURE(word);
    const auto quoted = shell_word(word);
    CHECK(first_control(quoted) == std::string::npos);
    CHECK(first_bad_byte(quoted) == std::string::npos);
    const auto command = "[[ \"$1\" == " + quoted + " ]]";
    const pid_t child = ::fork();
    if (child == 0) {
      ::execlp("bash", "bash", "-c", command.c_str(), "bash", word.c_str(), nullptr);
      ::_exit(127);
    }
    int ended = -1;
    REQUIRE(::waitpid(child, &ended, 0) == child);
    CHECK(ended == 0);
  }
}
