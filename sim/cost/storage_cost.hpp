// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>

#include "sim/base/units.hpp"
#include "sim/cost/codecs.hpp"

namespace gradway {

// Closed forms of how fast storage serves requests, and what it costs. All but prices is derived: no constant
// stands in them.

/// What one connection brings while it asks for `request` at a time, one after the other: each request waits
/// for its first byte, then its bytes come at `rate`.
BytesPerSecond connection_rate(Bytes request, Seconds first_byte, BytesPerSecond rate);

/// How many connections bring `target` together, a fraction of one included.
double connections_needed(BytesPerSecond target, BytesPerSecond of_connection);

/// Little's law: how many things are on their way where so many a second start and each takes `time`.
double in_flight(double per_second, Seconds time);

/// What bounds requests; empty ones do not.
struct RequestLimits {
  std::optional<double> per_second{};         ///< that the storage takes
  std::optional<BytesPerSecond> bandwidth{};  ///< of all requests together
  std::optional<double> connections{};        ///< that ask, each for one thing at a time
};

/// Requests a second: the least of the limits. @param time of one request from its start to its last byte
double request_rate(const RequestLimits& limits, Bytes request, Seconds time);

/// A rate that lasts until its credit is used up. The credit is what may be read above `sustained`.
struct TokenBucket {
  BytesPerSecond burst{};      ///< more than `sustained`
  BytesPerSecond sustained{};  ///< also what the credit grows by
  Bytes credit{};              ///< at the start
};

/// How long the full rate lasts: credit / (burst - sustained).
Seconds burst_time(const TokenBucket& bucket);
/// Mean rate over a time that begins with the credit and reads all it can.
BytesPerSecond mean_rate(const TokenBucket& bucket, Seconds over);

/// Whether packed bytes arrive before they are unpacked, or while others are.
enum class Unpacking : char { after_transfer, beside_transfer };

/// Plain bytes a second through a link that carries packed ones; packing pays where this is more than the
/// link's own rate. @param cores that unpack
BytesPerSecond packed_rate(BytesPerSecond link, const Codec& codec, double cores, Unpacking when);

/// Bytes read from each place over some epochs whose first one finds the cache empty.
struct BytesByTier {
  Bytes storage{};  ///< data * (1 + (epochs - 1) (1 - hits))
  Bytes cache{};    ///< data * (epochs - 1) hits
};

/// @param data of an epoch @param epochs at least 1 @param hits share of later epochs' reads that the cache
/// answers: `hit_ratio`
BytesByTier bytes_by_tier(Bytes data, double epochs, double hits);

/// Time of these epochs where nothing but reading takes time, one place after the other.
Seconds reading_time(const BytesByTier& read, BytesPerSecond storage, BytesPerSecond cache);

/// USD to keep data for a time. A month has 730 hours, and a GB 10^9 bytes.
/// @source hours of a month: AWS's pricing pages
double usd_to_keep(Bytes data, Seconds time, double usd_per_gb_month);

/// A part of a month's traffic and its price.
struct TrafficPrice {
  Bytes up_to{};  ///< of the month's traffic
  double usd_per_gb = 0;
};

/// AWS to the internet, US East: 100 GB a month are free, then 0.09 USD a GB to 10 TB, 0.085 to 50, 0.07 to
/// 150, 0.05 above. @source usage.ai (2026-05), which gives the last price up to 500 TB only
std::span<const TrafficPrice> aws_to_internet();

/// USD for a month's traffic over a border: each part of it at its own price, what exceeds the last part at
/// the last price. @param prices by rising `up_to`, at least one
double usd_of_traffic(Bytes traffic, std::span<const TrafficPrice> prices);

/// USD for the requests that read so many samples. @param samples_a_request 1 for files
double usd_of_requests(double samples, double samples_a_request, double usd_per_million_requests);

}  // namespace gradway
