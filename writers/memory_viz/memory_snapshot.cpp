// SPDX-License-Identifier: Apache-2.0
#include "writers/memory_viz/memory_snapshot.hpp"

#include <algorithm>
#include <cmath>
#include <compare>
#include <cstdint>
#include <limits>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "sim/report/format/memory_parts.hpp"
#include "sim/report/format/words.hpp"
#include "sim/run/memory_over_step.hpp"

namespace gradway::report {
namespace {

/// Writes values of Python.
/// @source Lib/pickletools.py, CPython 3.11: opcodes
class Pickle {
 public:
  explicit Pickle(std::ostream& out) : out_{out} { out_ << "\x80\x02"; }
  void begin_list() { out_ << "]("; }
  void end_list() { out_ << 'e'; }
  /// Between elements of a long list: readers take those up to here at once, as from Python's own writer.
  void next_batch() { out_ << "e("; }
  void begin_dictionary() { out_ << "}("; }
  void end_dictionary() { out_ << 'u'; }
  void end() { out_ << '.'; }

  void text(std::string_view text) {
    out_ << 'X';
    write(text.size(), 4);
    out_ << text;
  }

  void number(std::int64_t number) {
    if (number >= std::numeric_limits<std::int32_t>::min() &&
        number <= std::numeric_limits<std::int32_t>::max()) {
      out_ << 'J';
      write(static_cast<std::uint64_t>(number), 4);
    } else {
      out_ << '\x8a' << '\x08';
      write(static_cast<std::uint64_t>(number), 8);
    }
  }

  void entry(std::string_view key, std::string_view value) {
    text(key);
    text(value);
  }
  void entry(std::string_view key, std::int64_t value) {
    text(key);
    number(value);
  }

 private:
  /// Little-endian.
  void write(std::uint64_t value, int bytes) {
    constexpr int bits = 8;
    for (int i = 0; i < bytes; ++i) out_ << static_cast<char>(value >> (bits * i) & 0xFF);
  }

  std::ostream& out_;
};

/// What one moment adds to a part of the memory.
struct Block {
  std::size_t part = 0;       ///< in `memory_parts`
  std::size_t allocated = 0;  ///< number of the moment
  std::size_t freed = 0;      ///< the number of moments: never
  std::int64_t size = 0;
};

/// Blocks of a part, whose sum at each moment is the part's memory. What comes last is freed first.
void add_blocks(std::vector<Block>& blocks, std::size_t part, const std::vector<MemoryMoment>& moments) {
  std::vector<Block> held;
  std::int64_t sum = 0;
  for (std::size_t moment = 0; moment < moments.size(); ++moment) {
    const std::int64_t size = std::llround((moments[moment].use.*memory_parts[part].size).value());
    if (size > sum) held.push_back({part, moment, moments.size(), size - sum});
    for (std::int64_t excess = sum - size; excess > 0;) {
      const auto freed = std::min(excess, held.back().size);
      blocks.push_back({part, held.back().allocated, moment, freed});
      excess -= freed;
      held.back().size -= freed;
      if (held.back().size == 0) held.pop_back();
    }
    sum = size;
  }
  blocks.insert(blocks.end(), held.begin(), held.end());
}

/// The moment at which a block is allocated or freed.
struct Event {
  std::size_t moment = 0;
  bool allocates = false;
  std::size_t block = 0;
  auto operator<=>(const Event&) const = default;
};

void write_event(Pickle& pickle, std::string_view action, const Block& block, std::int64_t address,
                 const MemoryMoment& moment, const Model& model) {
  pickle.begin_dictionary();
  pickle.entry("action", action);
  pickle.entry("addr", address);
  pickle.entry("size", block.size);
  pickle.entry("stream", 0);
  pickle.text("frames");
  pickle.begin_list();
  pickle.begin_dictionary();
  const bool is_of_layer = moment.layer >= 0 && block.allocated > 0;
  const auto layer = is_of_layer ? model.layers[static_cast<std::size_t>(moment.layer)].name : "";
  pickle.entry("name", is_of_layer ? fmt::format("{}, {}", layer, name_of(moment.phase))
                                   : std::string{name_of(moment.phase)});
  pickle.entry("filename", memory_parts[block.part].title);
  pickle.entry("line", 0);
  pickle.end_dictionary();
  pickle.end_list();
  pickle.end_dictionary();
}

}  // namespace

void write_memory_snapshot(std::ostream& out, const Run& run) {
  const auto moments = memory_over_step(run);
  std::vector<Block> blocks;
  for (std::size_t part = 0; part < memory_parts.size(); ++part)
    if (memory_parts[part].is_allocated) add_blocks(blocks, part, moments);
  std::vector<Event> events;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    events.push_back({blocks[i].allocated, true, i});
    if (blocks[i].freed < moments.size()) events.push_back({blocks[i].freed, false, i});
  }
  std::ranges::sort(events);
  constexpr std::int64_t first_address = 0x7f00'0000'0000;
  std::vector<std::int64_t> addresses{first_address};
  for (const auto& block : blocks) addresses.push_back(addresses.back() + block.size);

  Pickle pickle{out};
  pickle.begin_dictionary();
  pickle.text("segments");
  pickle.begin_list();
  pickle.end_list();
  pickle.text("device_traces");
  pickle.begin_list();
  pickle.begin_list();
  constexpr std::size_t batch = 1000;
  std::size_t written = 0;
  for (const auto& [moment, allocates, i] : events) {
    if (++written % batch == 0) pickle.next_batch();
    const auto write = [&](std::string_view action) {
      write_event(pickle, action, blocks[i], addresses[i], moments[blocks[i].allocated], run.scenario.model);
    };
    if (allocates) {
      write("alloc");
    } else {
      write("free_requested");
      write("free_completed");
    }
  }
  pickle.end_list();
  pickle.end_list();
  pickle.end_dictionary();
  pickle.end();
}

}  // namespace gradway::report
