// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "sim/config/read/read.hpp"
#include "sim/config/yaml/reader.hpp"
#include "sim/config/yaml/scalars.hpp"
#include "sim/cost/calibration.hpp"
#include "sim/cost/calibration_words.hpp"

namespace gradway::config {

// Readers of the parts of a calibration that a fit writes; each reads one key of the file.
std::vector<CollectiveTable> read_tables(Reader& file);
std::vector<LinkRate> read_links(Reader& file);
KernelRates read_kernels(Reader& file);
std::optional<KernelTimes> read_kernel_times(Reader& file);
/// Reads only the GPU of the kernel times, and not the times.
std::optional<Named> read_gpu_of_kernel_times(Reader& file);
std::optional<SampleOrigin> read_sample_origin(Reader& file);

/// "0.4 %" -> 0.004
double percentage(const Node& node);
/// Empty if both keys are absent; one requires the other.
std::optional<FitError> read_error(Reader& entry, std::string_view median, std::string_view worst);

inline constexpr Choice<CollectiveKind> operations[] = {
    {calibration_words::operations[0], CollectiveKind::all_reduce},
    {calibration_words::operations[1], CollectiveKind::all_gather},
    {calibration_words::operations[2], CollectiveKind::reduce_scatter},
    {calibration_words::operations[3], CollectiveKind::broadcast},
    {calibration_words::operations[4], CollectiveKind::send_recv},
    {calibration_words::operations[5], CollectiveKind::all_to_all}};
inline constexpr Choice<Transport> transports[] = {{calibration_words::transports[1], Transport::p2p},
                                                   {calibration_words::transports[2], Transport::shm},
                                                   {calibration_words::transports[3], Transport::net}};

}  // namespace gradway::config
