// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "sim/base/units.hpp"

namespace gradway {

/// Items with dates that may change, the earliest on top; among equal dates any. Items are small numbers,
/// each in the heap at most once. Four children a node: half the depth of a binary heap, and neighbours in
/// memory.
class DateHeap {
 public:
  bool empty() const { return heap_.empty(); }
  Seconds top_date() const { return heap_.front().date; }
  std::uint32_t top() const { return heap_.front().item; }

  /// Puts the item in, or moves it if it is there. O(log n).
  void set(std::uint32_t item, Seconds date);
  /// No effect if the item is not there. O(log n).
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
