// SPDX-License-Identifier: Apache-2.0
#include "sim/fit/sample_rows.hpp"

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
constexpr int most_repeats = 1 << 30;

// In the order of the enumerators; NCCL's own spelling.
constexpr std::array algorithm_tags{"Ring"sv, "Tree"sv};
constexpr std::array protocol_tags{"LL"sv, "LL128"sv, "Simple"sv};
constexpr std::array no_collectives{"all_to_all"sv};  // measured, but not modelled
constexpr std::array memory_kernels{"copy_fp32"sv, "add_fp32"sv, "scale_fp32"sv, "cast_fp32_bf16"sv,
                                    "cast_bf16_fp32"sv};

/// How a collective was run.
struct Tag {
  Transport transport = Transport::p2p;
  std::optional<Algorithm> algorithm;
  std::optional<Protocol> protocol;
};

template <std::size_t size>
std::optional<std::size_t> index_in(const std::array<std::string_view, size>& table, std::string_view word) {
  const auto found = std::ranges::find(table, word);
  if (found == table.end()) return std::nullopt;
  return static_cast<std::size_t>(found - table.begin());
}

Tag read_tag(const JsonRow& row) {
  const std::string_view all = row.text("tag");
  const auto first = std::min(all.find('-'), all.size());
  const auto transport = index_in(words::transports, all.substr(0, first));
  Tag tag;
  bool is_good = transport && *transport != 0;
  if (is_good) tag.transport = static_cast<Transport>(*transport);
  if (is_good && first < all.size()) {
    const auto second = std::min(all.find('-', first + 1), all.size());
    const auto algorithm = index_in(algorithm_tags, all.substr(first + 1, second - first - 1));
    const auto protocol = index_in(protocol_tags, all.substr(std::min(second + 1, all.size())));
    is_good = algorithm && protocol;
    if (is_good) tag.algorithm = static_cast<Algorithm>(*algorithm);
    if (is_good) tag.protocol = static_cast<Protocol>(*protocol);
  }
  if (!is_good) {
    row.fail(
        "tag", fmt::format("'{}' is not a tag", all),
        "write p2p, shm or net; behind it, if both were forced, -Ring or -Tree and -LL, -LL128 or -Simple");
  }
  return tag;
}

/// "bf16_8192" -> precision and side
std::pair<Precision, int> read_product(const JsonRow& row) {
  const std::string_view all = row.text("gemm");
  const auto bar = std::min(all.find('_'), all.size());
  const auto precision = index_in(words::precisions, all.substr(0, bar));
  const auto digits = all.substr(std::min(bar + 1, all.size()));
  int side = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), side);
  if (!precision || error != std::errc{} || end != digits.data() + digits.size() || side < 1) {
    row.fail("gemm", fmt::format("'{}' is not a square product", all),
             "write its precision and its side, as in bf16_8192");
  }
  return {static_cast<Precision>(*precision), side};
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
  return result;
}

/// @return the row; of an operation that gradway does not know as well, if only the kind is not looked at
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
  return result;
}

void add_operation(const JsonRow& row, Samples& samples) {
  const auto& op = row.text("op");
  if (op == "contention") {
    samples.contention.push_back(read_contention(row));
    return;
  }
  const auto kind = index_in(words::operations, op);
  if (!kind && !index_in(no_collectives, op)) {
    std::vector<std::string> known{"contention"};
    known.insert(known.end(), words::operations.begin(), words::operations.end());
    known.insert(known.end(), no_collectives.begin(), no_collectives.end());
    row.fail("op", fmt::format("'{}' is not an operation", op), suggestion(op, known));
  }
  auto collective = read_collective(row);
  if (!kind) {
    ++samples.unused[op];
    return;
  }
  collective.kind = static_cast<CollectiveKind>(*kind);
  samples.collectives.push_back(collective);
}

