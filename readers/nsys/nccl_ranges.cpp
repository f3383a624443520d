// SPDX-License-Identifier: Apache-2.0
#include "readers/nsys/nccl_ranges.hpp"

#include <algorithm>
#include <string>
#include <string_view>

namespace gradway {
namespace {

/// A number in the payload of a range.
struct Field {
  std::string name;
  std::size_t offset = 0;
  std::size_t size = 0;
};

/// Bytes of a type; 0 for types that are not whole numbers of 4 or 8 bytes.
/// @source NVTX 3.2, nvToolsExtPayload.h (NVTX_PAYLOAD_ENTRY_TYPE_*)
std::size_t size_of(std::int64_t type) {
  constexpr std::int64_t size_t_of_host = 22;
  if (type == 5 || type == 6 || type == 15 || type == 16) return 4;
  if ((type >= 7 && type <= 10) || type == 17 || type == 18 || type == size_t_of_host) return 8;
  return 0;
}

std::uint64_t little_endian(std::string_view bytes) {
  std::uint64_t number = 0;
  for (auto byte = bytes.rbegin(); byte != bytes.rend(); ++byte)
    number = number << 8 | static_cast<unsigned char>(*byte);
  return number;
}

using Schemas =
    std::map<std::pair<std::int64_t, std::int64_t>, std::vector<Field>>;  ///< By domain and number.

Schemas read_schemas(const Database& database) {
  Schemas schemas;
  const auto columns = database.columns("NVTX_PAYLOAD_SCHEMA_ENTRIES");
  for (const auto* column : {"domainId", "schemaId", "type", "name", "offset"}) {
    if (!columns.contains(column)) return schemas;
  }
  auto rows = database.rows("SELECT domainId, schemaId, type, name, offset FROM NVTX_PAYLOAD_SCHEMA_ENTRIES");
  constexpr std::int64_t largest_payload = 4096;
  while (rows.next()) {
    const auto offset = rows.whole(4).value_or(0);
    const auto size = size_of(rows.whole(2).value_or(0));
    if (size == 0 || offset < 0 || offset > largest_payload) continue;
    schemas[{rows.whole(0).value_or(0), rows.whole(1).value_or(0)}].push_back(
        {rows.text(3), static_cast<std::size_t>(offset), size});
  }
  return schemas;
}

/// Numbers of a payload by name. It follows a header of 32 bytes, in which the number of the schema is the
/// third one of 4 bytes.
std::map<std::string_view, std::int64_t> numbers_of(std::string_view payload, std::int64_t domain,
                                                    const Schemas& schemas) {
  constexpr std::size_t header = 32;
  std::map<std::string_view, std::int64_t> numbers;
  if (payload.size() < header) return numbers;
  const auto schema = schemas.find({domain, static_cast<std::int64_t>(little_endian(payload.substr(8, 4)))});
  if (schema == schemas.end()) return numbers;
  for (const auto& field : schema->second) {
    if (header + field.offset + field.size > payload.size()) continue;
    numbers[field.name] =
        static_cast<std::int64_t>(little_endian(payload.substr(header + field.offset, field.size)));
  }
  return numbers;
}

}  // namespace

void NcclRanges::read(const Database& database) {
  const auto schemas = read_schemas(database);
  if (schemas.empty()) return;
  auto rows = database.rows(
      "SELECT start, end, globalTid, domainId, binaryData FROM NVTX_EVENTS WHERE binaryData IS NOT NULL");
  constexpr std::int64_t largest = std::int64_t{1} << 50;
  while (rows.next()) {
    const auto blob = rows.blob(4);
    const auto numbers = numbers_of(blob, rows.whole(3).value_or(0), schemas);
    const auto communicator = numbers.find("NCCL communicator ID");
    if (communicator == numbers.end()) continue;
    const auto thread = rows.whole(2).value_or(0);
    const auto start = rows.whole(0);
    const auto end = rows.whole(1);
    const auto bytes = numbers.find("Message size [bytes]");
    if (bytes != numbers.end() && start && end && bytes->second >= 0 && bytes->second <= largest)
      calls_[thread].push_back({*start, *end, {bytes->second, communicator->second}});
    const auto rank = numbers.find("Rank");
    const auto ranks = numbers.find("No. of ranks");
    constexpr std::int64_t most_ranks = 1 << 24;
    if (rank == numbers.end() || ranks == numbers.end() || ranks->second < 1 || ranks->second > most_ranks ||
        rank->second < 0 || rank->second >= ranks->second)
      continue;
    communicators_[(thread >> 24) & 0xffffff][communicator->second] = {rank->second, ranks->second};
  }
  for (auto& [thread, calls] : calls_) std::ranges::stable_sort(calls, {}, &Range::start);
}

std::optional<NcclCall> NcclRanges::call_at(const std::pair<std::int64_t, std::int64_t>& moment) const {
  const auto calls = calls_.find(moment.first);
  if (calls == calls_.end()) return std::nullopt;
  const auto after = std::ranges::upper_bound(calls->second, moment.second, {}, &Range::start);
  if (after == calls->second.begin() || std::prev(after)->end < moment.second) return std::nullopt;
  return std::prev(after)->call;
}

std::int64_t NcclRanges::ranks_of(std::int64_t process, std::int64_t communicator) const {
  const auto of_process = communicators_.find(process);
  if (of_process == communicators_.end()) return 0;
  const auto entry = of_process->second.find(communicator);
  return entry == of_process->second.end() ? 0 : entry->second.ranks;
}

std::optional<NcclJob> NcclRanges::job(std::int64_t process) const {
  const auto of_process = communicators_.find(process);
  if (of_process == communicators_.end()) return std::nullopt;
  return std::ranges::max_element(of_process->second, {},
                                  [](const auto& entry) { return entry.second.ranks; })
      ->second;
}

}  // namespace gradway
