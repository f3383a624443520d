// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>

#include "sim/run/simulate.hpp"

namespace gradway::report {

/// Writes the memory over a step as a snapshot of PyTorch's allocator, which pytorch.org/memory_viz and
/// `python -m torch.cuda._memory_viz` open: a pickle (protocol 2) of dictionaries, lists, texts and integers.
/// A block is what the operations of a layer add in a pass to one part of the memory: its stack has the part,
/// the layer and the pass. Blocks of a part are freed in reverse order. Of a job whose memory is unknown, it
/// has no blocks.
/// @source torch/cuda/memory.py, _snapshot, PyTorch 2.11: keys of the snapshot
void write_memory_snapshot(std::ostream& out, const Run& run);

}  // namespace gradway::report
