// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/caching_allocator.hpp"

#include <algorithm>
#include <cmath>

namespace gradway {
namespace {

constexpr std::int64_t mib = 1 << 20;
constexpr std::int64_t smallest_block = 512;
constexpr std::int64_t small_size = mib;
constexpr std::int64_t small_segment = 2 * mib;
constexpr std::int64_t shared_segment = 20 * mib;
constexpr std::int64_t least_of_own_segment = 10 * mib;
constexpr std::int64_t segment_unit = 2 * mib;

std::int64_t round_up(std::int64_t size, std::int64_t unit) {
  return (size + unit - 1) / unit * unit;
}

std::int64_t segment_for(std::int64_t size) {
  if (size <= small_size) return small_segment;
  return size < least_of_own_segment ? shared_segment : round_up(size, segment_unit);
}

}  // namespace

CachingAllocator::BlockIndex CachingAllocator::new_block(Block block) {
  if (unused_.empty()) {
    blocks_.push_back(block);
    return blocks_.size() - 1;
  }
  const auto index = unused_.back();
  unused_.pop_back();
  blocks_[index] = block;
  return index;
}

void CachingAllocator::keep(BlockIndex index) {
  blocks_[index].is_free = true;
  free_[blocks_[index].is_small ? 0 : 1].emplace(blocks_[index].size, index);
}

void CachingAllocator::take(BlockIndex index) {
  blocks_[index].is_free = false;
  free_[blocks_[index].is_small ? 0 : 1].erase({blocks_[index].size, index});
}

CachingAllocator::BlockIndex CachingAllocator::allocate(Bytes wanted) {
  const auto size = std::max(smallest_block,
                             round_up(static_cast<std::int64_t>(std::ceil(wanted.value())), smallest_block));
  const bool is_small = size <= small_size;
  const auto& pool = free_[is_small ? 0 : 1];
  BlockIndex index = none;
  if (const auto fitting = pool.lower_bound({size, 0}); fitting != pool.end()) {
    index = fitting->second;
    take(index);
  } else {
    index = new_block({.size = segment_for(size), .is_small = is_small});
    reserved_ += blocks_[index].size;
  }
  const auto rest = blocks_[index].size - size;
  if (is_small ? rest >= smallest_block : rest > small_size) {
    const auto after = blocks_[index].after;
    const auto free_rest = new_block({.size = rest, .before = index, .after = after, .is_small = is_small});
    if (after != none) blocks_[after].before = free_rest;
    blocks_[index].after = free_rest;
    blocks_[index].size = size;
    keep(free_rest);
  }
  allocated_ += blocks_[index].size;
  return index;
}

void CachingAllocator::merge_with_next(BlockIndex index) {
  const auto next = blocks_[index].after;
  const auto after = blocks_[next].after;
  blocks_[index].size += blocks_[next].size;
  blocks_[index].after = after;
  if (after != none) blocks_[after].before = index;
  unused_.push_back(next);
}

void CachingAllocator::free(BlockIndex index) {
  allocated_ -= blocks_[index].size;
  if (const auto next = blocks_[index].after; next != none && blocks_[next].is_free) {
    take(next);
    merge_with_next(index);
  }
  if (const auto before = blocks_[index].before; before != none && blocks_[before].is_free) {
    take(before);
    merge_with_next(before);
    index = before;
  }
  keep(index);
}

}  // namespace gradway
