// SPDX-License-Identifier: Apache-2.0
#include "sim/config/read/captured.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "sim/config/read/fields.hpp"
#include "sim/config/read/read.hpp"
#include "sim/config/read/scenario_parts.hpp"
#include "sim/config/yaml/quantities.hpp"
#include "sim/config/yaml/text_table.hpp"
#include "sim/workload/architectures.hpp"
#include "sim/workload/blocks.hpp"
#include "sim/workload/captured/captured_step.hpp"

namespace gradway::config {
namespace {

constexpr std::int64_t largest_side = std::int64_t{1} << 40;
constexpr std::int64_t largest_block = 100'000;
constexpr std::int64_t most_repetitions = 1'000'000;
constexpr double most_megabytes = 1e12;
/// Stands for modules without a name: the model itself and the loss.
constexpr std::string_view no_module = "-";
constexpr std::string_view name_of_root = "model";
/// Layer of the operations that a block issues itself, between its modules.
constexpr std::string_view name_of_block = "block";

/// In the order of CapturedType.
constexpr std::array<std::string_view, 10> type_words{"fp32",  "bf16",  "fp16", "fp64", "int64",
                                                      "int32", "int16", "int8", "bool", "fp8"};

constexpr std::array<std::string_view, 2> pass_words{"forward", "backward"};

/// Blocks with the same operations, in order: `transformer.h.[0..11]`. A name without a range is one block.
struct BlockRange {
  std::string before{};
  std::string after{};
  int first = 0;
  int last = 0;
  bool is_range = false;

