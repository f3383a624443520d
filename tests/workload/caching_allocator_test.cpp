// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "sim/workload/caching_allocator.hpp"

using namespace gradway;

TEST_CASE("the allocator reserves segments by the size of a request") {
  const auto reserved_for = [](Bytes size) {
    CachingAllocator allocator;
    allocator.allocate(size);
    return allocator.reserved();
  };
  CHECK(reserved_for(1_B) == 2_MiB);
  CHECK(reserved_for(1_MiB) == 2_MiB);
  CHECK(reserved_for(1_MiB + 1_B) == 20_MiB);
  CHECK(reserved_for(10_MiB - 512_B) == 20_MiB);
  CHECK(reserved_for(10_MiB) == 10_MiB);
  CHECK(reserved_for(11_MiB) == 12_MiB);
}

TEST_CASE("small requests are multiples of 512 bytes and share a segment") {
  CachingAllocator allocator;
  allocator.allocate(1_B);
  CHECK(allocator.allocated() == 512_B);
  for (int i = 1; i < 4096; ++i) allocator.allocate(512_B);
  CHECK(allocator.allocated() == 2_MiB);
  CHECK(allocator.reserved() == 2_MiB);
  allocator.allocate(1_B);
  CHECK(allocator.reserved() == 4_MiB);
}

TEST_CASE("a block is split if its rest has more than 1 MiB, and otherwise given whole") {
  CachingAllocator allocator;
  allocator.free(allocator.allocate(12_MiB));
  const auto whole = allocator.allocate(11_MiB);
  CHECK(allocator.allocated() == 12_MiB);
  CHECK(allocator.reserved() == 12_MiB);
  allocator.free(whole);
  allocator.allocate(10_MiB);
  CHECK(allocator.allocated() == 10_MiB);
  allocator.allocate(2_MiB);  // the rest
  CHECK(allocator.reserved() == 12_MiB);
}

TEST_CASE("a request takes the smallest free block that holds it") {
  CachingAllocator allocator;
  const auto large = allocator.allocate(100_MiB);
  const auto medium = allocator.allocate(40_MiB);
  allocator.free(large);
  allocator.free(medium);
  allocator.allocate(40_MiB);
  allocator.allocate(100_MiB);
  CHECK(allocator.reserved() == 140_MiB);
}

TEST_CASE("free neighbours become one block, and a block never grows beyond its segment") {
  CachingAllocator allocator;
  const auto segment = allocator.allocate(90_MiB);
  allocator.free(segment);
  const auto first = allocator.allocate(30_MiB);
  const auto second = allocator.allocate(30_MiB);
  const auto third = allocator.allocate(30_MiB);
  CHECK(allocator.reserved() == 90_MiB);
  allocator.free(first);
  allocator.free(third);
  allocator.allocate(60_MiB);  // 30 and 30 MiB are free, but not side by side
  CHECK(allocator.reserved() == 150_MiB);
  allocator.free(second);
  allocator.allocate(90_MiB);
  CHECK(allocator.reserved() == 150_MiB);
  CHECK(allocator.allocated() == 150_MiB);
}
