// SPDX-License-Identifier: Apache-2.0
#include "sim/engine/fluid/date_heap.hpp"

#include <algorithm>

namespace gradway {

namespace {

constexpr std::size_t children = 4;

}  // namespace

void DateHeap::set(std::uint32_t item, Seconds date) {
  if (item >= position_.size()) position_.resize(item + 1, nowhere);
  if (position_[item] == nowhere) {
    heap_.push_back({date, item});
    rise(heap_.size() - 1, {date, item});
  } else if (date < heap_[position_[item]].date) {
    rise(position_[item], {date, item});
  } else {
    sink(position_[item], {date, item});
  }
}

void DateHeap::remove(std::uint32_t item) {
  if (item >= position_.size() || position_[item] == nowhere) return;
  const std::size_t hole = position_[item];
  position_[item] = nowhere;
  const Entry last = heap_.back();
  heap_.pop_back();
  if (last.item == item) return;
  if (hole > 0 && last.date < heap_[(hole - 1) / children].date)
    rise(hole, last);
  else
    sink(hole, last);
}

void DateHeap::place(std::size_t position, Entry entry) {
  heap_[position] = entry;
  position_[entry.item] = static_cast<std::uint32_t>(position);
}

void DateHeap::rise(std::size_t position, Entry entry) {
  while (position > 0) {
    const std::size_t parent = (position - 1) / children;
    if (!(entry.date < heap_[parent].date)) break;
    place(position, heap_[parent]);
    position = parent;
  }
  place(position, entry);
}

void DateHeap::sink(std::size_t position, Entry entry) {
  while (true) {
    const std::size_t first = position * children + 1;
    if (first >= heap_.size()) break;
    std::size_t least = first;
    for (std::size_t child = first + 1; child < std::min(first + children, heap_.size()); ++child) {
      if (heap_[child].date < heap_[least].date) least = child;
    }
    if (!(heap_[least].date < entry.date)) break;
    place(position, heap_[least]);
    position = least;
  }
  place(position, entry);
}

}  // namespace gradway
