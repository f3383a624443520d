// SPDX-License-Identifier: Apache-2.0
#include "sim/config/yaml/parse_value.hpp"

#include <algorithm>
#include <limits>
#include <set>

#include <fmt/format.h>

#include "sim/base/contract.hpp"
#include "sim/base/number.hpp"
#include "sim/config/yaml/goal_quantities.hpp"
#include "sim/config/yaml/quantities.hpp"
#include "sim/scenario/job.hpp"

namespace gradway::config {

double amount(const value::Amount& kind, const Node& node) {
  const bool may_be_none = !kind.zero.empty();
  switch (kind.unit) {
    case value::Unit::latency:
      return (may_be_none ? latency_or_zero(node) : latency(node)).value();
    case value::Unit::span:
      return time_span(node).value();
    case value::Unit::pause:
      return pause_or_none(node).value();
    case value::Unit::share:
      return share(node);
    case value::Unit::positive_share: {
      const auto fraction = share(node);
      if (fraction == 0)
        fail(node.where, fmt::format("expected a percentage above 0 %, found '{}'", node.text));
      return fraction;
    }
    case value::Unit::step_rate:
      return step_rate(node).value();
    case value::Unit::tokens:
      return tokens(node);
    case value::Unit::samples:
      return samples(node);
    case value::Unit::data_price:
      return egress_price(node);
    case value::Unit::emission:
      return grid_intensity(node);
    case value::Unit::relative_error:
      return percentage(node);
    default:
      return quantity(node, value::facts_of(kind.unit).quantity, may_be_none);
  }
}

namespace {

double elements(const Node& node) {
  constexpr double most_elements = 1e15;
  const auto& word = scalar(node, "a number of elements");
  double count = 0;
  const auto* end = word.data() + word.size();
  const auto [number_end, error] = read_number(word.data(), end, count);
  if (error != std::errc{} || number_end != end || !(count >= 1 && count <= most_elements))
    fail(node.where, fmt::format("'{}' is not a number of elements", node.text),
         "write a number from 1 to 1e15, such as 5e8");
  return count;
}

std::int64_t gpus(const value::Gpus& kind, const Node& node) {
  const auto count = whole(node, 1, std::numeric_limits<std::int64_t>::max());
  if (count > kind.most)
    fail(node.where, fmt::format("{} GPUs are too many to simulate: 1 to {}", count, kind.most),
         "lower job.gpus, or simulate one of several equal parts of the cluster");
  return count;
}

/// "block", "4 blocks", "whole": the number of blocks, or 0.
std::int64_t wrapping(const Node& node) {
  constexpr int most_wrapped = 100'000;
  const auto text_of_node = text(node);
  if (text_of_node == "block") return 1;
  if (text_of_node == "whole") return 0;
  int blocks = 0;
  const auto* end = text_of_node.data() + text_of_node.size();
  const auto [number_end, error] = read_number(text_of_node.data(), end, blocks);
  if (error != std::errc{} || std::string_view(number_end, end) != " blocks" || blocks < 1 ||
      blocks > most_wrapped)
    fail(node.where, fmt::format("invalid wrap '{}'", text_of_node),
         "expected block, whole, or a number of blocks such as '4 blocks'");
  return blocks;
}

/// true, false, or a number of ranks: `Fsdp::over_all`, `Fsdp::kept`, or the number.
std::int64_t resharding(const value::Resharding& kind, const Node& node) {
  if (node.text == "true") return Fsdp::over_all;
  if (node.text == "false") return Fsdp::kept;
  try {
    return whole(node, 2, kind.most);
  } catch (const ConfigError&) {
    fail(node.where, fmt::format("expected true, false or a number of ranks, found '{}'", node.text),
         "true frees parameters after the forward pass, false keeps them, N keeps them sharded over N ranks");
  }
}

std::vector<double> rows_of_layer(const Node& node) {
  constexpr double most_rows = 1e15;
  std::vector<double> rows;
  for (const auto& item : node.items) rows.push_back(real(item, 0, most_rows));
  if (std::ranges::none_of(rows, [](double expert) { return expert > 0; }))
    fail(node.where, "no expert receives rows", "write how many rows each expert received");
  return rows;
}

/// A list of numbers, or a list of lists of equally many numbers.
ExpertRows rows_of_experts(const Node& node) {
  if (node.kind != Node::Kind::sequence || node.items.empty())
    fail(node.where, fmt::format("expected a list of numbers, found {}", describe(node)),
         "write a number for each expert, such as [120, 80, 100, 100], or a list of such lists, one for each "
         "layer with experts");
  if (node.items.front().kind != Node::Kind::sequence) return {rows_of_layer(node)};
  ExpertRows rows;
  for (const auto& layer : node.items) {
    if (layer.kind != Node::Kind::sequence)
      fail(layer.where, fmt::format("expected a list of numbers, found {}", describe(layer)),
           "the layers before have a list each");
    rows.push_back(rows_of_layer(layer));
    if (rows.back().size() != rows.front().size())
      fail(layer.where,
           fmt::format("{} experts, but {} in the first layer", rows.back().size(), rows.front().size()),
           "write one number per expert in each layer");
  }
  return rows;
}

/// All five axes, joined by hyphens.
std::vector<std::int64_t> axis_order(const Node& node) {
  const auto words = text(node);
  std::vector<std::int64_t> order;
  for (std::size_t start = 0; start <= words.size();) {
    const auto end = std::min(words.find('-', start), words.size());
    const auto axis = std::ranges::find(rank_axis_words, std::string_view{words}.substr(start, end - start));
    if (axis == rank_axis_words.end() || order.size() == rank_axis_words.size()) break;
    order.push_back(axis - rank_axis_words.begin());
    start = end + 1;
  }
  const std::set<std::int64_t> axes{order.begin(), order.end()};
  if (axes.size() != rank_axis_words.size() || words.size() != 14)
    fail(node.where, fmt::format("invalid axis order '{}'", words),
         "expected tp, cp, ep, dp and pp, the fastest-varying first; Megatron's own is tp-cp-ep-dp-pp");
  return order;
}

/// Parses a node by the kind of its value.
struct Parser {
  const Node& node;

