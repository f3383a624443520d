// SPDX-License-Identifier: Apache-2.0
#include "readers/prices/price_table.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "readers/prices/csv.hpp"
#include "sim/base/nearest.hpp"
#include "sim/base/number.hpp"
#include "sim/base/rows.hpp"
#include "sim/base/text.hpp"

namespace gradway {

namespace tables {
extern const std::string_view accelerators;
}

namespace {

constexpr std::size_t most_problems = 20;  // of a file: its rows tend to have the same one

/// The second word of a row of accelerators.txt; empty if there is none.
std::string_view accelerator_row(std::string_view kind, std::string_view key) {
  static const auto rows = rows_in(tables::accelerators);
  const auto row = std::ranges::find_if(
      rows, [&](const TextRow& candidate) { return candidate.kind == kind && candidate.word(0) == key; });
  return row == rows.end() ? std::string_view{} : row->word(1);
}

/// In lower case, without blanks, dashes and underscores.
std::string compact_name(std::string_view name) {
  auto letters = lower_case(name);
  std::erase_if(letters, [](char c) { return c == ' ' || c == '-' || c == '_'; });
  return letters;
}

bool is_date(std::string_view text) {
  if (text.size() != 10 || text[4] != '-' || text[7] != '-') return false;
  if (!is_digits(text.substr(0, 4)) || !is_digits(text.substr(5, 2)) || !is_digits(text.substr(8)))
    return false;
  const auto number = [&](std::size_t first, std::size_t length) {
    return *leading_number(text.substr(first, length));
  };
  return std::chrono::year_month_day{std::chrono::year{number(0, 4)},
                                     std::chrono::month{static_cast<unsigned>(number(5, 2))},
                                     std::chrono::day{static_cast<unsigned>(number(8, 2))}}
      .ok();
}

/// What a row offers.
struct Offer {
  const CsvCell* cell = nullptr;  ///< of the price
  std::string platform;           ///< empty: that which stands for its GPU
  std::string gpu;
  double count = 1;      ///< GPUs that the price is of
  bool is_node = false;  ///< the price is of a whole node of the platform
  std::string region;
  std::string date;
  Terms terms = Terms::on_demand;
};

class PriceTableReader {
 public:
  PriceTableReader(const TextFile& file, const std::vector<PricedNode>& nodes,
                   const PriceTableOptions& options)
      : file_{file}, nodes_{nodes}, options_{options} {}

  PriceTable read() {
    const auto rows = csv_rows(file_);
    if (rows.empty()) refuse_at(file_.whole(), "the file has no rows", "");
    header_ = rows.front();
    table_.is_skypilot = column("AcceleratorName") && column("Price");
    check_header();
    for (auto row = rows.begin() + 1; row != rows.end() && problems_.size() < most_problems; ++row) {
      row_ = &*row;
      if (row->size() != header_.size()) {
        add(row->front(),
            fmt::format("this row has {} cells, but the first one {}", row->size(), header_.size()),
            "a cell with commas needs double quotes");
      } else if (table_.is_skypilot) {
        read_skypilot_row();
      } else {
        read_plain_row();
      }
    }
    if (!problems_.empty()) throw ConfigError{std::move(problems_)};
    for (const auto& [reason, names] : left_out_) table_.left_out.push_back(sentence(reason, names));
    return std::move(table_);
  }

 private:
  static constexpr std::array<std::string_view, 8> plain_columns{
      "platform", "gpu", "count", "per_node_hour", "per_gpu_hour", "region", "date", "terms"};

  void add(const CsvCell& cell, std::string what, std::string hint) {
    problems_.push_back({file_.at(cell.offset, cell.length), std::move(what), {}, std::move(hint)});
  }

  std::optional<std::size_t> column(std::string_view name) const {
    const auto cell = std::ranges::find(header_, name, &CsvCell::text);
    if (cell == header_.end()) return std::nullopt;
    return static_cast<std::size_t>(cell - header_.begin());
  }

