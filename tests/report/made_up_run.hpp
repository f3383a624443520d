// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/run/simulate.hpp"

namespace gradway::testing {

/// A finished run with every figure chosen by hand: a step of 10 ms in which two ranks copy their input (0 to
/// 1 ms), compute (1 to 6 ms), reduce one bucket (4 to 9 ms, in two parts) and take the optimizer's step (9
/// to 10 ms).
Run made_up_run();

/// The same with a given number of ranks, each with its own ops.
Run made_up_run(int ranks);

/// A ring of ideal GPUs.
Platform made_up_platform(int gpus);

}  // namespace gradway::testing
