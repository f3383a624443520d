// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sim/fit/samples.hpp"

namespace gradway {

/// A file as it was read.
struct SampleFile {
  std::string name;  ///< as the user wrote it
  std::string content;
};

/// Understands files of samples, each a JSON list of rows. What a row is follows from its keys:
///
///   {"op": "all_reduce", "bytes", "seconds", "world", "tag"}   a collective alone; its size is the buffer on
///   each
///       rank (all-gather, reduce-scatter: the large one). The tag is p2p, shm or net, with -Ring or -Tree
///       and -LL, -LL128 or -Simple behind it where NCCL_ALGO and NCCL_PROTO forced them
///   {"op": "contention", "gemm", "together", "gemm_seconds", "gemm_reps", "allreduce_seconds",
///   "allreduce_reps",
///    "bytes", "world", "tag"}   all-reduces and products; a product's name is a precision and its side
///   {"kind": "h2d_pinned" | "h2d_pageable" | "d2h_pinned" | "d2d_peer" | "d2d_same", "bytes", "seconds"}   a
///   copy
///   {"kind": "pattern", "name", "bytes", "seconds": [...]}   copies at once
///   {"kind": "gemm", "dtype", "m", "n", "k", "seconds"}   a product
///   {"kind": "memory", "op", "bytes", "seconds"}   a memory-bound kernel
///   {"kind": "launch" | "optimizer" | "attention", "seconds"}
///
/// Other keys are passed over. @throws ConfigError with what is wrong with every row of every file
Samples read_samples(const std::vector<SampleFile>& files);

}  // namespace gradway