  /// The cell of a column in the row; null without that column.
  const CsvCell* cell(std::string_view name) const {
    const auto position = column(name);
    return position ? &(*row_)[*position] : nullptr;
  }

  std::string text(std::string_view name) const {
    const auto* found_cell = cell(name);
    return found_cell == nullptr ? std::string{} : found_cell->text;
  }

  void check_header() {
    const std::string hint =
        "a table needs the columns platform or gpu, per_node_hour or per_gpu_hour, and region; SkyPilot's "
        "catalogue "
        "has AcceleratorName and Price";
    if (table_.is_skypilot) {
      for (const auto name : {"InstanceType", "AcceleratorCount", "Region"})
        if (!column(name)) add(header_.front(), fmt::format("the column '{}' is missing", name), hint);
      if (options_.date.empty())
        refuse_at(file_.whole(), "SkyPilot's catalogue has no dates",
                  "give that of its commit: --date 2026-10-07");
      return;
    }
    for (const auto& head : header_)
      if (std::ranges::find(plain_columns, head.text) == plain_columns.end())
        add(head, fmt::format("unknown column '{}'", head.text),
            suggestion_of_keys(head.text, {plain_columns.begin(), plain_columns.end()}));
    for (const auto& [one, other] : {std::pair{"platform", "gpu"}, std::pair{"per_node_hour", "per_gpu_hour"},
                                     std::pair{"region", "region"}})
      if (!column(one) && !column(other))
        add(header_.front(), fmt::format("the column '{}' is missing", one), hint);
    if (!column("date") && options_.date.empty())
      add(header_.front(), "the column 'date' is missing",
          "add it, or give one for all rows: --date 2026-10-07");
    if (!problems_.empty()) throw ConfigError{std::move(problems_)};
  }

  void leave_out(const std::string& reason, const std::string& name = {}) { ++left_out_[reason][name]; }

  static std::string sentence(const std::string& reason, const std::map<std::string, int>& names) {
    int rows = 0;
    std::vector<std::string> counted;
    for (const auto& [name, count] : names) {
      rows += count;
      if (!name.empty()) counted.push_back(fmt::format("{} ({})", name, count));
    }
    const auto text = fmt::format("{} {} left out: {}", rows, rows == 1 ? "price is" : "prices are", reason);
    return counted.empty() ? text : fmt::format("{}: {}", text, fmt::join(counted, ", "));
  }

  std::optional<double> number(const CsvCell& from, std::string_view thing, double least, double most) {
    double value = 0;
    const auto* const end = from.text.data() + from.text.size();
    const auto [rest, error] = read_number(from.text.data(), end, value);
    if (error == std::errc{} && rest == end && value >= least && value <= most) return value;
    add(from, fmt::format("'{}' is not {}", from.text, thing),
        fmt::format("expected a number from {} to {}", least, most));
    return std::nullopt;
  }
  std::optional<double> price(const CsvCell& from) {
    return number(from, "a price in US dollars per hour", 1e-4, 1e6);
  }

  /// The platform whose name ends in that of an instance type; null if there is none.
  const PricedNode* node_of_instance(std::string_view instance) const {
    auto name = lower_case(instance);
    std::ranges::replace(name, '_', '-');
    constexpr std::string_view azure = "standard-";
    if (name.starts_with(azure)) name.erase(0, azure.size());
    const auto node = std::ranges::find_if(
        nodes_, [&](const PricedNode& candidate) { return candidate.platform.ends_with("-" + name); });
    return name.find_first_of(".-") == std::string::npos || node == nodes_.end() ? nullptr : &*node;
  }

  const PricedNode* node_named(std::string_view platform) const {
    const auto node = std::ranges::find(nodes_, platform, &PricedNode::platform);
    return node == nodes_.end() ? nullptr : &*node;
  }

