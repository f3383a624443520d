// SPDX-License-Identifier: Apache-2.0
#include "sim/config/read/prices.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/nearest.hpp"
#include "sim/config/find/document.hpp"
#include "sim/config/price_list.hpp"
#include "sim/config/read/fields.hpp"
#include "sim/config/read/read.hpp"
#include "sim/config/yaml/quantities.hpp"
#include "sim/config/yaml/source_file.hpp"

namespace gradway {
namespace config {
namespace {

/// Prices are of a node, or of one of its GPUs.
std::string key_of_amount(const Reader& entry) {
  return entry.has("per_gpu_hour") ? "per_gpu_hour" : "per_node_hour";
}

/// Takes the file's source for an entry without one. @param source of the file; empty: an entry requires one
void complete_source(Reader& entry, std::string& own, const std::optional<std::string>& source) {
  if (entry.has("source")) return;
  if (source) {
    own = *source;
  } else {
    entry.required("source", text);  // reports that it is missing
  }
}

/// Exchange rates of a file.
class Rates {
 public:
  /// Reads the key `rates`. @param source as of `PriceList::read`
  Rates(Reader& file, const std::optional<std::string>& source) {
    for (auto& entry : file.maps("rates")) {
      const auto [usd, currency] = entry.required("rate", exchange_rate);
      ExchangeRate rate;
      rate.currency = currency;
      rate.usd = usd;
      read_fields(entry, rate);
      complete_source(entry, rate.source, source);
      if (entry.is_valid()) rates_.push_back(std::move(rate));
      is_complete_ = is_complete_ && entry.is_valid();
      entry.finish();
    }
  }

  /// The rate of a currency whose date is nearest to a day, of two equally near ones the earlier. Empty if
  /// there is none, which is reported.
  std::optional<ExchangeRate> find(Reader& entry, const std::string& currency, const std::string& day) const {
    const auto rank = [&](const ExchangeRate& rate) {
      return std::pair{std::abs(days_between(rate.date, day)), rate.date};
    };
    const ExchangeRate* nearest = nullptr;
    for (const auto& rate : rates_)
      if (rate.currency == currency && (nearest == nullptr || rank(rate) < rank(*nearest))) nearest = &rate;
    if (nearest != nullptr) return *nearest;
    if (is_complete_)
      entry.error(
          entry.value_place(key_of_amount(entry)),
          fmt::format("the price is in {}, but this file has no rate of {}", currency, currency),
          fmt::format("add 'rates: [{{ rate: 1.1 USD/{}, date: {}, source: ... }}]' with the rate of a "
                      "day",
                      currency, day));
    return std::nullopt;
  }

 private:
  std::vector<ExchangeRate> rates_;
  bool is_complete_ = true;  ///< no rate was left out because it is invalid
};

/// Reads prices and reports duplicates: the same region, terms and date.
class PriceList {
 public:
  explicit PriceList(Rates rates) : rates_(std::move(rates)) {}

  /// @param source default source of a price; empty: each price requires its own
  Price read(Reader& entry, const std::optional<std::string>& source, const std::string& platform) {
    const auto [amount, currency] = entry.required(key_of_amount(entry), currency_per_hour);
    Price price;
    price.per_node = UsdPerHour{amount};
    price.by_gpu = entry.has("per_gpu_hour");
    read_fields(entry, price);
    complete_source(entry, price.source, source);
    if (!entry.is_valid()) return price;
    if (currency != "USD") convert(entry, price, currency);
    listed_.add(
        {platform, price.region, price.terms, price.date}, entry, entry.value_place("date"),
        fmt::format("duplicate price: another one in {} has the date {}{}", price.region, price.date,
                    price.terms == Terms::on_demand ? std::string{}
                                                    : fmt::format(" and the terms {}", name_of(price.terms))),
        "keep one of them");
    return price;
  }

 private:
  void convert(Reader& entry, Price& price, const std::string& currency) const {
    const auto amount = price.per_node.value();
    const auto rate = rates_.find(entry, currency, price.date);
    if (!rate) return;
    price.per_node = UsdPerHour{amount * rate->usd};
    price.foreign = ForeignPrice{amount, *rate};
  }

