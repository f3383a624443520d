// SPDX-License-Identifier: Apache-2.0
#include "sim/base/base64.hpp"

#include <string>

#include <catch2/catch.hpp>

using namespace gradway;

TEST_CASE("base64 has the test vectors of RFC 4648", "[base]") {
  CHECK(base64("").empty());
  CHECK(base64("f") == "Zg==");
  CHECK(base64("fo") == "Zm8=");
  CHECK(base64("foo") == "Zm9v");
  CHECK(base64("foob") == "Zm9vYg==");
  CHECK(base64("fooba") == "Zm9vYmE=");
  CHECK(base64("foobar") == "Zm9vYmFy");
  CHECK(base64(std::string{"\xff\xef\x00\xbe", 4}) == "/+8Avg==");
}
