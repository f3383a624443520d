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

TEST_CASE("TOML is read as far as settings use it", "[import]") {
  CHECK(toml("a = 1 # one\n\n[b]\r\nc = \"x # y\"\n[b.c-d]\ne = 'a\\b'\n[f]\n") ==
        "{a=1@1:5 b={c='x # y'@4:5 c-d={e='a\\b'@6:5}} f={}}");
  CHECK(toml("a=true\nb=[1, 2.5 , # two\n [\"x\",],\n]\nc=[]\n") ==
        "{a=true@1:3 b=[1@2:4 2.5@2:7 ['x'@3:3]] c=[]}");
  CHECK(toml("a = -1_000\nb = +1e-5\nc = 0.5E+3\n") == "{a=-1000@1:5 b=1e-5@2:5 c=0.5E3@3:5}");
  CHECK(toml("\"a b\".c = \"\\\"\\\\\\t\\u00e9\\U0001F600\"\n") == "{a b={c='\"\\\t\u00e9\U0001F600'@1:11}}");
  CHECK(toml("[a.b]\nx = 1\n[a]\ny = 2") == "{a={b={x=1@2:5} y=2@4:5}}");
  CHECK(toml("\xEF\xBB\xBF# nothing") == "{}");
}

TEST_CASE("TOML that cannot be read is refused at its place", "[import][errors]") {
  const auto [text, place, what] = GENERATE(table<std::string, std::string, std::string>({
      {"a = 1\na = 2", "2:1", "key 'a' stands here twice"},
      {"[a]\n[b]\n[a]", "3:1", "table 'a' stands in the file twice"},
      {"a = 1\n[a]", "2:2", "key 'a' stands here twice"},
      {"a = \"x", "1:5", "a quote is not closed"},
      {"a = 'x\n'", "1:5", "a quote is not closed"},
      {"a = \"\"\"x\"\"\"", "1:5", "texts of several lines cannot be read"},
      {"a = \"\\x\"", "1:6", "this is no escape that can be read"},
      {"a = \"\\u001b\"", "1:6", "this is no character that may stand in a text"},
      {"a = \"\\ud800\"", "1:6", "this is no character that may stand in a text"},
      {"a = [1, 2", "1:5", "a '[' is not closed"},
      {"a = [1 2]", "1:8", "a ',' or ']' belongs here"},
      {"a = {b = 1}", "1:5", "tables in braces cannot be read"},
      {"[[a]]\n", "1:1", "lists of tables cannot be read"},
      {"[a\nb = 1", "1:3", "the name of a table ends with ']'"},
      {"a 1", "1:3", "a '=' belongs behind the key 'a'"},
      {"a =", "1:4", "a value is missing here"},
      {"a = 1 2", "1:7", "the line does not end where its value ends"},
      {"a = 1979-05-27", "1:5", "'1979-05-27' is no value"},
      {"a = 0x10", "1:5", "'0x10' is no value"},
      {"a = 010", "1:5", "'010' is no value"},
      {"a = 1_", "1:5", "'1_' is no value"},
      {"a = 1.", "1:5", "'1.' is no value"},
      {"a = True", "1:5", "'True' is no value"},
      {"= 1", "1:1", "no key can stand here"},
      {"a = \"\xff\"", "1:6", "this is no UTF-8"},
      {"a = " + std::string(40, '['), "1:37", "lists are nested more than 32 deep"},
  }));
  CAPTURE(text);
  const auto message = message_of([&text = text] { return toml(text); });
  CHECK(message.starts_with(fmt::format("a.toml:{}: error: {}\n", place, what)));
}

TEST_CASE("JSON is read with the places of its values", "[import]") {
  CHECK(json("{\"a\": 1, \"b\" : {\n  \"c\": \"x,:{\\\"\", \"d\": [true, null , [-2.5e3]] } }") ==
        "{a=1@1:7 b={c='x,:{\"'@2:8 d=[true@2:24 null@2:30 [-2.5e3@2:38]]}}");
  CHECK(json("{}\n") == "{}");
  CHECK(json("\xEF\xBB\xBF{\"a\": {}, \"b\": []}") == "{a={} b=[]}");
}

TEST_CASE("JSON that cannot be read is refused at its place", "[import][errors]") {
  const auto [text, place, what] = GENERATE(table<std::string, std::string, std::string>({
      {"{\"a\": 1,\n \"a\": 2}", "2:2", "key 'a' stands here twice"},
      {"{\"a\": 1", "1:7", "the JSON ends in the middle"},
      {"{\"a\": 1\n", "1:7", "the JSON ends in the middle"},
      {"{\"a\": 1, // one\n}", "1:10", "this is not JSON: it cannot go on like this here"},
      {"{\"a\": 1,}", "1:9", "this is not JSON: it cannot go on like this here"},
      {"[1]", "1:1", "this is JSON, but no map of settings"},
      {"1", "1:1", "this is JSON, but no map of settings"},
      {"{\"a\": \"\\u001b\"}", "1:7", "the text has the control character U+001B"},
      {"{\"a\": " + std::string(40, '['), "1:38", "lists and maps are nested more than 32 deep"},
  }));
  CAPTURE(text);
  const auto message = message_of([&text = text] { return json(text); });
  CHECK(message.starts_with(fmt::format("a.json:{}: error: {}\n", place, what)));
}

TEST_CASE("a file of far too many settings is refused", "[import][errors]") {
  std::string numbers = "1";
  for (int i = 0; i < most_settings; ++i) numbers += ",1";
  CHECK(message_of([&] {
          return toml("a = [" + numbers + "]");
        }).starts_with("a.toml: error: the file has more than 20000 values\n"));
  CHECK(message_of([&] {
          return json("{\"a\": [" + numbers + "]}");
        }).starts_with("a.json: error: the file has more than 20000 values\n"));
}
