// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "sim/import/kineto/read/launches.hpp"
#include "sim/workload/profile.hpp"

namespace gradway {

/// Sets class, precision, operations, bytes and name of launches by their kernels' names and by the shapes of
/// the operations that launched them.
///
/// An operation may launch several kernels. Its matrix products belong to its matrix kernels: one each where
/// there are as many, else by their time. Where no kernel's name says that it multiplies, the longest one of
/// a matrix operation does. The bytes of other operations are shared out by time.
/// @param launches as many as `traced`, with their GPU times.
void tell_work(const Trace& trace, std::span<const TracedLaunch> traced, std::vector<Launch>& launches);

/// The precision that most operations were done in; by time if none are known.
Precision main_precision(const std::vector<Launch>& launches);

}  // namespace gradway
