// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sim/base/units.hpp"

namespace gradway {

/// How nodes are paid for.
enum class Terms : std::uint8_t {
  on_demand,
  spot,         ///< spare capacity that the provider can take away
  reserved,     ///< for a length that the source of the price says, such as days
  reserved_1y,  ///< for one year
  reserved_3y,  ///< for three years
};
inline constexpr std::array<std::string_view, 5> terms_words{"on_demand", "spot", "reserved", "reserved_1y",
                                                             "reserved_3y"};
constexpr std::string_view name_of(Terms terms) {
  return terms_words[static_cast<std::size_t>(terms)];
}

/// What one unit of a currency costs on a day.
struct ExchangeRate {
  std::string currency;  ///< "EUR"
  double usd = 1;
  std::string date;
  std::string source;
};

/// A price as its source publishes it, in another currency than US dollars.
struct ForeignPrice {
  double per_node = 0;  ///< per hour
  ExchangeRate rate;
};

/// The price of a node on some terms, valid from its date to the date of the next price.
struct Price {
  UsdPerHour per_node{};
  std::string region;
  std::string date;  ///< "2026-07-20"
  std::string source;
  Terms terms = Terms::on_demand;
  std::optional<ForeignPrice> foreign{};  ///< what `per_node` was converted from
  bool by_gpu = false;                    ///< a part of a node can be rented, for its share of the price

  /// Of GPUs on a number of nodes. @param gpus_per_node that are paid for, unless `by_gpu`
  UsdPerHour of(int gpus, int nodes, int gpus_per_node) const {
    return per_node * (by_gpu ? static_cast<double>(gpus) / gpus_per_node : nodes);
  }
};

/// A price of one GPU as that of a node; others as they are.
inline Price of_node(Price price, int gpus_per_node) {
  if (!price.by_gpu) return price;
  price.per_node = price.per_node * gpus_per_node;
  if (price.foreign) price.foreign->per_node *= gpus_per_node;
  return price;
}

/// One price for each of the terms, as far as they are known.
using PriceByTerms = std::array<std::optional<Price>, terms_words.size()>;

}  // namespace gradway
