// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "sim/base/units.hpp"

namespace gradway {

/// A priority queue of items whose dates may change, earliest first. The order of equal dates is unspecified.
/// Items are small numbers, each in the heap at most once. Each node has four children, which halves the
/// depth of a binary heap and keeps siblings in one cache line (decision 0055 compares Boost.Heap).
class DateHeap {
 public:
  bool empty() const { return heap_.empty(); }
  Seconds top_date() const { return heap_.front().date; }
  std::uint32_t top() const { return heap_.front().item; }

  /// Inserts the item or changes its date. O(log n).
  void set(std::uint32_t item, Seconds date);
  /// No effect if the item is not in the heap. O(log n).
  void remove(std::uint32_t item);

 private:
  struct Entry {
    Seconds date;
    std::uint32_t item;
  };

  void place(std::size_t position, Entry entry);
  void rise(std::size_t position, Entry entry);
  void sink(std::size_t position, Entry entry);

  static constexpr std::uint32_t nowhere = UINT32_MAX;
  std::vector<Entry> heap_;
  std::vector<std::uint32_t> position_;  ///< by item
};

}  // namespace gradway
