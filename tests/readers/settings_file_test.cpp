// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <catch2/catch.hpp>

#include "sim/files/settings_file.hpp"
#include "tests/support/config_files.hpp"

using namespace gradway;
using namespace gradway::test;

namespace {

/// All values with their keys, kinds by their brackets, each with the column and line of its value.
std::string outline(const SettingsFile& file, const FileSetting& setting) {
  const auto where = file.value_place(setting);
  const auto key = setting.key.empty() ? std::string{} : setting.key + "=";
  std::vector<std::string> entries;
  for (const auto& entry : setting.entries) entries.push_back(outline(file, entry));
  switch (setting.kind) {
    case FileSetting::Kind::table:
      return fmt::format("{}{{{}}}", key, fmt::join(entries, " "));
    case FileSetting::Kind::list:
      return fmt::format("{}[{}]", key, fmt::join(entries, " "));
    case FileSetting::Kind::text:
      return fmt::format("{}'{}'@{}:{}", key, setting.text, where.line, where.column);
    default:
      return fmt::format("{}{}@{}:{}", key, setting.text, where.line, where.column);
  }
}

std::string toml(const std::string& text) {
  const auto file = read_toml_settings({"a.toml", text});
  return outline(file, file.root);
}
std::string json(const std::string& text) {
  const auto file = read_json_settings({"a.json", text});
  return outline(file, file.root);
}

}  // namespace

TEST_CASE("TOML is read with the places of its values", "[import]") {
  CHECK(toml("a = 1 # one\n\n[b]\r\nc = \"x # y\"\n[b.c-d]\ne = 'a\\b'\n[f]\n") ==
        "{a=1@1:5 b={c='x # y'@4:5 c-d={e='a\\b'@6:5}} f={}}");
  CHECK(toml("a=true\nb=[1, 2.5 , # two\n [\"x\",],\n]\nc=[]\n") ==
        "{a=true@1:3 b=[1@2:4 2.5@2:7 ['x'@3:3]] c=[]}");
  CHECK(toml("a = -1_000\nb = +1e-5\nc = 0.5E+3\n") == "{a=-1000@1:5 b=1e-5@2:5 c=0.5E3@3:5}");
  CHECK(toml("\"a b\".c = \"\\\"\\\\\\t\\u00e9\\U0001F600\"\n") == "{a b={c='\"\\\t\u00e9\U0001F600'@1:11}}");
  CHECK(toml("[a.b]\nx = 1\n[a]\ny = 2") == "{a={b={x=1@2:5} y=2@4:5}}");
  CHECK(toml("\xEF\xBB\xBF# nothing") == "{}");
  CHECK(toml("\xEF\xBB\xBF'\u00e9' = 1") == "{\u00e9=1@1:8}");
  CHECK(toml("a = {c = 1, b = [2]}\n[[d]]\ne = 0x10\n[[d]]\n") ==
        "{a={c=1@1:10 b=[2@1:18]} d=[{e=16@3:5} {}]}");
  CHECK(toml("a = \"\"\"\nx\ny\"\"\"\nb = 1979-05-27\n") == "{a='x\ny'@1:5 b='1979-05-27'@4:5}");
}

TEST_CASE("TOML that cannot be read is refused at its place", "[import][errors]") {
  const auto [text, place, what] = GENERATE(table<std::string, std::string, std::string>({
      {"a = 1\na = 2", "2:5", "error while parsing key-value pair: cannot redefine existing integer 'a'"},
      {"[a]\n[b]\n[a]", "3:1", "error while parsing table header: cannot redefine existing table 'a'"},
      {"a = 1\n[a]", "2:1",
       "error while parsing table header: cannot redefine existing integer 'a' as table"},
      {"a = \"x", "1:7", "error while parsing string: encountered end-of-file"},
      {"a = \"\\x\"", "1:7",
       "error while parsing string: escape sequence '\\x' is not supported in TOML 1.0.0 and earlier"},
      {"a = [1, 2", "1:10", "error while parsing array: encountered end-of-file"},
      {"a = [1 2]", "1:8", "error while parsing array: expected comma or closing ']', saw '2'"},
      {"[a\nb = 1", "1:3", "error while parsing table header: expected ']', saw '\\n'"},
      {"[}]", "1:2",
       "error while parsing key: expected bare key starting character or string delimiter, saw '}'"},
      {"a 1", "1:3", "error while parsing key-value pair: expected '=', saw '1'"},
      {"a =", "1:4", "error while parsing key-value pair: encountered end-of-file"},
      {"a = 1 2", "1:7", "error while parsing key-value pair: expected a comment or whitespace, saw '2'"},
      {"a = '\u00e9'\nb = True", "2:5", "error while parsing boolean: expected 'true', saw 'T'"},
  }));
  CAPTURE(text);
  const auto message = message_of([&text = text] { return toml(text); });
  CAPTURE(message);
  CHECK(message.starts_with(fmt::format("a.toml:{}: error: invalid TOML: {}\n", place, what)));
}

