// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "calibration/probe/device.hpp"

namespace gradway::probe {

/// Type of the numbers of a buffer. fp8 is e4m3.
enum class Element { fp32, fp16, bf16, fp8 };

/// Size of one number in bytes.
std::size_t size_of(Element element);

/// Fills the buffer with standard normal numbers that depend on index and seed, and waits. Real kernels see
/// such data, and it matters: a product of zeros takes less power and runs faster.
/// @pre the buffer holds `count` elements
/// @throws Failure if the kernel fails
void fill_normal(const DeviceBuffer& buffer, Element element, std::size_t count, std::uint32_t seed);

/// The numbers of a part of a buffer as floats, after all work of the GPU.
/// @throws Failure if the work or the copy fails
std::vector<float> values(const DeviceBuffer& buffer, Element element, std::size_t first, std::size_t count);

}  // namespace gradway::probe
