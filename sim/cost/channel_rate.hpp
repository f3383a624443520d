// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/base/units.hpp"
#include "sim/cost/calibration.hpp"
#include "sim/cost/nccl_settings.hpp"

namespace gradway {

/// Bus bandwidth that one of NCCL's channels reaches where no link is in its way: what one multiprocessor
/// copies. Own measurement on two H200, NCCL 2.28.9, 2026-11-22: all-reduces of 256 MiB with
/// NCCL_MAX_NCHANNELS from 1 to 16, over NVLink 20.9 (ring Simple), 18.5 (tree Simple), 16.1 (LL128) and 5.3
/// GB/s (LL) a channel, through host memory 15.8 (Simple; 14.1 with what the memory allows) and 2.4 GB/s
/// (LL). For other ways than NVLink that of host memory is assumed, for other GPUs the same: not checked by
/// us.
BytesPerSecond channel_rate(bool nvlink, Algorithm algorithm, Protocol protocol);

/// What `count` channels reach of the rate of `all`: channels and what they share (links, memories) each
/// bound it, and their inverse squares add.
///
/// Within 10 % of the measurements above from 16 MiB on, but for LL over NVLink at 16 MiB
/// (tests/validation/channels_test.cpp).
/// @param together bus bandwidth of `all` channels. Where it is more than they should reach, the channels
///        alone bound it, and more of them gain nothing.
double share_of_channels(int count, int all, BytesPerSecond together, BytesPerSecond each);

}  // namespace gradway
