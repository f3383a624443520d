// SPDX-License-Identifier: Apache-2.0
#include "sim/describe/write_platform.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/refuse.hpp"
#include "sim/cost/calibration_words.hpp"
#include "sim/fit/kernels.hpp"
#include "sim/fit/yaml_text.hpp"

namespace gradway {
namespace {

// Defaults for what was not measured, from platforms/gpus/h200.yaml.
constexpr double usual_memory_efficiency = 0.88;
constexpr double usual_widening = 0.5;  // Share of the memory efficiency.
constexpr auto usual_kernel_latency = 4.2_us;
constexpr auto usual_launch_cost = 5.3_us;

std::string memory_text(Bytes memory) {
  constexpr auto mebibyte = 1_MiB;
  const auto size = memory / mebibyte;
  return size == std::floor(size) ? fmt::format("{:.0f} MiB", size) : fmt::format("{:.0f} B", memory.value());
}

/// Memory bandwidth, with two transfers per clock.
/// @source CUDA C++ Best Practices Guide, "Theoretical Bandwidth Calculation"
std::optional<BytesPerSecond> bandwidth_of(const NodeGpu& gpu) {
  const auto bytes_a_second = gpu.memory_clock.value_or(0) * gpu.memory_bus.value_or(0) / 8 * 2;
  return bytes_a_second < 1 ? std::nullopt : std::optional{BytesPerSecond{bytes_a_second}};
}

/// The slowest rate of copies, additions and scalings, or the rate of casts from 16 to 32 bits.
std::optional<BytesPerSecond> memory_rate(const KernelRates& rates, bool widens) {
  std::optional<BytesPerSecond> slowest;
  for (const auto& rate : rates.memory) {
    const bool is_cast =
        rate.kernel == MemoryKernel::cast_fp32_bf16 || rate.kernel == MemoryKernel::cast_bf16_fp32;
    const bool is_wanted = widens ? rate.kernel == MemoryKernel::cast_bf16_fp32 : !is_cast;
    if (is_wanted && (!slowest || rate.bandwidth < *slowest)) slowest = rate.bandwidth;
  }
  return slowest;
}

std::optional<Seconds> launch_time(const KernelRates& rates) {
  const auto launch = std::ranges::find(rates.launches, LaunchCost::launch, &LaunchTime::what);
  return launch == rates.launches.end() ? std::nullopt : std::optional{launch->time};
}

class GpuWriter {
 public:
  explicit GpuWriter(const Samples& samples)
      : node_{node_of(samples)}, gpu_{node_.gpus.front()}, rates_{fit_kernels(samples, {})} {
    std::erase_if(rates_.matrix, [](const MatrixRate& matrix) {
      return matrix.shape != ProductShape::large ||
             static_cast<std::size_t>(matrix.arithmetic) >= precision_count;
    });
    require(gpu_.memory.has_value(), "the node row does not contain its memory");
    require(gpu_.compute_capability.has_value(), "the node row does not contain its compute capability");
    require(!rates_.matrix.empty(), "there are no rows 'gemm' of 4096 x 4096 x 4096 or larger");
    bandwidth_ = bandwidth_of(gpu_);
    stream_ = memory_rate(rates_, false);
    widen_ = memory_rate(rates_, true);
    require(bandwidth_ || stream_, "neither the node row nor rows 'memory' give its memory bandwidth");
  }

  WrittenGpu write() {
    add("schema: 1\nsource: >-\n");
    add(wrapped(
        "  ", ascii_line(fmt::format("{}, measured by gradway-probe {}{}{}; sizes from the driver", gpu_.name,
                                     node_.probe, node_.date.empty() ? "" : ", ", node_.date))));
    add(fmt::format("compute_capability: {}.{}\n", *gpu_.compute_capability / 10,
                    *gpu_.compute_capability % 10));
    if (gpu_.multiprocessors) add(fmt::format("multiprocessors: {}\n", *gpu_.multiprocessors));
    add(fmt::format("memory: {}\n", memory_text(*gpu_.memory)));
    write_bandwidth();
    write_products();
    write_efficiencies();
    write_times();
    return std::move(written_);
  }