void add_copy(const JsonRow& row, LinkRole role, Samples& samples) {
  const auto measured = row.sized_time();
  samples.copies.push_back({role, measured.size, measured.time, read_copy_gpus(row)});
}

/// "h2d+d2h_x4" -> 4; 0 for other patterns
int gpus_both_ways(std::string_view name) {
  constexpr auto start = "h2d+d2h_x"sv;
  int gpus = 0;
  if (!name.starts_with(start)) return 0;
  std::from_chars(name.data() + start.size(), name.data() + name.size(), gpus);
  return std::clamp(gpus, 0, most_ranks);
}

void add_pattern(const JsonRow& row, Samples& samples) {
  const auto& name = row.text("name");
  PatternRow pattern{gpus_both_ways(name), row.bytes("bytes"), row.times("seconds"), {}};
  pattern.copies = read_copy_ends(row, pattern.times.size());
  const auto expected = 2 * static_cast<std::size_t>(pattern.both_ways);
  if (pattern.both_ways > 0 && pattern.times.size() != expected) {
    row.fail("seconds", fmt::format("'{}' has {} times, not {}", name, pattern.times.size(), expected),
             "one for each copy: each GPU has one to it and one from it");
  }
  if (pattern.both_ways < 2) ++samples.unused["pattern"];
  samples.patterns.push_back(std::move(pattern));
}

void add_product(const JsonRow& row, Samples& samples) {
  MatrixRow product;
  product.precision = static_cast<Precision>(row.one_of("dtype", "a precision", words::precisions));
  product.m = row.count("m");
  product.n = row.count("n");
  product.k = row.count("k");
  product.time = row.time("seconds");
  samples.matrix.push_back(product);
}

void add_memory(const JsonRow& row, Samples& samples) {
  const auto op = row.one_of("op", "a memory-bound kernel", memory_kernels);
  samples.memory.push_back({memory_kernels[op] == "cast_bf16_fp32", row.bytes("bytes"), row.time("seconds")});
}

/// Checks a row that no fit uses, and counts it.
void count_unused(const JsonRow& row, Samples& samples) {
  static_cast<void>(row.time("seconds"));
  ++samples.unused[row.text("kind")];
}

/// What a row's 'kind' makes of it.
struct RowKind {
  std::string_view name;
  void (*add)(const JsonRow&, Samples&);
};
constexpr std::array row_kinds{
    RowKind{"h2d_pinned", [](const JsonRow& row, Samples& s) { add_copy(row, LinkRole::to_gpu, s); }},
    RowKind{"d2h_pinned", [](const JsonRow& row, Samples& s) { add_copy(row, LinkRole::from_gpu, s); }},
    RowKind{"h2d_pageable",
            [](const JsonRow& row, Samples& s) { add_copy(row, LinkRole::pageable_to_gpu, s); }},
    RowKind{"d2d_peer", [](const JsonRow& row, Samples& s) { add_copy(row, LinkRole::peer, s); }},
    RowKind{"d2d_same", count_unused},
    RowKind{"node", add_node_row},
    RowKind{"pattern", add_pattern},
    RowKind{"gemm", add_product},
    RowKind{"memory", add_memory},
    RowKind{"launch", [](const JsonRow& row, Samples& s) { s.launches.push_back(row.time("seconds")); }},
    RowKind{"optimizer", count_unused},
    RowKind{"attention", count_unused},
};

}  // namespace

void add_sample_row(const JsonRow& row, Samples& samples) {
  if (row.has("kind")) {
    std::array<std::string_view, row_kinds.size()> names;
    std::ranges::transform(row_kinds, names.begin(), &RowKind::name);
    row_kinds[row.one_of("kind", "a kind of sample", names)].add(row, samples);
  } else if (row.has("op")) {
    add_operation(row, samples);
  } else {
    row.fail("the row has neither 'op' nor 'kind': nothing says what was measured",
             "collectives have an 'op'; copies and kernels a 'kind'");
  }
}

}  // namespace gradway