TEST_CASE("TOML values that settings cannot have are refused at their place", "[import][errors]") {
  const auto [text, place, what] = GENERATE(table<std::string, std::string, std::string>({
      {"a = \"\\u001b\"", "1:5", "the text contains a control character"},
      {"a = \"\xff\"", "1:6", "the file is not valid UTF-8"},
      {"a = " + std::string(40, '[') + std::string(40, ']'), "1:37",
       "tables and lists are nested deeper than 32 levels"},
  }));
  CAPTURE(text);
  const auto message = message_of([&text = text] { return toml(text); });
  CAPTURE(message);
  CHECK(message.starts_with(fmt::format("a.toml:{}: error: {}\n", place, what)));
}

TEST_CASE("JSON is read with the places of its values", "[import]") {
  CHECK(json("{\"a\": 1, \"b\" : {\n  \"c\": \"x,:{\\\"\", \"d\": [true, null , [-2.5e3]] } }") ==
        "{a=1@1:7 b={c='x,:{\"'@2:8 d=[true@2:24 null@2:30 [-2.5e3@2:38]]}}");
  CHECK(json("{}\n") == "{}");
  CHECK(json("\xEF\xBB\xBF{\"a\": {}, \"b\": []}") == "{a={} b=[]}");
}

TEST_CASE("numbers without an end, which Python writes into JSON, are no values", "[import]") {
  CHECK(json("{\"a\": [0.0, Infinity, -Infinity], \"b\": \"Infinity\"}") ==
        "{a=[0.0@1:8 Infinity@1:13 -Infinity@1:23] b='Infinity'@1:40}");
  CHECK(json("{\"a\": [NaN, 1]}") == "{a=[NaN@1:8 1@1:13]}");
}

TEST_CASE("JSON that cannot be read is refused at its place", "[import][errors]") {
  const auto [text, place, what] = GENERATE(table<std::string, std::string, std::string>({
      {"{\"a\": 1,\n \"a\": 2}", "2:2", "duplicate key 'a'"},
      {"{\"a\": 1", "1:7", "the JSON is truncated"},
      {"{\"a\": 1\n", "1:7", "the JSON is truncated"},
      {"{\"a\": 1, // one\n}", "1:10", "this is not valid JSON"},
      {"{\"a\": 1,}", "1:9", "this is not valid JSON"},
      {"[1]", "1:1", "this JSON is not a map of settings"},
      {"1", "1:1", "this JSON is not a map of settings"},
      {"{\"a\": \"\\u001b\"}", "1:7", "the text has the control character U+001B"},
      {"{\"a\": " + std::string(40, '['), "1:38", "lists and maps are nested deeper than 32 levels"},
  }));
  CAPTURE(text);
  const auto message = message_of([&text = text] { return json(text); });
  CHECK(message.starts_with(fmt::format("a.json:{}: error: {}\n", place, what)));
}

TEST_CASE("a file of too many settings is refused", "[import][errors]") {
  std::string numbers = "1";
  for (int i = 0; i < most_settings; ++i) numbers += ",1";
  CHECK(message_of([&] {
          return toml("a = [" + numbers + "]");
        }).starts_with("a.toml: error: the file has more than 20000 values\n"));
  CHECK(message_of([&] {
          return json("{\"a\": [" + numbers + "]}");
        }).starts_with("a.json: error: the file has more than 20000 values\n"));
}