  int number() const { return is_range ? std::abs(last - first) + 1 : 1; }
  std::string name(int index) const {
    if (!is_range) return before;
    return fmt::format("{}{}{}", before, first + (last < first ? -index : index), after);
  }
};

std::int64_t number_in(std::string_view text, const Node& node) {
  std::int64_t value = 0;
  for (const auto c : text) {
    if (c < '0' || c > '9' || value > largest_block)
      fail(node.where, fmt::format("invalid block number '{}'", text), "blocks are written as name.[0..11]");
    value = 10 * value + (c - '0');
  }
  if (text.empty()) fail(node.where, "a block number is missing", "blocks are written as name.[0..11]");
  return value;
}

BlockRange block_range(std::string_view written, const Node& node) {
  const auto open = written.find('[');
  if (open == std::string_view::npos) return {.before = std::string{written}};
  const auto dots = written.find("..", open);
  const auto close = written.find(']', open);
  if (dots == std::string_view::npos || close == std::string_view::npos || dots > close)
    fail(node.where, fmt::format("invalid range of blocks '{}'", written),
         "blocks are written as name.[0..11]");
  return {.before = std::string{written.substr(0, open)},
          .after = std::string{written.substr(close + 1)},
          .first = static_cast<int>(number_in(written.substr(open + 1, dots - open - 1), node)),
          .last = static_cast<int>(number_in(written.substr(dots + 2, close - dots - 2), node)),
          .is_range = true};
}

CapturedLayout read_captured_layout(const Cell& cell) {
  if (cell.word().empty()) return CapturedLayout::contiguous;
  if (cell.word() == ":t") return CapturedLayout::transposed;
  if (cell.word() == ":cl") return CapturedLayout::channels_last;
  if (cell.word() == ":s") return CapturedLayout::strided;
  fail(cell.where(), fmt::format("invalid layout '{}'", cell.word()),
       "layouts: :t, :cl, :s; none means contiguous");
}

/// bf16[8192x1024]:t
CapturedTensor read_tensor(const Cell& cell) {
  const auto open = cell.word().find('[');
  const auto close = cell.word().find(']');
  CapturedTensor tensor;
  tensor.type = static_cast<CapturedType>(index_among(cell.part(0, open), "an element type", type_words));
  if (close == std::string_view::npos || close < open)
    fail(cell.where(), fmt::format("invalid tensor '{}'", cell.word()),
         "a tensor is written as bf16[8x1024]");
  tensor.shape =
      joined_numbers(cell.part(open + 1, close - open - 1), "a side of a tensor, as in bf16[8x1024]");
  tensor.layout = read_captured_layout(cell.part(close + 1, std::string_view::npos));
  return tensor;
}

struct CapturedRow {
  std::string module{};  ///< relative to the block; empty: the block itself
  CapturedOperation operation{};
  std::string gradient{};  ///< parameter whose gradient is ready; starts with a dot if relative to the block
  std::int64_t times = 1;
};

/// A note of one word, and what it sets.
using Flag = std::pair<std::string_view, bool CapturedOperation::*>;
constexpr std::array<Flag, 10> one_word_notes{{{"fixed", &CapturedOperation::is_fixed},
                                               {"weight", &CapturedOperation::of_parameters},
                                               {"waits", &CapturedOperation::host_waits},
                                               {"causal", &CapturedOperation::is_causal},
                                               {"flash", &CapturedOperation::is_flash},
                                               {"tf32", &CapturedOperation::is_tf32},
                                               {"eager", &CapturedOperation::is_eager},
                                               {"graph", &CapturedOperation::starts_graph},
                                               {"transposed", &CapturedOperation::is_transposed},
                                               {"reentrant", &CapturedOperation::is_reentrant}}};

void read_note(const Cell& cell, CapturedRow& row) {
  auto& operation = row.operation;
  const auto word = cell.word();
  const auto value = [&](std::string_view key) { return cell.part(key.size(), std::string_view::npos); };
  if (const auto flag = std::ranges::find(one_word_notes, word, &Flag::first); flag != one_word_notes.end()) {
    operation.*flag->second = true;
  } else if (word.starts_with("dropout=")) {
    operation.dropout = number(value("dropout="), "a share", 0, 1);
  } else if (word.starts_with("stride=")) {
    operation.stride = joined_numbers(value("stride="), "a stride");
  } else if (word.starts_with("pad=")) {
    operation.padding = joined_numbers(value("pad="), "a padding");
  } else if (word.starts_with("groups=")) {
    operation.groups = whole_number(value("groups="), "a number of groups", 1, largest_side);
  } else if (word.starts_with("operations=")) {
    operation.inner =
        static_cast<int>(whole_number(value("operations="), "a number of operations", 0, most_repetitions));
  } else if (word.starts_with("times=")) {
    row.times = whole_number(value("times="), "a number of repetitions", 1, most_repetitions);
  } else {
    fail(cell.where(), fmt::format("'{}' is neither a tensor nor a note", word),
         "notes: fixed, weight, waits, causal, flash, tf32, transposed, eager, graph, reentrant, dropout=, "
         "stride=, pad=, groups=, operations=, times=");
  }
}

CapturedRow read_row(Row row) {
  CapturedRow read;
  const auto module = row.next("module").word();
  if (module != no_module) read.module = std::string{module};
  const auto operation = row.next("operation");
  read.operation.name = std::string{operation.word()};
  if (read.operation.name == "gradient") {
    read.gradient = std::string{row.next("parameter").word()};
    row.finish();
    return read;
  }
  auto* tensors = &read.operation.inputs;
  while (true) {
    auto remaining = row;
    try {
      remaining.finish();
      break;
    } catch (const ConfigError&) {  // there is another word
    }
    const auto cell = row.next("word");
    if (cell.word() == "->") {
      tensors = &read.operation.outputs;
    } else if (cell.word().find('[') != std::string_view::npos) {
      tensors->push_back(read_tensor(cell));
    } else {
      read_note(cell, read);
    }
  }
  if (const auto why = why_invalid(read.operation); !why.empty())
    fail(operation.where(), fmt::format("'{}' {}", operation.word(), why),
         "a row is: module, operation, input tensors, '->', output tensors, notes; or capture the program "
         "again");
  return read;
}

struct CapturedSection {
  bool is_backward = false;
  BlockRange blocks{};
  std::vector<CapturedRow> rows{};
};

struct ReadParameter {
  Parameter parameter;
  double width = 4;
  bool is_trained = true;
};

std::vector<ReadParameter> read_captured_parameters(const Node& node, Problems& problems) {
  std::vector<ReadParameter> parameters;
  TextTable{node}.for_each_row(problems, [&](Row row) {
    const auto type =
        static_cast<CapturedType>(index_among(row.next("dtype"), "an element type", type_words));
    const bool is_frozen = row.take("frozen");
    const auto shape = row.next("shape");
    ReadParameter read{.parameter = {{}, {}}, .width = bytes_of(type)};
    if (shape.word() != "scalar") read.parameter.shape = joined_numbers(shape, "a side of a parameter");
    const auto range = block_range(row.next("name").word(), node);
    read.is_trained = !is_frozen;
    row.finish();
    for (int i = 0; i < range.number(); ++i) {
      parameters.push_back(read);
      parameters.back().parameter.name = range.name(i);
    }
  });
  return parameters;
}

std::vector<CapturedMoment> read_captured_moments(const Node& node, Problems& problems) {
  std::vector<CapturedMoment> moments;
  TextTable{node}.for_each_row(problems, [&](Row row) {
    CapturedMoment moment;
    moment.is_backward = index_among(row.next("phase"), "a phase", pass_words) == 1;
    const auto megabytes = [&](std::string_view column) {
      return Bytes{number(row.next(column), "an amount in MB", 0, most_megabytes) * 1e6};
    };
    moment.grows = megabytes("grows");
    moment.fixed = megabytes("fixed");
    moment.gradients = megabytes("gradients");
    row.finish();
    moments.push_back(moment);
  });
  return moments;
}

CapturedSection read_section(Reader& section) {
  CapturedSection read;
  read.is_backward = section.required("pass", one_of<bool>("a pass", pass_words));
  if (const auto blocks =
          section.maybe("blocks", [](const Node& node) { return block_range(text(node), node); }))
    read.blocks = *blocks;
  auto& problems = section.problems();
  read.rows = section.required("list", [&](const Node& node) {
    std::vector<CapturedRow> rows;
    TextTable{node}.for_each_row(problems, [&](const Row& row) { rows.push_back(read_row(row)); });
    return rows;
  });
  section.finish();
  return read;
}

/// Puts the operations of all sections into the layers of their modules.
class LayersOfCapture {
 public:
  explicit LayersOfCapture(std::vector<ReadParameter> parameters) : parameters_{std::move(parameters)} {
    for (std::size_t i = 0; i < parameters_.size(); ++i) by_name_.emplace(parameters_[i].parameter.name, i);
  }

