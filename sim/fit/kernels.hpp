// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/fit/samples.hpp"

namespace gradway {

/// What kernels reach: of square products of a precision the median rate, of those of 4096 and more and of
/// those of at most 1024; of memory-bound kernels that move at least 256 MiB the median rate, casts from 16
/// to 32 bits apart; the median of the shortest ones; the median cost of a launch. Empty where there is no
/// such sample.
KernelRates fit_kernels(const Samples& samples);

}  // namespace gradway
