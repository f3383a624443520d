// SPDX-License-Identifier: Apache-2.0
#include "readers/samples/sample_rows.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>

#include "sim/base/nearest.hpp"
#include "sim/cost/calibration_words.hpp"

namespace gradway {
namespace {

namespace words = calibration_words;
using namespace std::string_view_literals;

constexpr int most_ranks = 1 << 20;
constexpr int most_repeats = 1 << 20;
constexpr int most_channels = 64;

constexpr std::array no_collectives{"reduce"sv, "gather"sv, "scatter"sv, "hypercube"sv};  // Not modelled.

/// Transport, algorithm and protocol of a collective.
struct Tag {
  Transport transport = Transport::p2p;
  std::optional<Algorithm> algorithm;
  std::optional<Protocol> protocol;
};

template <std::size_t size>
std::optional<std::size_t> index_in(const std::array<std::string_view, size>& table, std::string_view word) {
  const auto entry = std::ranges::find(table, word);
  if (entry == table.end()) return std::nullopt;
  return static_cast<std::size_t>(entry - table.begin());
}

Tag read_tag(const JsonRow& row) {
  const std::string_view text = row.text("tag");
  const auto first = std::min(text.find('-'), text.size());
  const auto transport = index_in(words::transports, text.substr(0, first));
  Tag tag;
  bool is_good = transport && *transport != 0;
  if (is_good) tag.transport = static_cast<Transport>(*transport);
  if (is_good && first < text.size()) {
    const auto second = std::min(text.find('-', first + 1), text.size());
    const auto algorithm = index_in(words::algorithm_tags, text.substr(first + 1, second - first - 1));
    const auto protocol = index_in(words::protocol_tags, text.substr(std::min(second + 1, text.size())));
    is_good = algorithm && protocol;
    if (is_good) tag.algorithm = static_cast<Algorithm>(*algorithm);
    if (is_good) tag.protocol = static_cast<Protocol>(*protocol);
  }
  if (!is_good) {
    row.fail("tag", fmt::format("'{}' is not a tag", text),
             "write p2p, shm or net; if algorithm and protocol were forced, append -Ring or -Tree and -LL, "
             "-LL128 or -Simple");
  }
  return tag;
}

/// Reads "bf16_8192" as precision and side.
std::pair<Precision, int> read_product(const JsonRow& row) {
  const std::string_view text = row.text("gemm");
  const auto bar = std::min(text.find('_'), text.size());
  const auto precision = index_in(words::precisions, text.substr(0, bar));
  const auto digits = text.substr(std::min(bar + 1, text.size()));
  int side = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), side);
  if (!precision || error != std::errc{} || end != digits.data() + digits.size() || side < 1) {
    row.fail("gemm", fmt::format("'{}' is not a square matrix product", text),
             "write its precision and its side, as in bf16_8192");
  }
  return {static_cast<Precision>(*precision), side};
}

/// Number of channels forced on NCCL; 0: none.
int read_channels(const JsonRow& row) {
  return row.has("channels") ? row.whole("channels", 1, most_channels) : 0;
}

std::optional<Spread> read_spread(const JsonRow& row) {
  if (!row.has("low") && !row.has("high")) return std::nullopt;
  const Spread spread{row.time("low"), row.time("high")};
  if (spread.low > spread.high) {
    row.fail("low", "the 10th percentile is above the 90th",
             "'low' and 'high' are in seconds, like 'seconds'");
  }
  return spread;
}

ContentionRow read_contention(const JsonRow& row) {
  ContentionRow result;
  const auto tag = read_tag(row);
  const auto [precision, side] = read_product(row);
  result.transport = tag.transport;
  result.ranks = row.whole("world", 2, most_ranks);
  result.precision = precision;
  result.side = side;
  result.together = row.boolean("together");
  result.kernel_time = row.time("gemm_seconds");
  result.kernels = row.whole("gemm_reps", 1, most_repeats);
  result.collective_time = row.time("allreduce_seconds");
  result.collectives = row.whole("allreduce_reps", 1, most_repeats);
  result.size = row.bytes("bytes");
  row.check_plausible("allreduce_seconds", {result.size, result.collective_time});
  result.channels = read_channels(row);
  return result;
}

/// Reads and checks the row; its kind is left at the default.
CollectiveRow read_collective(const JsonRow& row) {
  const auto tag = read_tag(row);
  CollectiveRow result;
  result.transport = tag.transport;
  result.algorithm = tag.algorithm;
  result.protocol = tag.protocol;
  result.ranks = row.whole("world", 2, most_ranks);
  const auto measured = row.sized_time();
  result.size = measured.size;
  result.time = measured.time;
  result.nodes = row.has("nodes") ? row.whole("nodes", 1, most_ranks) : 1;
  result.spread = read_spread(row);
  return result;
}

}  // namespace

void add_collective_row(const JsonRow& row, Samples& samples) {
  const auto& op = row.text("op");
  // Contention with fp8 products is assumed to be that with bf16.
  if (op == "contention" && row.text("gemm").starts_with("fp8_")) {
    ++samples.unused["contention with fp8 products"];
    return;
  }
  if (op == "contention") {
    samples.contention.push_back(read_contention(row));
    return;
  }
  if (op == "copy_contention") {
    ++samples.unused["contention between copies and collectives"];
    return;
  }
  const auto kind = index_in(words::operations, op);
  if (!kind && !index_in(no_collectives, op)) {
    std::vector<std::string> known{"contention", "copy_contention"};
    known.insert(known.end(), words::operations.begin(), words::operations.end());
    known.insert(known.end(), no_collectives.begin(), no_collectives.end());
    row.fail("op", fmt::format("'{}' is not an operation", op), suggestion(op, known));
  }
  auto collective = read_collective(row);
  if (!kind) {
    ++samples.unused[op];
    return;
  }
  if (read_channels(row) > 0) {  // In a training step NCCL chooses the number of channels.
    ++samples.unused[fmt::format("{} with forced channels", op)];
    return;
  }
  collective.kind = static_cast<CollectiveKind>(*kind);
  samples.collectives.push_back(collective);
}

}  // namespace gradway