  void add(const CapturedSection& section) {
    for (int i = 0; i < section.blocks.number(); ++i) {
      const auto block = section.blocks.name(i);
      for (const auto& row : section.rows) add(section, block, row);
    }
  }

  /// Moves the layers out. @param without_gradient gets the trained parameters without a gradient
  std::vector<CapturedLayer> take(std::vector<std::string>& without_gradient) {
    for (std::size_t i = 0; i < parameters_.size(); ++i)
      if (parameters_[i].is_trained && !ready_.contains(i))
        without_gradient.push_back(parameters_[i].parameter.name);
    return std::move(layers_);
  }
  const std::vector<std::string>& unknown_parameters() const { return unknown_; }
  const std::vector<ReadParameter>& parameters() const { return parameters_; }

 private:
  CapturedLayer& layer_of(std::string name) {
    const auto [known, is_new] = by_layer_.try_emplace(name, layers_.size());
    if (is_new) layers_.push_back({.name = std::move(name), .parameters = {}, .forward = {}, .backward = {}});
    return layers_[known->second];
  }

  void add(const CapturedSection& section, const std::string& block, const CapturedRow& row) {
    const auto below = row.module.empty() && !block.empty() ? std::string{name_of_block} : row.module;
    auto name = block.empty() ? below : fmt::format("{}.{}", block, below);
    if (name.empty()) name = name_of_root;
    auto& layer = layer_of(std::move(name));
    if (!row.gradient.empty())
      return add_gradient(layer, row.gradient.starts_with('.') ? block + row.gradient : row.gradient);
    auto& pass = section.is_backward ? layer.backward : layer.forward;
    for (std::int64_t i = 0; i < row.times; ++i) {
      pass.push_back(row.operation);
      pass.back().order = number_++;
    }
  }

  void add_gradient(CapturedLayer& layer, const std::string& name) {
    const auto known = by_name_.find(name);
    if (known == by_name_.end()) {
      unknown_.push_back(name);
    } else if (ready_.emplace(known->second, true).second) {
      // In the order of the forward pass, as the layers; gradients are ready in reverse order.
      layer.parameters.insert(layer.parameters.begin(), parameters_[known->second].parameter);
    }
  }

