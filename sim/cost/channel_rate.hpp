// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/base/units.hpp"
#include "sim/cost/calibration.hpp"
#include "sim/cost/nccl_settings.hpp"

namespace gradway {

/// Bus bandwidth of one of NCCL's channels, which one multiprocessor serves, if links do not limit it.
/// @source own measurement on two H200, NCCL 2.28.9, 2026-11-22: all-reduces of 256 MiB with
///         NCCL_MAX_NCHANNELS from 1 to 16 reach per channel 20.9 (ring Simple), 18.5 (tree Simple), 16.1
///         (LL128) and 5.3 GB/s (LL) over NVLink, and 15.8 (Simple; 14.1 with the limit of the memory) and
///         2.4 GB/s (LL) through host memory. Assumed, not measured: other connections than NVLink are as
///         host memory, other GPUs as the H200
BytesPerSecond channel_rate(bool nvlink, Algorithm algorithm, Protocol protocol);

/// Bus bandwidth of `count` channels over that of `channels` channels. Both the channels and the links and
/// memories that they share limit the rate; inverse squares of the limits add up.
///
/// Within 10 % of the measurements above from 16 MiB on, except for LL over NVLink at 16 MiB
/// (tests/validation/channels_test.cpp).
/// @param together bus bandwidth of `channels` channels. If it exceeds their sum, only the channels limit it,
///        and the share is count / channels, at most 1
double share_of_channels(int count, int channels, BytesPerSecond together, BytesPerSecond single);

}  // namespace gradway
