// SPDX-License-Identifier: Apache-2.0
#include "readers/nccl_log/nccl_line.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include <nlohmann/json.hpp>

#include "sim/base/printable.hpp"
#include "sim/base/text.hpp"

namespace gradway::nccl_log {
namespace {

constexpr int most_ranks = 1 << 20;
constexpr int most_channels = 1 << 10;

std::string_view last_word(std::string_view text) {
  text = trimmed(text);
  const auto blank = text.find_last_of(" \t\r");
  return blank == std::string_view::npos ? text : text.substr(blank + 1);
}

/// Where a message starts: "host:pid:tid [gpu] NCCL INFO ".
struct Header {
  std::size_t begin = 0;  ///< of the header in the line
  std::size_t text = 0;   ///< of the message in the line
  Message message;
};

/// The process before "NCCL INFO": the last word of the form host:pid:tid, before the number of the GPU and,
/// in warnings, a place in NCCL's source.
bool find_process(std::string_view line, std::size_t before, Header& header) {
  auto remainder = line.substr(0, before);
  for (int words = 0; words < 3; ++words) {
    const auto word = last_word(remainder);
    if (word.empty()) break;
    const auto begin = static_cast<std::size_t>(word.data() - line.data());
    const auto thread = word.rfind(':');
    const auto process =
        thread == std::string_view::npos || thread == 0 ? thread : word.rfind(':', thread - 1);
    if (process != std::string_view::npos && is_digits(word.substr(thread + 1)) &&
        is_digits(word.substr(process + 1, thread - process - 1))) {
      const auto launcher = process == 0 ? std::string_view::npos : word.rfind(':', process - 1);
      const auto host = launcher == std::string_view::npos ? 0 : launcher + 1;
      header.begin = begin;
      header.message.host = word.substr(host, process - host);
      header.message.process = word.substr(host, thread - host);
      return true;
    }
    remainder = line.substr(0, begin);
  }
  // Some collectors cut the process off: "[2] NCCL INFO ". Then the GPU stands for it.
  const auto gpu = last_word(line.substr(0, before));
  if (!gpu.starts_with('[') || !gpu.ends_with(']') || !is_digits(gpu.substr(1, gpu.size() - 2))) return false;
  header.begin = static_cast<std::size_t>(gpu.data() - line.data());
  header.message.process = gpu;
  return true;
}

std::optional<Header> next_header(std::string_view line, std::size_t from) {
  constexpr std::array<std::string_view, 2> levels{"NCCL INFO ", "NCCL WARN "};
  for (;;) {
    const auto position = line.find("NCCL ", from);
    if (position == std::string_view::npos) return std::nullopt;
    from = position + 1;
    const auto level =
        std::ranges::find_if(levels, [&](auto name) { return line.substr(position, name.size()) == name; });
    if (level == levels.end()) continue;
    Header header;
    header.text = position + level->size();
    header.message.is_warning = level == &levels[1];
    if (find_process(line, position, header)) return header;
  }
}

/// The part up to a character, which is removed with it. The whole text if the character is missing.
std::string_view cut(std::string_view& text, char separator) {
  const auto end = std::min(text.find(separator), text.size());
  const auto prefix = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return prefix;
}

/// "IB/0/GDRDMA", "IB/0(4)/GDRDMA/Shared", "AWS Libfabric/1"
void read_network(std::string_view text, NcclConnection& connection) {
  connection.network = printable(cut(text, '/'));
  connection.nic = leading_number(cut(text, '/'));
  while (!text.empty()) {
    if (cut(text, '/').starts_with("GDRDMA")) connection.gpudirect = true;  // "GDRDMA(PCI)" since 2.27
  }
}

void read_transport(std::string_view via, NcclConnection& connection) {
  connection.via = printable(via);
  const auto kind = cut(via, '/');
  if (kind == "P2P") connection.transport = Transport::p2p;
  if (kind == "SHM" || kind == "direct shared memory") connection.transport = Transport::shm;
  if (kind == "NET" || kind == "COLLNET") {
    connection.transport = Transport::net;
    read_network(via, connection);
  }
}

/// "3[3]", "3[1c0]", "3"
std::optional<int> rank_in(std::string_view text) {
  const auto rank = leading_number(trimmed(text));
  return rank && *rank < most_ranks ? rank : std::nullopt;
}

}  // namespace

std::string unwrapped(std::string_view line) {
  std::string text{line};
  if (trimmed(line).starts_with('{') && contains(line, "NCCL")) {
    const auto json = nlohmann::json::parse(line, nullptr, false);
    for (const auto* const key : {"log", "message", "msg", "textPayload", "line"}) {
      const auto value = json.is_object() ? json.find(key) : json.end();
      if (json.is_object() && value != json.end() && value->is_string()) {
        text = value->get<std::string>();
        break;
      }
    }
  }
  if (!contains(text, "&")) return text;
  constexpr std::pair<std::string_view, std::string_view> entities[] = {
      {"&lt;", "<"}, {"&gt;", ">"}, {"&quot;", "\""}, {"&nbsp;", " "}, {"&amp;", "&"}};
  for (const auto& [entity, character] : entities)
    for (auto at = text.find(entity); at != std::string::npos; at = text.find(entity, at + 1))
      text.replace(at, entity.size(), character);
  return text;
}

std::vector<Message> messages_in(std::string_view line) {
  std::vector<Message> messages;
  for (auto header = next_header(line, 0); header;) {
    const auto next = next_header(line, header->text);
    const auto end = next ? next->begin : line.size();
    header->message.text = trimmed(line.substr(header->text, end - std::min(header->text, end)));
    messages.push_back(header->message);
    header = next;
  }
  return messages;
}

std::optional<int> number_after(std::string_view text, std::string_view word) {
  return leading_number(after(text, word));
}

std::optional<RingLine> ring_in(std::string_view message) {
  if (!message.starts_with("Channel ") || message.find(" via ") != std::string_view::npos)
    return std::nullopt;
  const auto channel = leading_number(message.substr(8));
  auto ranks = trimmed(after(message, " : "));
  if (!channel || *channel >= most_channels || ranks.empty()) return std::nullopt;
  RingLine ring{*channel, {}};
  while (!ranks.empty()) {
    const auto word = cut(ranks, ' ');
    if (word.empty()) continue;
    const auto rank = rank_in(word);
    if (!rank || !is_digits(word)) return std::nullopt;
    ring.order.push_back(*rank);
  }
  return ring;
}

std::optional<ConnectionLine> connection_in(std::string_view message) {
  constexpr std::array<std::string_view, 3> nouns{"Channel ", "Ring ", "CollNet "};
  const auto noun = std::ranges::find_if(nouns, [&](auto word) { return message.starts_with(word); });
  if (noun == nouns.end()) return std::nullopt;
  const auto channel = leading_number(message.substr(noun->size()));
  const auto via = trimmed(after(message, " via "));
  const auto from = rank_in(after(message, " : "));
  if (!channel || *channel >= most_channels || via.empty() || !from) return std::nullopt;
  const auto destination = after(message, " -> ");
  const auto target = destination.empty() ? from : rank_in(destination);
  if (!target) return std::nullopt;
  ConnectionLine line{*channel, {*from, *target}};
  // "via P2P/CUMEM comm 0x55e8c0 nRanks 08": some versions name the communicator.
  read_transport(via.substr(0, std::min(via.find(" comm "), via.size())), line.connection);
  return line;
}

std::optional<NcclChoice> choice_in(std::string_view message) {
  const auto colon = message.find(": ");
  const auto algorithm = word_after(message, " -> Algo ");
  if (colon == std::string_view::npos || algorithm.empty()) return std::nullopt;
  double bytes = 0;
  const auto size = message.substr(colon + 2);
  const auto read = std::from_chars(size.data(), size.data() + size.size(), bytes);
  if (read.ec != std::errc{} ||
      !size.substr(static_cast<std::size_t>(read.ptr - size.data())).starts_with(" Bytes"))
    return std::nullopt;
  return NcclChoice{printable(message.substr(0, colon)), bytes, printable(algorithm),
                    printable(word_after(message, " proto "))};
}

}  // namespace gradway::nccl_log
