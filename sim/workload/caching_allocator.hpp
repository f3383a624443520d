// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "sim/base/units.hpp"

namespace gradway {

/// PyTorch's caching allocator on one stream of a GPU with room: it keeps all that it has reserved. Sizes are
/// multiples of 512 bytes. A request takes the smallest free block that holds it, whose rest stays free: of
/// requests up to 1 MiB always, of others if the rest has more than 1 MiB. Where no block is large enough, a
/// segment is reserved: 2 MiB for requests up to 1 MiB, 20 MiB below 10 MiB, else a multiple of 2 MiB. Free
/// neighbours of a segment become one block.
/// @source c10/cuda/CUDACachingAllocator.cpp, PyTorch 2.11 (round_size, get_free_block, should_split,
/// get_allocation_size, free_block), without the settings of PYTORCH_CUDA_ALLOC_CONF
class CachingAllocator {
 public:
  using BlockIndex = std::size_t;

  BlockIndex allocate(Bytes size);
  void free(BlockIndex index);
  /// What torch.cuda.memory_allocated and memory_reserved count.
  Bytes allocated() const { return Bytes{static_cast<double>(allocated_)}; }
  Bytes reserved() const { return Bytes{static_cast<double>(reserved_)}; }

 private:
  static constexpr BlockIndex none = static_cast<BlockIndex>(-1);

  struct Block {
    std::int64_t size = 0;
    BlockIndex before = none;  ///< neighbours in the segment
    BlockIndex after = none;
    bool is_small = false;
    bool is_free = false;
  };

  void keep(BlockIndex index);
  void take(BlockIndex index);
  void merge_with_next(BlockIndex index);
  BlockIndex new_block(Block block);

  std::vector<Block> blocks_;
  std::vector<BlockIndex> unused_;  ///< indices of blocks that were merged into others
  /// Free blocks by size: of small requests, and of others.
  std::array<std::set<std::pair<std::int64_t, BlockIndex>>, 2> free_;
  std::int64_t allocated_ = 0;
  std::int64_t reserved_ = 0;
};

}  // namespace gradway