 private:
  void require(bool is_known, std::string_view lack) const {
    if (is_known) return;
    refuse_at(node_.where,
              fmt::format("no file of platforms/gpus describes '{}', and {}", ascii_line(gpu_.name), lack),
              "measure kernels with the probe too, or write a file of platforms/gpus by hand");
  }

  void add(std::string_view text) { written_.yaml += text; }

  /// Adds a number with its source above it.
  void add(std::string_view key, const std::string& value, std::string_view source) {
    add(wrapped("# ", source));
    add(fmt::format("{}: {}\n", key, value));
  }

  void guess(std::string_view key, const std::string& value) {
    add(key, value, "Not measured: value of our H200 node (platforms/gpus/h200.yaml).");
    written_.to_complete.emplace_back(key);
  }

  void write_bandwidth() {
    const bool is_nominal = bandwidth_.has_value();
    if (!is_nominal) bandwidth_ = stream_;
    if (stream_ && *stream_ > *bandwidth_) bandwidth_ = stream_;
    add("memory_bandwidth", fmt::format("{:.4g} GB/s", bandwidth_->value() / 1e9),
        is_nominal ? "From the driver: memory clock times bus width times two."
                   : "Measured, not from the datasheet: rows memory, the slowest of copies, additions and "
                     "scalings.");
    if (!is_nominal) written_.to_complete.emplace_back("memory_bandwidth");
  }

  void write_products() {
    std::vector<std::string> peaks;
    std::vector<std::string> efficiencies;
    for (const auto& matrix : rates_.matrix) {
      const auto precision = calibration_words::arithmetics[static_cast<std::size_t>(matrix.arithmetic)];
      peaks.push_back(fmt::format("{}: {:.4g} TFLOP/s", precision, matrix.rate.value() / 1e12));
      efficiencies.push_back(fmt::format("{}: 1", precision));
    }
    add("peak", fmt::format("{{ {} }}", fmt::join(peaks, ", ")),
        "Measured, not from the datasheet: rows gemm, the median of products of at least 100 GFLOP (4096 x "
        "4096 "
        "x 4096). "
        "It includes the efficiencies.");
    add(fmt::format("matrix_efficiency: {{ {} }}\n", fmt::join(efficiencies, ", ")));
    written_.to_complete.emplace_back("peak");
    written_.to_complete.emplace_back("matrix_efficiency");
  }

  void write_efficiencies() {
    const auto share = [&](BytesPerSecond rate) { return std::clamp(rate / *bandwidth_, 1e-4, 1.0); };
    const auto text = [](double value) { return fmt::format("{:.3g}", value); };
    const auto memory = stream_ ? share(*stream_) : usual_memory_efficiency;
    if (stream_) {
      add("memory_efficiency", text(memory),
          fmt::format("Rows memory: the slowest of copies, additions and scalings reached {:.4g} GB/s.",
                      stream_->value() / 1e9));
    } else {
      guess("memory_efficiency", text(memory));
    }
    if (widen_) {
      add("widen_efficiency", text(share(*widen_)),
          fmt::format("Rows memory: casts from 16 to 32 bits reached {:.4g} GB/s.", widen_->value() / 1e9));
    } else {
      guess("widen_efficiency", text(usual_widening * memory));
    }
  }

  void write_times() {
    const auto text = [](Seconds time) { return fmt::format("{:.4g} us", time.value() * 1e6); };
    if (rates_.smallest_kernel) {
      add("kernel_latency", text(*rates_.smallest_kernel), "Rows memory: the smallest kernels.");
    } else {
      guess("kernel_latency", text(usual_kernel_latency));
    }
    if (const auto launch = launch_time(rates_)) {
      add(wrapped("# ", fmt::format("Rows launch: {} of CPU time for an empty kernel, without PyTorch.",
                                    text(*launch))));
    }
    guess("launch_cost", text(usual_launch_cost));
  }

  const NodeRow& node_;
  const NodeGpu& gpu_;
  KernelRates rates_;
  std::optional<BytesPerSecond> stream_;  ///< Copies, additions and scalings.
  std::optional<BytesPerSecond> widen_;   ///< Casts from 16 to 32 bits.
  std::optional<BytesPerSecond> bandwidth_;
  WrittenGpu written_;
};

}  // namespace

WrittenGpu gpu_yaml(const Samples& samples) {
  return GpuWriter{samples}.write();
}

}  // namespace gradway
