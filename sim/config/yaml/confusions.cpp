// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <span>

#include <fmt/format.h>

#include "sim/config/yaml/quantities.hpp"

namespace gradway::config {
namespace {

/// A unit of bits, which gradway does not count in.
struct BitUnit {
  std::string_view name;
  double bytes;  ///< that one of it is
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

/// Spellings that people use and what each surely means. {} stands for the number.
struct Slip {
  std::string_view wrong;
  std::string_view hint;
};

constexpr std::array bandwidth_slips = {
    Slip{"GBps", "write '{} GB/s'"},
    Slip{"MBps", "write '{} MB/s'"},
    Slip{"TBps", "write '{} TB/s'"},
    Slip{"kBps", "write '{} kB/s'"},
    Slip{"KB/s", "write '{0} kB/s' for 1000 bytes, or '{0} KiB/s' for 1024"},
    Slip{"gb/s", "write '{} GB/s' if you mean bytes; for bits divide by 8"},
    Slip{"mb/s", "write '{} MB/s' if you mean bytes; for bits divide by 8"},
    Slip{"tb/s", "write '{} TB/s' if you mean bytes; for bits divide by 8"},
    Slip{"G/s", "write '{} GB/s' if you mean bytes; for bits divide by 8"},
    Slip{"GT/s", "transfers are not bytes: PCIe 4.0 at 16 GT/s gives 1.97 GB/s a lane and direction"},
};
constexpr std::array byte_slips = {
    Slip{"KB", "write '{0} kB' for 1000 bytes, or '{0} KiB' for 1024"},
    Slip{"K", "write '{0} kB' for 1000 bytes, or '{0} KiB' for 1024"},
    Slip{"mb", "write '{0} MB' for 10^6 bytes, or '{0} MiB' for 2^20"},
    Slip{"M", "write '{0} MB' for 10^6 bytes, or '{0} MiB' for 2^20"},
    Slip{"gb", "write '{0} GB' for 10^9 bytes, or '{0} GiB' for 2^30"},
    Slip{"G", "write '{0} GB' for 10^9 bytes, or '{0} GiB' for 2^30"},
    Slip{"tb", "write '{0} TB' for 10^12 bytes, or '{0} TiB' for 2^40"},
    Slip{"T", "write '{0} TB' for 10^12 bytes, or '{0} TiB' for 2^40"},
    Slip{"kib", "write '{} KiB'"},
    Slip{"kiB", "write '{} KiB'"},
    Slip{"mib", "write '{} MiB'"},
    Slip{"gib", "write '{} GiB'"},
    Slip{"Mi", "write '{} MiB'"},
    Slip{"Gi", "write '{} GiB'"},
    Slip{"bytes", "write '{} B'"},
    Slip{"byte", "write '{} B'"},
};
constexpr std::array time_slips = {
    Slip{"sec", "write '{} s'"},
    Slip{"secs", "write '{} s'"},
    Slip{"second", "write '{} s'"},
    Slip{"seconds", "write '{} s'"},
    Slip{"S", "write '{} s'"},
    Slip{"msec", "write '{} ms'"},
    Slip{"Ms", "write '{} ms'"},
    Slip{"MS", "write '{} ms'"},
    Slip{"usec", "write '{} us'"},
    Slip{"nsec", "write '{} ns'"},
    Slip{"min", "write it in seconds ('s')"},
    Slip{"m", "write '{} ms' for milliseconds; minutes are written in seconds"},
    Slip{"h", "write it in seconds ('s')"},
};
constexpr std::array flop_slips = {
    Slip{"GFLOPS", "write '{} GFLOP/s'"},
    Slip{"GFLOP", "write '{} GFLOP/s'"},
    Slip{"TFLOPS", "write '{} TFLOP/s'"},
    Slip{"TFLOPs", "write '{} TFLOP/s'"},
    Slip{"TFlops", "write '{} TFLOP/s'"},
    Slip{"TFLOPS/s", "write '{} TFLOP/s'"},
    Slip{"TFLOPs/s", "write '{} TFLOP/s'"},
    Slip{"TFLOP", "write '{} TFLOP/s'"},
    Slip{"tflops", "write '{} TFLOP/s'"},
    Slip{"PFLOPS", "write '{} PFLOP/s'"},
    Slip{"PFLOP", "write '{} PFLOP/s'"},
    Slip{"TOPS", "write '{} TFLOP/s' if these are floating-point operations"},
};
constexpr std::array price_slips = {
    Slip{"USD", "write '{} USD/h'"},
    Slip{"$", "write '{} USD/h'"},
    Slip{"$/h", "write '{} USD/h'"},
    Slip{"usd/h", "write '{} USD/h'"},
    Slip{"USD/hour", "write '{} USD/h'"},
    Slip{"USD/hr", "write '{} USD/h'"},
    Slip{"EUR/h", "convert it to US dollars: 'USD/h'"},
};
constexpr std::array step_slips = {
    Slip{"steps/sec", "write '{} steps/s'"},
    Slip{"step/s", "write '{} steps/s'"},
    Slip{"it/s", "write '{} steps/s' if an iteration is one optimizer step"},
    Slip{"samples/s", "divide by the samples of a step and write 'steps/s'"},
};

struct KindSlips {
  std::string_view kind;
  std::span<const Slip> slips;
  std::span<const BitUnit> bits;
  std::string_view byte_suffix;  ///< after the unit of bytes that bits are turned into
};

constexpr std::array kind_slips = {
    KindSlips{"bandwidth", bandwidth_slips, bit_rates, "/s"},
    KindSlips{"data", byte_slips, bit_amounts, ""},
    KindSlips{"time", time_slips, {}, ""},
    KindSlips{"compute rate", flop_slips, {}, ""},
    KindSlips{"price", price_slips, {}, ""},
    KindSlips{"step rate", step_slips, {}, ""},
};

/// "400e9/8" as people write it: 50 GB/s.
std::string in_bytes(double value, std::string_view suffix) {
  constexpr std::array prefixes = {Unit{"TB", 1e12}, Unit{"GB", 1e9}, Unit{"MB", 1e6}, Unit{"kB", 1e3},
                                   Unit{"B", 1}};
  const auto fits = [value](const Unit& unit) { return value >= unit.scale; };
  const auto found = std::ranges::find_if(prefixes, fits);
  const auto& unit = found == prefixes.end() ? prefixes.back() : *found;
  return fmt::format("{:.6g} {}{}", value / unit.scale, unit.name, suffix);
}

}  // namespace

std::string unit_hint(std::string_view unit, double number, std::string_view number_text,
                      const QuantityKind& kind) {
  const auto known = std::ranges::find(kind_slips, kind.name, &KindSlips::kind);
  if (known == kind_slips.end()) return "";
  if (const auto bits = std::ranges::find(known->bits, unit, &BitUnit::name); bits != known->bits.end()) {
    return fmt::format("{} {} is {}: gradway counts bytes", number_text, unit,
                       in_bytes(number * bits->bytes, known->byte_suffix));
  }
  const auto slip = std::ranges::find(known->slips, unit, &Slip::wrong);
  return slip == known->slips.end() ? "" : fmt::format(fmt::runtime(slip->hint), number_text);
}

}  // namespace gradway::config
