// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <span>

#include <fmt/format.h>

#include "sim/config/yaml/quantities.hpp"

namespace gradway::config {
namespace {

/// A unit of bits; gradway uses bytes.
struct BitUnit {
  std::string_view name;
  double bytes;  ///< in one unit
};

constexpr std::array bit_rates = {
    BitUnit{"b/s", 0.125},    BitUnit{"bit/s", 0.125},  BitUnit{"bps", 0.125},     BitUnit{"kb/s", 125},
    BitUnit{"Kb/s", 125},     BitUnit{"kbit/s", 125},   BitUnit{"kbps", 125},      BitUnit{"Kbps", 125},
    BitUnit{"Mb/s", 125e3},   BitUnit{"Mbit/s", 125e3}, BitUnit{"Mbps", 125e3},    BitUnit{"Gb/s", 125e6},
    BitUnit{"Gbit/s", 125e6}, BitUnit{"Gbps", 125e6},   BitUnit{"Gbits/s", 125e6}, BitUnit{"Tb/s", 125e9},
    BitUnit{"Tbit/s", 125e9}, BitUnit{"Tbps", 125e9},   BitUnit{"gbps", 125e6},    BitUnit{"mbps", 125e3},
};
constexpr std::array bit_amounts = {
    BitUnit{"b", 0.125},    BitUnit{"bit", 0.125}, BitUnit{"kb", 125},     BitUnit{"Kb", 125},
    BitUnit{"kbit", 125},   BitUnit{"Mb", 125e3},  BitUnit{"Mbit", 125e3}, BitUnit{"Gb", 125e6},
    BitUnit{"Gbit", 125e6}, BitUnit{"Tb", 125e9},  BitUnit{"Tbit", 125e9},
};

/// Common misspellings of units and their meaning. {} is replaced by the number.
struct Misspelling {
  std::string_view wrong;
  std::string_view hint;
};

constexpr std::array bandwidth_misspellings = {
    Misspelling{"GBps", "write '{} GB/s'"},
    Misspelling{"MBps", "write '{} MB/s'"},
    Misspelling{"TBps", "write '{} TB/s'"},
    Misspelling{"kBps", "write '{} kB/s'"},
    Misspelling{"KB/s", "write '{0} kB/s' for 1000 bytes, or '{0} KiB/s' for 1024"},
    Misspelling{"gb/s", "write '{} GB/s' if you mean bytes; for bits divide by 8"},
    Misspelling{"mb/s", "write '{} MB/s' if you mean bytes; for bits divide by 8"},
    Misspelling{"tb/s", "write '{} TB/s' if you mean bytes; for bits divide by 8"},
    Misspelling{"G/s", "write '{} GB/s' if you mean bytes; for bits divide by 8"},
    Misspelling{"GT/s", "transfers are not bytes: PCIe 4.0 at 16 GT/s gives 1.97 GB/s a lane and direction"},
};
constexpr std::array byte_misspellings = {
    Misspelling{"KB", "write '{0} kB' for 1000 bytes, or '{0} KiB' for 1024"},
    Misspelling{"K", "write '{0} kB' for 1000 bytes, or '{0} KiB' for 1024"},
    Misspelling{"mb", "write '{0} MB' for 10^6 bytes, or '{0} MiB' for 2^20"},
    Misspelling{"M", "write '{0} MB' for 10^6 bytes, or '{0} MiB' for 2^20"},
    Misspelling{"gb", "write '{0} GB' for 10^9 bytes, or '{0} GiB' for 2^30"},
    Misspelling{"G", "write '{0} GB' for 10^9 bytes, or '{0} GiB' for 2^30"},
    Misspelling{"tb", "write '{0} TB' for 10^12 bytes, or '{0} TiB' for 2^40"},
    Misspelling{"T", "write '{0} TB' for 10^12 bytes, or '{0} TiB' for 2^40"},
    Misspelling{"kib", "write '{} KiB'"},
    Misspelling{"kiB", "write '{} KiB'"},
    Misspelling{"mib", "write '{} MiB'"},
    Misspelling{"gib", "write '{} GiB'"},
    Misspelling{"Mi", "write '{} MiB'"},
    Misspelling{"Gi", "write '{} GiB'"},
    Misspelling{"bytes", "write '{} B'"},
    Misspelling{"byte", "write '{} B'"},
};
constexpr std::array time_misspellings = {
    Misspelling{"sec", "write '{} s'"},
    Misspelling{"secs", "write '{} s'"},
    Misspelling{"second", "write '{} s'"},
    Misspelling{"seconds", "write '{} s'"},
    Misspelling{"S", "write '{} s'"},
    Misspelling{"msec", "write '{} ms'"},
    Misspelling{"Ms", "write '{} ms'"},
    Misspelling{"MS", "write '{} ms'"},
    Misspelling{"usec", "write '{} us'"},
    Misspelling{"nsec", "write '{} ns'"},
    Misspelling{"min", "write it in seconds ('s')"},
    Misspelling{"m", "write '{} ms' for milliseconds; minutes are written in seconds"},
    Misspelling{"h", "write it in seconds ('s')"},
};
constexpr std::array flop_misspellings = {
    Misspelling{"GFLOPS", "write '{} GFLOP/s'"},
    Misspelling{"GFLOP", "write '{} GFLOP/s'"},
    Misspelling{"TFLOPS", "write '{} TFLOP/s'"},
    Misspelling{"TFLOPs", "write '{} TFLOP/s'"},
    Misspelling{"TFlops", "write '{} TFLOP/s'"},
    Misspelling{"TFLOPS/s", "write '{} TFLOP/s'"},
    Misspelling{"TFLOPs/s", "write '{} TFLOP/s'"},
    Misspelling{"TFLOP", "write '{} TFLOP/s'"},
    Misspelling{"tflops", "write '{} TFLOP/s'"},
    Misspelling{"PFLOPS", "write '{} PFLOP/s'"},
    Misspelling{"PFLOP", "write '{} PFLOP/s'"},
    Misspelling{"TOPS", "write '{} TFLOP/s' if these are floating-point operations"},
};
constexpr std::array price_misspellings = {
    Misspelling{"USD", "write '{} USD/h'"},
    Misspelling{"$", "write '{} USD/h'"},
    Misspelling{"$/h", "write '{} USD/h'"},
    Misspelling{"usd/h", "write '{} USD/h'"},
    Misspelling{"USD/hour", "write '{} USD/h'"},
    Misspelling{"USD/hr", "write '{} USD/h'"},
    Misspelling{"EUR/h", "convert it to US dollars: 'USD/h'; only price lists convert it, by their rates"},
};
constexpr std::array step_misspellings = {
    Misspelling{"steps/sec", "write '{} steps/s'"},
    Misspelling{"step/s", "write '{} steps/s'"},
    Misspelling{"it/s", "write '{} steps/s' if an iteration is one optimizer step"},
    Misspelling{"samples/s", "divide by the samples of a step and write 'steps/s'"},
};

struct KindMisspellings {
  std::string_view kind;
  std::span<const Misspelling> misspellings;
  std::span<const BitUnit> bits;
  std::string_view byte_suffix;  ///< after the unit of bytes, in hints
};

constexpr std::array kind_misspellings = {
    KindMisspellings{"bandwidth", bandwidth_misspellings, bit_rates, "/s"},
    KindMisspellings{"data", byte_misspellings, bit_amounts, ""},
    KindMisspellings{"time", time_misspellings, {}, ""},
    KindMisspellings{"compute rate", flop_misspellings, {}, ""},
    KindMisspellings{"price", price_misspellings, {}, ""},
    KindMisspellings{"step rate", step_misspellings, {}, ""},
};

/// In the largest unit of bytes: 50 GB/s for 50e9.
std::string in_bytes(double value, std::string_view suffix) {
  constexpr std::array prefixes = {Unit{"TB", 1e12}, Unit{"GB", 1e9}, Unit{"MB", 1e6}, Unit{"kB", 1e3},
                                   Unit{"B", 1}};
  const auto fits = [value](const Unit& unit) { return value >= unit.scale; };
  const auto prefix = std::ranges::find_if(prefixes, fits);
  const auto& unit = prefix == prefixes.end() ? prefixes.back() : *prefix;
  return fmt::format("{:.6g} {}{}", value / unit.scale, unit.name, suffix);
}

}  // namespace

std::string unit_hint(std::string_view unit, double number, std::string_view number_text,
                      const QuantityKind& kind) {
  const auto known = std::ranges::find(kind_misspellings, kind.name, &KindMisspellings::kind);
  if (known == kind_misspellings.end()) return "";
  if (const auto bits = std::ranges::find(known->bits, unit, &BitUnit::name); bits != known->bits.end()) {
    return fmt::format("{} {} is {}: gradway counts bytes", number_text, unit,
                       in_bytes(number * bits->bytes, known->byte_suffix));
  }
  const auto misspelling = std::ranges::find(known->misspellings, unit, &Misspelling::wrong);
  return misspelling == known->misspellings.end() ? ""
                                                  : fmt::format(fmt::runtime(misspelling->hint), number_text);
}

}  // namespace gradway::config
