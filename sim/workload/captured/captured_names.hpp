// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace gradway {

// Classes of PyTorch's operations, by their names without overloads.

/// Timed kernel of an elementwise operation, or of one that works on rows; empty if it has none.
std::string_view kernel_by_element(std::string_view operation);
std::string_view kernel_by_row(std::string_view operation);
/// Whether the operation is a product of matrices.
bool is_product(std::string_view operation);
/// Whether the operation writes elements into a tensor at indices, or its input into a tensor of zeros.
bool is_scattered(std::string_view operation);
bool is_padded(std::string_view operation);
/// Whether the operation is a single kernel that reads its inputs and writes its outputs once.
bool is_plain_operation(std::string_view operation);
/// Whether the operation reduces its input to fewer elements.
bool is_reduction(std::string_view operation);
/// Whether the operation fills a tensor with random numbers, or with a constant.
bool is_random(std::string_view operation);
bool is_zeroing(std::string_view operation);

}  // namespace gradway