  std::vector<ReadParameter> parameters_;
  std::int64_t number_ = 0;  ///< of operations
  std::map<std::string, std::size_t, std::less<>> by_name_{};
  std::map<std::string, std::size_t, std::less<>> by_layer_{};
  std::map<std::size_t, bool> ready_{};
  std::vector<CapturedLayer> layers_{};
  std::vector<std::string> unknown_{};
};

/// Puts layers into the order of the forward pass. A pass enters each block once: modules that only the
/// backward pass reaches, such as those whose forward pass makes views, join the others of their block. The
/// root is last, as the loss follows the other layers.
void put_in_order(std::vector<CapturedLayer>& layers) {
  std::map<std::string, std::size_t, std::less<>> positions;
  const auto position = [&](const CapturedLayer& layer) {
    if (layer.name == name_of_root) return layers.size();
    const auto block = block_name(layer.name);
    return positions.try_emplace(std::string{block.empty() ? layer.name : block}, positions.size())
        .first->second;
  };
  for (const auto& layer : layers) position(layer);
  std::ranges::stable_sort(layers, {}, position);
}

/// Reads operations and memory, which both sequence lengths of a capture have.
/// @return nothing if they are invalid
std::optional<LayersOfCapture> read_operations(Reader& file, std::vector<ReadParameter> parameters,
                                               CapturedStep& captured) {
  auto& problems = file.problems();
  std::vector<CapturedSection> sections;
  for (auto& section : file.maps("operations")) sections.push_back(read_section(section));
  if (const auto memory =
          file.maybe("memory", [&](const Node& node) { return read_captured_moments(node, problems); }))
    captured.memory = *memory;
  if (!file.is_valid()) return std::nullopt;
  LayersOfCapture layers{std::move(parameters)};
  for (const auto& section : sections) layers.add(section);
  for (const auto& name : layers.unknown_parameters())
    file.error(file.key_place("operations"),
               fmt::format("the gradient of '{}' is ready, but 'parameters' does not list it", name),
               "add it to 'parameters'");
  return layers;
}

/// Reads the same step at another sequence length.
void read_second(Reader& file, const std::vector<ReadParameter>& parameters, CapturedStep& captured) {
  auto section = file.maybe_map("second");
  if (!section) return;
  CapturedStep second;
  second.batch = section->optional("batch", integer(1, 1'000'000), captured.batch);
  second.sequence = section->required("sequence", integer(1, 1 << 24));
  auto layers = read_operations(*section, parameters, second);
  section->finish();
  if (!layers || !section->is_valid()) return;
  std::vector<std::string> ignored;
  second.layers = layers->take(ignored);
  put_in_order(second.layers);
  if (const auto mismatch = difference(captured, second); !mismatch.empty())
    file.error(file.key_place("second"), "the captures differ in more than sizes: " + mismatch,
               "capture the same program at two sequence lengths, both with the same settings");
  captured.second = std::make_shared<const CapturedStep>(std::move(second));
}

/// Reads times that the user gives for operations, such as custom ones and kernels of Triton.
void read_times(Reader& file, CapturedStep& captured) {
  auto section = file.maybe_map("times");
  if (!section) return;
  const auto given = section->entries();
  for (const auto& entry : given) {
    const auto time = section->optional(entry.key, duration, Seconds{});
    bool is_issued = false;
    for (auto& layer : captured.layers)
      for (auto* pass : {&layer.forward, &layer.backward})
        for (auto& operation : *pass)
          if (operation.name == entry.key) {
            operation.given = time;
            is_issued = true;
          }
    if (!is_issued)
      section->error(entry.where, fmt::format("no operation of the step is called '{}'", entry.key),
                     "names are those of the rows of 'operations'; gradway show model lists them");
  }
  section->finish();
}

}  // namespace

void read_captured(Reader& file, Model& model) {
  CapturedStep captured;
  auto& problems = file.problems();
  read_fields(file, captured);
  file.optional("channels_last", boolean, false);
  file.optional("checkpointing", boolean, false);
  captured.strategy = file.optional("strategy", [](const Node& node) { return to_yaml(node); }, {});
  std::erase(captured.strategy, '"');
  model.input_per_sample = file.required("input_per_sample", bytes_or_zero);
  const auto parameters =
      file.required("parameters", [&](const Node& node) { return read_captured_parameters(node, problems); });
  auto read = read_operations(file, parameters, captured);
  if (!read) return;
  auto& layers = *read;
  std::vector<std::string> without_gradient;
  captured.layers = layers.take(without_gradient);
  if (std::ranges::all_of(captured.layers, [](const auto& layer) { return layer.parameters.empty(); }))
    file.error(
        file.key_place("operations"), "no parameter has a gradient",
        "add a row 'MODULE gradient PARAMETER' for each trained parameter, or capture the program again");
  if (!file.is_valid()) return;
  put_in_order(captured.layers);
  read_times(file, captured);
  read_second(file, parameters, captured);
  if (!file.is_valid()) return;
  captured.unknown = unknown_operations(captured);
  model.tokens_per_sample = captured.sequence;
  auto step = std::make_shared<const CapturedStep>(std::move(captured));
  set_forward_pass(model, replay_of(step));
  for (const auto& parameter : layers.parameters()) {
    const bool is_unused =
        parameter.is_trained &&
        std::ranges::find(without_gradient, parameter.parameter.name) != without_gradient.end();
    if ((!parameter.is_trained || is_unused) && !model.layers.empty())
      model.layers.front().frozen.push_back({parameter.parameter, parameter.width});
  }
  model.captured = std::move(step);
}

std::optional<Strategy> read_captured_strategy(Reader& file) {
  if (!file.has("strategy")) return std::nullopt;
  ScenarioSpec recorded;
  read_strategy(file, recorded);
  return recorded.job.strategy;
}

}  // namespace gradway::config
