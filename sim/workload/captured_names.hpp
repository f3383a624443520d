// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace gradway {

// What PyTorch's operations are, by their names without overloads.

/// The kernel that takes its input element by element, or row by row; empty if there is none of its own.
std::string_view kernel_by_element(std::string_view operation);
std::string_view kernel_by_row(std::string_view operation);
/// Whether it is one kernel that reads its inputs and writes its results.
bool is_plain_operation(std::string_view operation);
/// Whether it reads much and writes little.
bool is_reduction(std::string_view operation);
/// Whether it fills a tensor with random numbers, or with one number.
bool is_random(std::string_view operation);
bool is_zeroing(std::string_view operation);

}  // namespace gradway