  /// The platform that stands for nodes with a GPU; null if there is none.
  const PricedNode* node_with(const std::string& gpu) const {
    const auto* chosen = node_named(options_.platform);
    if (chosen != nullptr && chosen->gpu == gpu) return chosen;
    return node_named(accelerator_row("node", gpu));
  }

  /// The file of platforms/gpus of an accelerator; its own name if it has none.
  /// @param more text that may say that it is a card for PCIe
  std::string gpu_of(const std::string& accelerator, std::string_view more) const {
    const auto letters = compact_name(accelerator);
    std::string gpu{accelerator_row("gpu", letters)};
    if (gpu.empty()) {
      const auto node = std::ranges::find_if(
          nodes_, [&](const PricedNode& candidate) { return compact_name(candidate.gpu) == letters; });
      gpu = node == nodes_.end() ? accelerator : node->gpu;
    }
    constexpr std::string_view module = "-sxm";
    const auto position = gpu.find(module);
    if (position != std::string::npos && contains(lower_case(more), "pcie"))
      gpu.replace(position, module.size(), "-pcie");
    return gpu;
  }

  void read_skypilot_row() {
    const auto accelerator = text("AcceleratorName");
    if (accelerator.empty()) return leave_out("without an accelerator");
    const auto instance = text("InstanceType");
    if (instance.empty()) return leave_out("of a GPU without its host");
    const auto count = number(*cell("AcceleratorCount"), "a number of accelerators", 1e-3, 1e5);
    if (!count) return;
    Offer offer;
    offer.gpu = gpu_of(accelerator, instance + text("GpuInfo"));
    offer.count = *count;
    offer.region = text("Region");
    offer.date = options_.date;
    if (const auto* node = node_of_instance(instance); node != nullptr) {
      offer.platform = node->platform;
      offer.is_node = true;
    }
    std::optional<double> on_demand;
    if (!text("Price").empty()) {
      offer.cell = cell("Price");
      on_demand = price(*offer.cell);
      if (on_demand) take(offer, *on_demand);
    }
    if (text("SpotPrice").empty()) return;
    offer.cell = cell("SpotPrice");
    offer.terms = Terms::spot;
    const auto spot = price(*offer.cell);
    if (!spot) return;
    if (on_demand && *spot >= *on_demand) return leave_out("spot capacity costs as much as on demand");
    take(offer, *spot);
  }

  void read_plain_row() {
    Offer offer;
    offer.platform = text("platform");
    offer.region = text("region");
    offer.date = text("date");
    if (offer.region.empty())
      return add(*cell("region"), "the region is empty", "any name, such as us-east-1");
    if (offer.date.empty()) offer.date = options_.date;
    if (!is_date(offer.date)) {
      const auto* from = cell("date");
      return add(from == nullptr ? row_->front() : *from, fmt::format("'{}' is not a date", offer.date),
                 "write it as 2026-10-07");
    }
    if (const auto terms = text("terms"); !terms.empty()) {
      const auto word = std::ranges::find(terms_words, terms);
      if (word == terms_words.end())
        return add(*cell("terms"), fmt::format("'{}' is not known as terms", terms),
                   suggestion_of_keys(terms, {terms_words.begin(), terms_words.end()}));
      offer.terms = static_cast<Terms>(word - terms_words.begin());
    }
    const bool is_node = !text("per_node_hour").empty();
    if (is_node == !text("per_gpu_hour").empty())
      return add(row_->front(), is_node ? "this row has two prices" : "this row has no price",
                 "give per_node_hour or per_gpu_hour");
    offer.cell = cell(is_node ? "per_node_hour" : "per_gpu_hour");
    if (offer.platform.empty() == text("gpu").empty())
      return add(row_->front(),
                 offer.platform.empty() ? "this row has no platform" : "this row has a platform and a GPU",
                 "give a platform, or a gpu and its count in a node");
    if (!offer.platform.empty() && node_named(offer.platform) == nullptr) {
      std::vector<std::string> names;
      for (const auto& node : nodes_) names.push_back(node.platform);
      return add(*cell("platform"), fmt::format("unknown platform '{}'", offer.platform),
                 suggestion(offer.platform, names));
    }
    offer.is_node = is_node && !offer.platform.empty();
    if (offer.platform.empty()) offer.gpu = gpu_of(text("gpu"), "");
    if (is_node && !text("count").empty()) {
      const auto count = number(*cell("count"), "a number of GPUs", 1, 1e5);
      if (!count) return;
      offer.count = *count;
    }
    if (const auto usd = price(*offer.cell)) take(offer, *usd);
  }

