// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "sim/base/problem.hpp"
#include "sim/config/yaml/goal_quantities.hpp"

using namespace gradway;
using config::Node;

namespace {

constexpr double day = 86400;

Node option(std::string text) {
  Node node{.kind = Node::Kind::scalar, .text = std::move(text)};
  node.where.file = "--option";
  return node;
}

struct Row {
  std::string text;
  double value;
};

struct Refusal {
  std::string text;
  std::string message;
};

template <class Parse>
std::string refusal(const Parse& parse, const std::string& text) {
  try {
    parse(option(text));
  } catch (const ConfigError& error) {
    return to_text(error.problems().front());
  }
  return "";
}

}  // namespace

TEST_CASE("numbers of tokens and samples are read as people write them", "[config][goal]") {
  const auto [text, value] = GENERATE(values<Row>({{"300B", 300e9},
                                                   {"300 B", 300e9},
                                                   {"1.5T", 1.5e12},
                                                   {"1.5t", 1.5e12},
                                                   {"90M", 90e6},
                                                   {"1.2e9", 1.2e9},
                                                   {"250k", 250e3},
                                                   {"2 G", 2e9},
                                                   {"300 billion", 300e9},
                                                   {"300B tokens", 300e9},
                                                   {"90,000,000", 90e6},
                                                   {"90_000_000", 90e6},
                                                   {"1", 1}}));
  CAPTURE(text);
  CHECK(config::tokens(option(text)) == value);
}

TEST_CASE("a span of time is read as people write it", "[config][goal]") {
  const auto [text, value] = GENERATE(values<Row>({{"14 days", 14 * day},
                                                   {"14 d", 14 * day},
                                                   {"14d", 14 * day},
                                                   {"1 day", day},
                                                   {"36 h", 1.5 * day},
                                                   {"36 hours", 1.5 * day},
                                                   {"2 weeks", 14 * day},
                                                   {"1.5 Weeks", 10.5 * day},
                                                   {"90 min", 5400},
                                                   {"30 s", 30},
                                                   {"1 d 12 h", 1.5 * day},
                                                   {"1d12h", 1.5 * day}}));
  CAPTURE(text);
  CHECK(config::time_span(option(text)).value() == Approx(value));
}

TEST_CASE("a budget is read as people write it", "[config][goal]") {
  const auto [text, value] = GENERATE(values<Row>({{"100k USD", 1e5},
                                                   {"$100k", 1e5},
                                                   {"100000 USD", 1e5},
                                                   {"100,000 dollars", 1e5},
                                                   {"US$1.5M", 1.5e6},
                                                   {"USD 20", 20},
                                                   {"1.5 million USD", 1.5e6},
                                                   {"0.5 usd", 0.5}}));
  CAPTURE(text);
  CHECK(config::dollars(option(text)) == value);
}

TEST_CASE("a number of tokens that is none is refused", "[config][goal]") {
  const auto [text, message] = GENERATE(values<Refusal>({
      {"many",
       "--option: error: 'many' does not begin with a number\n"
       "  hint: write a number such as '300B' or '1.5T'\n"},
      {"300Q",
       "--option: error: unknown multiple 'Q' of tokens\n"
       "  hint: use k, M, B (10^9) or T (10^12), as in '300B' or '1.5T'\n"},
      {"300B samples",
       "--option: error: unknown multiple 'B samples' of tokens\n"
       "  hint: use k, M, B (10^9) or T (10^12), as in '300B' or '1.5T'\n"},
      {"1,5T", "--option: error: '1,5T' has a ',' in its number\n  hint: write 1.5, or 1,200,000\n"},
      {"-3B",
       "--option: error: '-3B' is too few tokens: at least 1\n"
       "  hint: write a number such as '300B' or '1.5T'\n"},
      {"0",
       "--option: error: '0' is too few tokens: at least 1\n"
       "  hint: write a number such as '300B' or '1.5T'\n"},
      {"inf",
       "--option: error: 'inf' does not begin with a number\n"
       "  hint: write a number such as '300B' or '1.5T'\n"},
      {"2e9T", "--option: error: '2e9T' is too many tokens: at most 1e18\n"},
  }));
  CHECK(refusal(config::tokens, text) == message);
}

TEST_CASE("a span of time that is none is refused", "[config][goal]") {
  const auto [text, message] = GENERATE(values<Refusal>({
      {"soon",
       "--option: error: 'soon' does not begin with a number\n"
       "  hint: write a number and a unit, as in '14 days'\n"},
      {"14", "--option: error: '14' has no unit\n  hint: add a unit: s, min, h, days or weeks\n"},
      {"2 months",
       "--option: error: 'months' is not a unit of time\n"
       "  hint: they differ in length: write days\n"},
      {"5m",
       "--option: error: 'm' is not a unit of time\n"
       "  hint: write 'min' for minutes, 'days' instead of months\n"},
      {"5 lightyears",
       "--option: error: 'lightyears' is not a unit of time\n"
       "  hint: units: s, min, h, days, weeks\n"},
      {"-2 d", "--option: error: '-2 d' is negative\n"},
      {"0 h", "--option: error: '0 h' is too short: at least 1 s\n"},
      {"1e9 d", "--option: error: '1e9 d' is too long: at most 36500 days\n"},
      {"1 d and a half",
       "--option: error: '1 d and a half' does not begin with a number\n"
       "  hint: write a number and a unit, as in '14 days'\n"},
  }));
  CHECK(refusal(config::time_span, text) == message);
}

TEST_CASE("a budget that is none is refused", "[config][goal]") {
  const auto [text, message] = GENERATE(values<Refusal>({
      {"100k",
       "--option: error: '100k' has no currency\n"
       "  hint: prices are in US dollars: write an amount as in '100k USD' or '1.5M USD'\n"},
      {"100k EUR",
       "--option: error: 'k EUR' is neither a multiple nor a currency\n"
       "  hint: prices are in US dollars: write an amount as in '100k USD' or '1.5M USD'\n"},
      {"much USD",
       "--option: error: 'much USD' does not begin with a number\n"
       "  hint: write an amount, as in '100k USD' or '1.5M USD'\n"},
      {"0 USD", "--option: error: '0 USD' is too little: at least 0.01 USD\n"},
      {"1e9T USD", "--option: error: '1e9T USD' is too much: at most 1e18 USD\n"},
  }));
  CHECK(refusal(config::dollars, text) == message);
}
