// SPDX-License-Identifier: Apache-2.0
#include "sim/scenario/pipeline/stage_layout.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include <fmt/format.h>

namespace gradway {
namespace {

constexpr std::size_t most_letters = 100'000;

/// A layout with its repetitions written out.
struct Unrolled {
  std::string letters{};
  std::string problem{};
};

Unrolled unroll(std::string_view text) {
  Unrolled unrolled;
  auto& letters = unrolled.letters;
  std::size_t repeatable = 0;  // where the last letter or group begins
  std::size_t group = std::string::npos;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char letter = text[i];
    if (letter == ',' || letter == ' ') continue;
    if (letter == '(' && group == std::string::npos) {
      group = letters.size();
    } else if (letter == ')' && group != std::string::npos) {
      repeatable = std::exchange(group, std::string::npos);
    } else if (letter == '*') {
      std::size_t times = 0;
      while (i + 1 < text.size() && text[i + 1] >= '0' && text[i + 1] <= '9' && times < most_letters)
        times = 10 * times + static_cast<std::size_t>(text[++i] - '0');
      const auto repeated = letters.substr(std::min(repeatable, letters.size()));
      if (times == 0 || repeated.empty())
        return {{}, "'*' requires something before it and a number after it"};
      if (times * repeated.size() > most_letters) return {{}, "it has too many stages or blocks"};
      for (std::size_t copies = 1; copies < times; ++copies) letters += repeated;
    } else if (std::string_view{"EtL|"}.find(letter) != std::string_view::npos) {
      repeatable = letters.size();
      letters += letter;
    } else if (letter == 'm') {
      return {{}, "'m' stands for multi-token prediction, which is not simulated"};
    } else {
      return {{}, fmt::format("'{}' has no meaning here", letter)};
    }
  }
  if (group != std::string::npos) return {{}, "a parenthesis is not closed"};
  return unrolled;
}

}  // namespace

StageLayout read_stage_layout(std::string_view text) {
  if (text.empty()) return {};
  const auto [letters, problem] = unroll(text);
  if (!problem.empty()) return {{}, problem};
  if (letters.empty() || letters.front() != 'E' || std::ranges::count(letters, 'E') != 1)
    return {{}, "'E' must come first, and once"};
  if (letters.back() != 'L' || std::ranges::count(letters, 'L') != 1)
    return {{}, "'L' must come last, and once"};
  StageLayout layout{.blocks = {0}};
  for (const char letter : letters) {
    if (letter == '|') layout.blocks.push_back(0);
    if (letter == 't') ++layout.blocks.back();
  }
  return layout;
}

std::string stage_layout_of(const std::vector<int>& blocks) {
  const auto blocks_text = [](int count) { return count == 0 ? "" : fmt::format("t*{}", count); };
  std::string text = "E" + blocks_text(blocks.front()) + "|";
  const auto last = blocks.end() - 1;
  for (auto stage = blocks.begin() + 1; stage != last;) {
    const auto next = std::find_if(stage, last, [&](int count) { return count != *stage; });
    text += fmt::format("({}|)*{}", blocks_text(*stage), next - stage);
    stage = next;
  }
  return text + blocks_text(*last) + "L";
}

std::vector<int> nearly_even_stages(int blocks, int stages) {
  constexpr int most_fewer = 3;
  const int each = (blocks + stages - 1) / stages;
  const int fewer = each * stages - blocks;
  const int fewer_in_last = fewer - fewer / 2;
  if (stages < 2 || fewer > most_fewer || each <= fewer_in_last) return {};
  std::vector<int> blocks_of_stages(static_cast<std::size_t>(stages), each);
  blocks_of_stages.front() -= fewer / 2;
  blocks_of_stages.back() -= fewer_in_last;
  return blocks_of_stages;
}

}  // namespace gradway
