// SPDX-License-Identifier: Apache-2.0
#include "sim/config/read/prices.hpp"

#include <algorithm>
#include <chrono>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/nearest.hpp"
#include "sim/config/find/document.hpp"
#include "sim/config/price_list.hpp"
#include "sim/config/read/read.hpp"
#include "sim/config/yaml/quantities.hpp"
#include "sim/config/yaml/source_file.hpp"

namespace gradway {
namespace config {
namespace {

/// Reads prices and reports duplicates: the same region and date.
class PriceList {
 public:
  /// @param source default source of a price; empty: each price requires its own
  Price read(Reader& entry, const std::optional<std::string>& source, const std::string& platform) {
    Price price{.per_node = entry.required("per_node_hour", price_per_hour),
                .region = entry.required("region", text),
                .date = entry.required("date", date),
                .source = source ? entry.optional("source", text, *source) : entry.required("source", text)};
    if (!entry.is_valid()) return price;
    const auto where = entry.value_place("date");
    const auto [first, is_new] = places_.emplace(platform + '\n' + price.region + '\n' + price.date, where);
    if (!is_new) {
      entry.error(where,
                  fmt::format("duplicate price: another one in {} has the date {}", price.region, price.date),
                  "keep one of them", {{first->second, "the first one is here"}});
    }
    return price;
  }

 private:
  std::map<std::string, Where> places_;
};

std::string known_days(const std::vector<Price>& prices) {
  const auto first = std::ranges::min_element(prices, {}, &Price::date);
  const auto last = std::ranges::max_element(prices, {}, &Price::date);
  return fmt::format("prices in {} are known from {} to {}", first->region, first->date, last->date);
}

std::vector<std::string> regions_of(const std::vector<Price>& prices) {
  std::vector<std::string> regions;
  for (const auto& price : prices) {
    if (std::ranges::find(regions, price.region) == regions.end()) regions.push_back(price.region);
  }
  return regions;
}

std::map<std::string, std::vector<Price>> read_list(Reader& file, const std::string& source,
                                                    const Lookup& lookup) {
  std::map<std::string, std::vector<Price>> prices;
  PriceList list;
  if (!file.has("prices")) file.map("prices");
  for (auto& entry : file.maps("prices")) {
    const auto platform = entry.required("platform", named);
    prices[platform.name].push_back(list.read(entry, source, platform.name));
    entry.finish();
    if (platform.name.empty()) continue;
    file.problems().attempt([&] { return lookup.find(DataKind::platform, platform.name, platform.where); });
  }
  return prices;
}

}  // namespace

std::vector<Price> read_prices(Reader& platform) {
  std::vector<Price> prices;
  PriceList list;
  for (auto& entry : platform.map_or_maps("price")) {
    prices.push_back(list.read(entry, std::nullopt, ""));
    entry.finish();
  }
  return prices;
}

std::map<std::string, std::vector<Price>> load_prices(const PriceChoice& choice, const DataPath& data,
                                                      const Lookup& lookup, Problems& problems) {
  if (choice.file.empty()) return {};
  const auto found = find_file(DataKind::prices, choice.file, data, in_file(choice.file));
  const auto root = load_document(found, problems);
  Reader file{root, in_file(found.shown), problems};
  const auto source = file.required("source", text);
  auto prices = read_list(file, source, lookup);
  file.finish();
  return prices;
}

std::optional<Price> choose_price(const std::vector<Price>& prices, const PriceChoice& choice,
                                  const std::string& platform) {
  const auto day = choice.date.empty()
                       ? ""
                       : date(Node{.kind = Node::Kind::scalar,
                                   .text = choice.date,
                                   .where = in_file(fmt::format("--price-date {}", choice.date))});
  if (prices.empty()) return std::nullopt;
  const auto region = choice.region.empty() ? prices.front().region : choice.region;
  std::vector<Price> here;
  std::ranges::copy_if(prices, std::back_inserter(here),
                       [&](const Price& price) { return price.region == region; });
  if (here.empty()) {
    fail(in_file(fmt::format("--region {}", choice.region)),
         fmt::format("no price of '{}' is known in the region '{}'", platform, choice.region),
         suggestion(choice.region, regions_of(prices)));
  }
  std::optional<Price> newest;
  for (const auto& price : here) {
    if (!day.empty() && price.date > day) continue;
    if (!newest || price.date > newest->date) newest = price;
  }
  if (!newest) {
    fail(in_file(fmt::format("--price-date {}", choice.date)),
         fmt::format("no price of '{}' is known for this date", platform), known_days(here));
  }
  return newest;
}

}  // namespace config

namespace {

struct NamedPrices {
  std::string source;
  std::map<std::string, std::vector<Price>> of_platforms;
};

NamedPrices read_named_prices(const std::string& name, const DataPath& data) {
  const auto found = config::find_file(DataKind::prices, name, data, config::in_file(name));
  config::Problems problems;
  const auto root = config::load_document(found, problems);
  config::Reader file{root, config::in_file(found.shown), problems};
  NamedPrices read;
  read.source = file.required("source", config::text);
  read.of_platforms = config::read_list(file, read.source, config::Lookup{found, data});
  file.finish();
  problems.raise();
  return read;
}

}  // namespace

std::string load_source_of_prices(const std::string& name, const DataPath& data) {
  return read_named_prices(name, data).source;
}

std::map<std::string, std::vector<Price>> load_price_list(const std::string& name, const DataPath& data) {
  return read_named_prices(name, data).of_platforms;
}

int days_between(const std::string& from, const std::string& to) {
  const auto day = [](const std::string& date) {
    const auto number = [&](std::size_t at, std::size_t length) {
      return std::stoi(date.substr(at, length));
    };
    return std::chrono::sys_days{std::chrono::year{number(0, 4)} /
                                 std::chrono::month{static_cast<unsigned>(number(5, 2))} /
                                 std::chrono::day{static_cast<unsigned>(number(8, 2))}};
  };
  return static_cast<int>((day(to) - day(from)).count());
}

}  // namespace gradway
