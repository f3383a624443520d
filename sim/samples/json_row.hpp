// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "sim/cost/calibration.hpp"
#include "sim/samples/copy_way.hpp"
#include "sim/samples/json_places.hpp"

namespace gradway {

/// One row of a file of samples: a map of keys and plain values. Every getter throws ConfigError at the place
/// of what is missing or wrong.
class JsonRow {
 public:
  /// @param index counts from 0. All must outlive this.
  JsonRow(const nlohmann::json& row, std::size_t index, const JsonPlaces& places);

  bool has(std::string_view key) const { return row_.contains(key); }
  const nlohmann::json& json() const { return row_; }
  Where where() const { return places_.row(index_); }
  /// The value's place; the row's if it has no such key.
  Where where(const char* key) const { return places_.value(index_, key); }
  const std::string& text(const char* key) const;  ///< without control characters
  bool boolean(const char* key) const;
  int whole(const char* key, int least, int most) const;
  double count(const char* key) const;  ///< a whole number above zero, which may be large
  Bytes bytes(const char* key) const;
  Seconds time(const char* key) const;  ///< in seconds
  /// 'bytes' and 'seconds', if both together can be
  SizedTime sized_time() const;
  /// @throws ConfigError at the key if that size cannot take that time
  void check_plausible(const char* key, const SizedTime& measured) const;
  std::vector<Seconds> times(const char* key) const;
  /// A list of whole numbers, none below zero, which may be large.
  std::vector<double> whole_numbers(const char* key) const;
  /// From and to of each copy: `[["host", 0], [0, 1]]`; at least one.
  std::vector<CopyWay> copy_ways(const char* key) const;
  /// Index of the key's word among `words`. @param thing what they are, with its article
  std::size_t one_of(const char* key, std::string_view thing, std::span<const std::string_view> words) const;

  [[noreturn]] void fail(const char* key, std::string what, std::string hint) const;
  [[noreturn]] void fail(std::string what, std::string hint) const;

 private:
  const nlohmann::json& value(const char* key) const;
  double number(const char* key, const nlohmann::json& value, std::string_view thing) const;
  Seconds seconds(const char* key, const nlohmann::json& value) const;

  const nlohmann::json& row_;
  std::size_t index_;
  const JsonPlaces& places_;
};

}  // namespace gradway