  /// Takes a price, unless no platform has it or a better one is known.
  void take(const Offer& offer, double usd) {
    const auto* node = offer.platform.empty() ? node_with(offer.gpu) : node_named(offer.platform);
    if (node == nullptr) return leave_out("no platform stands for nodes with these GPUs", offer.gpu);
    if (!offer.is_node && offer.count > node->gpus)
      return leave_out("of more GPUs than a node of the platform has", node->platform);
    if (!offer.is_node && offer.count != std::floor(offer.count))
      return leave_out("of a part of a GPU", offer.gpu);
    const bool is_node = offer.is_node || offer.count == node->gpus;
    const TablePrice taken{
        node->platform, is_node ? usd : usd / offer.count, !is_node, offer.region, offer.date, offer.terms};
    const auto count = is_node ? node->gpus : offer.count;
    const auto [best, is_new] = best_.try_emplace({taken.platform, taken.region, taken.date, taken.terms},
                                                  Best{table_.prices.size(), count, offer.cell});
    if (is_new) {
      table_.prices.push_back(taken);
      return;
    }
    auto& known = table_.prices[best->second.position];
    if (!table_.is_skypilot && count == best->second.count && known.usd != taken.usd) {
      add(*offer.cell,
          fmt::format("another price of '{}' in {} has the same date and terms", taken.platform,
                      taken.region),
          "keep one of them");
      problems_.back().notes.push_back(
          {file_.at(best->second.cell->offset, best->second.cell->length), "the other price"});
    }
    if (count < best->second.count || (count == best->second.count && taken.usd >= known.usd)) return;
    known = taken;
    best->second.count = count;
    best->second.cell = offer.cell;
  }

  /// Where the best price so far stands, and the GPUs it is of.
  struct Best {
    std::size_t position = 0;
    double count = 0;
    const CsvCell* cell = nullptr;
  };

  const TextFile& file_;
  const std::vector<PricedNode>& nodes_;
  const PriceTableOptions& options_;
  std::vector<CsvCell> header_;
  const std::vector<CsvCell>* row_ = nullptr;
  PriceTable table_;
  std::map<std::tuple<std::string, std::string, std::string, Terms>, Best> best_;
  std::map<std::string, std::map<std::string, int>> left_out_;  ///< prices by reason and name
  std::vector<Problem> problems_;
};

/// A text in double quotes, for YAML.
std::string in_quotes(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

PriceTable read_price_table(const TextFile& file, const std::vector<PricedNode>& nodes,
                            const PriceTableOptions& options) {
  return PriceTableReader{file, nodes, options}.read();
}

std::string prices_yaml(const PriceTable& table, const std::string& name) {
  const auto file = std::filesystem::path{name}.filename().string();
  auto text = fmt::format("schema: 1\nsource: {}\nprices:\n",
                          in_quotes(table.is_skypilot ? "SkyPilot's catalogue, " + file : file));
  for (const auto& price : table.prices) {
    text += fmt::format("  - {{ platform: {}, {}: {:.6g} USD/h, region: {}, date: {}", price.platform,
                        price.by_gpu ? "per_gpu_hour" : "per_node_hour", price.usd, in_quotes(price.region),
                        price.date);
    text += price.terms == Terms::on_demand ? " }\n" : fmt::format(", terms: {} }}\n", name_of(price.terms));
  }
  return text;
}

}  // namespace gradway
