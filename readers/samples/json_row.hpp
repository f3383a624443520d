// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "readers/samples/copy_way.hpp"
#include "sim/base/problem.hpp"
#include "sim/cost/calibration.hpp"

namespace gradway {

/// Places in the text of a JSON list of rows, for messages. Each call searches the text.
/// @pre the text is JSON, except for `at`
class JsonPlaces {
 public:
  /// @param text must outlive this.
  JsonPlaces(std::string file, std::string_view text) : file_{std::move(file)}, text_{text} {}

  Where whole() const;
  /// Place of `length` bytes of the text.
  Where at(std::size_t offset, std::size_t length) const;
  /// Place of the row's first character. @param index counts from 0
  Where row(std::size_t index) const;
  /// Place of the value of a row's key; of the row if there is no such key.
  Where value(std::size_t index, std::string_view key) const;

 private:
  std::string file_;
  std::string_view text_;
};

/// One row of a file of samples: a map of keys and plain values. Every getter throws ConfigError at the place
/// of a missing or invalid value.
class JsonRow {
 public:
  /// @param index counts from 0. All arguments must outlive this.
  JsonRow(const nlohmann::json& row, std::size_t index, const JsonPlaces& places);

  bool has(std::string_view key) const;
  const nlohmann::json& json() const { return row_; }
  Where where() const { return places_.row(index_); }
  /// Place of the value; of the row if there is no such key.
  Where where(const char* key) const { return places_.value(index_, key); }
  const std::string& text(const char* key) const;  ///< Without control characters.
  bool boolean(const char* key) const;
  int whole(const char* key, int least, int most) const;
  double count(const char* key) const;  ///< A positive integer, which may be large.
  Bytes bytes(const char* key) const;
  Seconds time(const char* key) const;  ///< In seconds.
  /// 'bytes' and 'seconds', checked for plausibility.
  SizedTime sized_time() const;
  /// @throws ConfigError at the key if the rate is implausible
  void check_plausible(const char* key, const SizedTime& measured) const;
  std::vector<Seconds> times(const char* key) const;
  /// A list of non-negative integers, which may be large.
  std::vector<double> whole_numbers(const char* key) const;
  /// Source and destination of each copy: `[["host", 0], [0, 1]]`; at least one.
  std::vector<CopyWay> copy_ways(const char* key) const;
  /// Index of the key's word in `words`. @param thing what they are, with an article
  std::size_t one_of(const char* key, std::string_view thing, std::span<const std::string_view> words) const;

  [[noreturn]] void fail(const char* key, std::string message, std::string hint) const;
  [[noreturn]] void fail(std::string message, std::string hint) const;

 private:
  const nlohmann::json& value(const char* key) const;
  double number(const char* key, const nlohmann::json& value, std::string_view thing) const;
  Seconds seconds(const char* key, const nlohmann::json& value) const;

  const nlohmann::json& row_;
  std::size_t index_;
  const JsonPlaces& places_;
};

}  // namespace gradway