  Rates rates_;
  DistinctKeys<std::tuple<std::string, std::string, Terms, std::string>> listed_;
};

/// Texts of prices, in their order, without repetitions.
template <class Of>
std::vector<std::string> different(const std::vector<Price>& prices, const Of& field) {
  std::vector<std::string> texts;
  for (const auto& price : prices) {
    const std::string text{field(price)};
    if (std::ranges::find(texts, text) == texts.end()) texts.push_back(text);
  }
  return texts;
}

std::string known_days(const std::vector<Price>& prices) {
  const auto first = std::ranges::min_element(prices, {}, &Price::date);
  const auto last = std::ranges::max_element(prices, {}, &Price::date);
  return fmt::format("prices in {} are known from {} to {}", first->region, first->date, last->date);
}

std::map<std::string, std::vector<Price>> read_list(Reader& file, const std::string& source,
                                                    const Lookup& lookup) {
  std::map<std::string, std::vector<Price>> prices;
  PriceList list{Rates{file, source}};
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
  PriceList list{Rates{platform, std::nullopt}};
  for (auto& entry : platform.map_or_maps("price")) {
    prices.push_back(list.read(entry, std::nullopt, ""));
    entry.finish();
  }
  return prices;
}

std::map<std::string, std::vector<Price>> load_prices(const PriceChoice& choice, const DataPath& data,
                                                      const Lookup& lookup, Problems& problems) {
  if (choice.file.empty()) return {};
  const auto price_file = find_file(DataKind::prices, choice.file, data, in_file(choice.file));
  const auto root = load_document(price_file, problems);
  Reader file{root, in_file(price_file.shown), problems};
  const auto source = file.required("source", text);
  auto prices = read_list(file, source, lookup);
  file.finish();
  return prices;
}

namespace {

/// The value of an option, with it as the place of errors. @param parse a parser of a node
template <class Parse>
auto of_option(const std::string& option, const std::string& value, const Parse& parse) {
  return parse(
      Node{.kind = Node::Kind::scalar, .text = value, .where = in_file(fmt::format("{} {}", option, value))});
}

std::vector<Price> with_terms(const std::vector<Price>& prices, Terms terms) {
  std::vector<Price> matching;
  std::ranges::copy_if(prices, std::back_inserter(matching),
                       [&](const Price& price) { return price.terms == terms; });
  return matching;
}

/// The prices in the region of the choice; without one, in that of the platform's first price, or of the
/// first price on the terms if there is none of them. @param on_terms not empty
std::vector<Price> in_region(const std::vector<Price>& prices, const std::vector<Price>& on_terms,
                             const PriceChoice& choice) {
  const auto in = [&](const std::string& region) {
    std::vector<Price> regional;
    std::ranges::copy_if(on_terms, std::back_inserter(regional),
                         [&](const Price& price) { return price.region == region; });
    return regional;
  };
  if (!choice.region.empty()) return in(choice.region);
  auto regional = in(prices.front().region);
  return regional.empty() ? in(on_terms.front().region) : regional;
}

/// The newest price up to a day, or of all if it is empty.
std::optional<Price> newest_until(const std::vector<Price>& prices, const std::string& day) {
  std::optional<Price> newest;
  for (const auto& price : prices) {
    if (!day.empty() && price.date > day) continue;
    if (!newest || price.date > newest->date) newest = price;
  }
  return newest;
}

}  // namespace

std::optional<Price> choose_price(const std::vector<Price>& prices, const PriceChoice& choice,
                                  const std::string& platform) {
  const auto day = choice.date.empty() ? "" : of_option("--price-date", choice.date, date);
  const auto terms =
      choice.terms.empty() ? Terms::on_demand : of_option("--terms", choice.terms, payment_terms);
  if (prices.empty()) return std::nullopt;
  const auto on_terms = with_terms(prices, terms);
  if (on_terms.empty() && choice.terms.empty()) return std::nullopt;
  if (on_terms.empty()) {
    fail(in_file(fmt::format("--terms {}", choice.terms)),
         fmt::format("no price of '{}' is known on these terms", platform),
         fmt::format(
             "known: {}",
             fmt::join(different(prices, [](const Price& price) { return name_of(price.terms); }), ", ")));
  }
  const auto regional = in_region(prices, on_terms, choice);
  if (regional.empty()) {
    fail(in_file(fmt::format("--region {}", choice.region)),
         fmt::format("no {}price of '{}' is known in the region '{}'",
                     terms == Terms::on_demand ? std::string{} : fmt::format("{} ", name_of(terms)), platform,
                     choice.region),
         suggestion(choice.region, different(on_terms, [](const Price& price) { return price.region; })));
  }
  auto newest = newest_until(regional, day);
  if (!newest) {
    fail(in_file(fmt::format("--price-date {}", choice.date)),
         fmt::format("no price of '{}' is known for this date", platform), known_days(regional));
  }
  return newest;
}

PriceByTerms prices_by_terms(const std::vector<Price>& prices, const PriceChoice& choice) {
  PriceByTerms known;
  for (std::size_t i = 0; i < known.size(); ++i) {
    const auto on_terms = with_terms(prices, static_cast<Terms>(i));
    if (!on_terms.empty()) known[i] = newest_until(in_region(prices, on_terms, choice), choice.date);
  }
  return known;
}

}  // namespace config

namespace {

struct NamedPrices {
  std::string source;
  std::map<std::string, std::vector<Price>> of_platforms;
};

NamedPrices read_named_prices(const std::string& name, const DataPath& data) {
  const auto price_file = config::find_file(DataKind::prices, name, data, config::in_file(name));
  config::Problems problems;
  const auto root = config::load_document(price_file, problems);
  config::Reader file{root, config::in_file(price_file.shown), problems};
  NamedPrices read;
  read.source = file.required("source", config::text);
  read.of_platforms = config::read_list(file, read.source, config::Lookup{price_file, data});
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

int days_between(const std::string& start, const std::string& end) {
  const auto day = [](const std::string& date) {
    const auto number = [&](std::size_t position, std::size_t length) {
      return std::stoi(date.substr(position, length));
    };
    return std::chrono::sys_days{std::chrono::year{number(0, 4)} /
                                 std::chrono::month{static_cast<unsigned>(number(5, 2))} /
                                 std::chrono::day{static_cast<unsigned>(number(8, 2))}};
  };
  return static_cast<int>((day(end) - day(start)).count());
}

}  // namespace gradway
