// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "sim/config/find/document.hpp"
#include "sim/config/read/nccl_variables.hpp"

using namespace gradway;
using namespace gradway::config;

namespace {

Node parse(const std::string& text) {
  Problems problems;
  auto node = parse_yaml(SourceText{"f", text}, problems);
  problems.raise();
  return node;
}

/// The checked variables of `nccl: {text}`.
std::map<std::string, std::string> nccl(const std::string& text) {
  Problems problems;
  const auto node = parse(text);
  Reader reader{node, {}, problems};
  auto values = read_nccl(reader);
  problems.raise();
  return values;
}

}  // namespace

TEST_CASE("places count from one, in characters", "[config][parse]") {
  const auto node = parse("a: 1\ngr\u00f6\u00dfe: { b: 'x y', c: zw\u00f6lf }\n");

  const auto& outer = *node.find("gr\u00f6\u00dfe");
  CHECK(outer.where.line == 2);
  CHECK(outer.where.column == 1);
  CHECK(outer.where.length == 5);
  const auto& quoted = outer.value.find("b")->value.where;
  CHECK(quoted.column == 13);
  CHECK(quoted.length == 5);  // with its quotes
  const auto& last = outer.value.find("c")->value.where;
  CHECK(last.column == 23);
  CHECK(last.length == 5);
  CHECK(last.text == "gr\u00f6\u00dfe: { b: 'x y', c: zw\u00f6lf }");
}

TEST_CASE("line endings of Windows and a byte order mark change nothing", "[config][parse]") {
  const auto node = parse(
      "\xEF\xBB\xBF"
      "a: 1\r\nb: 22\r\n");

  CHECK(node.find("a")->where.column == 1);
  CHECK(node.find("a")->value.text == "1");
  CHECK(node.find("b")->value.text == "22");
  CHECK(node.find("b")->value.where.line == 2);
  CHECK(node.find("b")->value.where.text == "b: 22");
}

TEST_CASE("quotes with escapes inside are closed", "[config][parse]") {
  CHECK(parse(R"(a: "x \" y")").find("a")->value.text == "x \" y");
  CHECK(parse("a: 'it''s'").find("a")->value.text == "it's");
  CHECK(parse("a: \"over\n  two lines\"").find("a")->value.text == "over two lines");
  CHECK(parse("a: \"\"\nb: ''").find("b")->value.text.empty());
  CHECK(parse("a: |\n  \"one quote\n").find("a")->value.text == "\"one quote\n");
  for (const std::string open : {"a: \"x", "a: 'x", "a: \"x\nb: 1\n", "a: 'it''s", "a: \"x\\\""}) {
    CAPTURE(open);
    CHECK_THROWS_AS(parse(open), ConfigError);
  }
}

TEST_CASE("a node written as one line parses to an equal node", "[config][parse]") {
  const std::string texts[] = {"25 MiB", "'8'",    "{a: 1, b: [x, 'y, z', \"q\\\"\"], c: {}}", "[]", "'true'",
                               "~",      "'^Ring'"};
  for (const auto& text : texts) {
    CAPTURE(text);
    const auto once = to_yaml(parse("k: " + text).find("k")->value);
    const auto twice = to_yaml(parse("k: " + once).find("k")->value);
    CHECK(once == twice);
  }
  CHECK(to_yaml(parse("k: 25 MiB").find("k")->value) == "25 MiB");
  CHECK(to_yaml(parse("k: '8'").find("k")->value) == "\"8\"");
  CHECK(to_yaml(parse("k: 'a: b'").find("k")->value) == "\"a: b\"");
}

TEST_CASE("a very long line is not copied to every place in it", "[config][parse]") {
  std::string text = "a: [1";
  for (int i = 0; i < 50000; ++i) text += ", 1";

  CHECK(parse(text + "]").find("a")->value.items.back().where.text.empty());
}

TEST_CASE("a flood of problems is cut short", "[config][parse]") {
  std::string text;
  for (int i = 0; i < 500; ++i) text += "a: 1\n";

  try {
    parse(text);
    FAIL("taken");
  } catch (const ConfigError& error) {
    CHECK(error.problems().size() == 101);
    CHECK(error.problems().back().what == "399 more problems");
  }
}

TEST_CASE("variables of NCCL are written in one way", "[config][nccl]") {
  using Values = std::map<std::string, std::string>;

  CHECK(nccl("NCCL_P2P_DISABLE: '1'") == Values{{"NCCL_P2P_DISABLE", "1"}});
  CHECK(nccl("NCCL_P2P_LEVEL: nvl") == Values{{"NCCL_P2P_LEVEL", "NVL"}});
  CHECK(nccl("NCCL_P2P_LEVEL: 0") == Values{{"NCCL_P2P_LEVEL", "LOC"}});
  CHECK(nccl("NCCL_P2P_LEVEL: 1") == Values{{"NCCL_P2P_LEVEL", "PIX"}});
  CHECK(nccl("NCCL_NET_GDR_LEVEL: 5") == Values{{"NCCL_NET_GDR_LEVEL", "SYS"}});
  CHECK(nccl("NCCL_ALGO: TREE,ring,Tree") == Values{{"NCCL_ALGO", "Tree,Ring"}});
  CHECK(nccl("NCCL_ALGO: ^ring") == Values{{"NCCL_ALGO", "^Ring"}});
  CHECK(nccl("NCCL_ALGO: ^NVLS,nvlstree").at("NCCL_ALGO") ==
        "^NVLS,NVLSTree");  // excludes what gradway never takes
  CHECK(nccl("NCCL_PROTO: ll128,SIMPLE") == Values{{"NCCL_PROTO", "LL128,Simple"}});
  CHECK(nccl("NCCL_BUFFSIZE: 4 MiB") == Values{{"NCCL_BUFFSIZE", "4194304"}});
  CHECK(nccl("NCCL_BUFFSIZE: 4194304") == Values{{"NCCL_BUFFSIZE", "4194304"}});
  CHECK(nccl("{NCCL_NTHREADS: 512, NCCL_CROSS_NIC: 2, NCCL_NVLS_ENABLE: 0}").size() == 3);
  CHECK(nccl("{NCCL_MIN_NCHANNELS: 4, NCCL_MAX_NCHANNELS: 4}").size() == 2);
}