  FieldValue operator()(const value::Boolean&) const { return boolean(node); }
  FieldValue operator()(const value::Whole& kind) const { return whole(node, kind.least, kind.most); }
  FieldValue operator()(const value::Gpus& kind) const { return gpus(kind, node); }
  FieldValue operator()(const value::Real& kind) const { return real(node, kind.least, kind.most); }
  FieldValue operator()(const value::Ratio& kind) const {
    using enum value::Ratio::Meaning;
    return kind.meaning == slowdown     ? config::slowdown(node)
           : kind.meaning == time_scale ? scale_of_time(node)
                                        : config::efficiency(node);
  }
  FieldValue operator()(const value::Words& kind) const {
    return static_cast<std::int64_t>(index_among(kind.thing, kind.words, node)) + kind.first;
  }
  FieldValue operator()(const value::WordsOrNone& kind) const {
    std::vector names{kind.none};
    names.insert(names.end(), kind.words.begin(), kind.words.end());
    const auto index = static_cast<std::int64_t>(index_among(kind.thing, names, node));
    return index == 0 ? FieldValue{std::monostate{}} : FieldValue{index - 1};
  }
  FieldValue operator()(const value::Amount& kind) const { return amount(kind, node); }
  FieldValue operator()(const value::Elements&) const { return elements(node); }
  FieldValue operator()(const value::Wrapping&) const { return wrapping(node); }
  FieldValue operator()(const value::Resharding& kind) const { return resharding(kind, node); }
  FieldValue operator()(const value::AxisOrder&) const { return axis_order(node); }
  FieldValue operator()(const value::RowsOfExperts&) const { return rows_of_experts(node); }
  FieldValue operator()(const value::MedianAndWorst&) const { return percentage(node); }
  FieldValue operator()(const value::Formatted& kind) const {
    using enum value::Formatted::Form;
    if (kind.form == compute_capability) return std::int64_t{config::compute_capability(node)};
    return kind.form == date ? config::date(node) : amd_architecture(node);
  }
  FieldValue operator()(const value::Name&) const { return text(node); }
  FieldValue operator()(const value::Text&) const { return text(node); }
  FieldValue operator()(const value::Names&) const { return std::vector{text(node)}; }
  template <value::Custom Kind>
  FieldValue operator()(const Kind&) const {
    throw ContractViolation{"a custom key has its own parser"};
  }
};

}  // namespace

FieldValue parse_value(const value::Kind& kind, const Node& node) {
  return std::visit(Parser{node}, kind);
}

}  // namespace gradway::config
