// SPDX-License-Identifier: Apache-2.0
#include "readers/kineto/work/launch_work.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "readers/kineto/work/operation_work.hpp"

namespace gradway {
namespace {

bool is_arithmetic(KernelClass kind) {
  return kind == KernelClass::matrix || kind == KernelClass::attention;
}

std::string operation_name(const Trace& trace, const TracedLaunch& launch) {
  if (launch.operation == nullptr) return "";
  std::string name = trace.signatures[launch.operation->signature].name;
  constexpr std::string_view space = "aten::";
  if (name.starts_with(space)) name.erase(0, space.size());
  constexpr std::size_t longest = 60;
  name.resize(std::min(name.size(), longest));
  return name;
}

/// Name for people: the operation, and the kernel if it is only a helper of the operation.
std::string name_of(const Trace& trace, const TracedLaunch& traced, const Launch& launch, bool is_helper) {
  const auto operation = operation_name(trace, traced);
  const auto& kernel = trace.names.text(traced.activity->name);
  if (traced.activity->kind == TracedActivity::Kind::memset)
    return operation.empty() ? "memset" : operation + " memset";
  if (traced.activity->kind == TracedActivity::Kind::copy && operation.empty()) return "copy";
  if (operation.empty()) return short_name(kernel);
  return is_helper && launch.kind == KernelClass::memory ? fmt::format("{} {}", operation, short_name(kernel))
                                                         : operation;
}

/// The launches of one call of an operation.
class Group {
 public:
  Group(const Trace& trace, std::span<const TracedLaunch> traced, std::span<Launch> launches)
      : trace_{trace}, traced_{traced}, launches_{launches} {}

  void set_all() {
    const auto* operation = traced_.front().operation;
    const auto work =
        operation != nullptr ? work_of(trace_.signatures[operation->signature]) : OperationWork{};
    set_classes(work);
    const auto multiplying = is_arithmetic(work.kind) ? arithmetic() : kernels();
    divide(work, multiplying);
    for (std::size_t i = 0; i < launches_.size(); ++i) {
      set_copied_bytes(i);
      launches_[i].name = name_of(trace_, traced_[i], launches_[i], is_arithmetic(work.kind));
    }
    set_precision(operation);
  }

 private:
  bool is_kernel(std::size_t i) const { return traced_[i].activity->kind == TracedActivity::Kind::kernel; }

  std::vector<std::size_t> kernels() const {
    std::vector<std::size_t> result;
    for (std::size_t i = 0; i < launches_.size(); ++i) {
      if (is_kernel(i)) result.push_back(i);
    }
    return result;
  }
  std::vector<std::size_t> arithmetic() const {
    auto result = kernels();
    std::erase_if(result, [&](std::size_t i) { return !is_arithmetic(launches_[i].kind); });
    return result;
  }

  void set_classes(const OperationWork& work) {
    for (std::size_t i = 0; i < launches_.size(); ++i) {
      const auto& activity = *traced_[i].activity;
      launches_[i].kind = class_of(activity.kind, trace_.names.text(activity.name));
    }
    const auto* operation = traced_.front().operation;
    if (operation == nullptr) return;
    if (is_arithmetic(work.kind) && arithmetic().empty()) {
      const auto candidates = kernels();
      const auto longest =
          std::ranges::max_element(candidates, {}, [&](std::size_t i) { return launches_[i].gpu.value(); });
      if (longest != candidates.end()) launches_[*longest].kind = work.kind;
    }
    // A depthwise convolution is memory, whatever its kernels are called.
    const auto& name = trace_.signatures[operation->signature].name;
    if (work.kind == KernelClass::memory && name.find("conv") != std::string::npos && work.bytes > Bytes{}) {
      for (const auto i : kernels()) launches_[i].kind = KernelClass::memory;
    }
  }

  void divide(const OperationWork& work, const std::vector<std::size_t>& among) {
    Seconds total{};
    for (const auto i : among) total += launches_[i].gpu;
    // By time, but for kernels of one product each, and for those that the trace gives no time.
    const bool is_even = static_cast<int>(among.size()) == work.products || total <= Seconds{};
    for (const auto i : among) {
      const auto share = is_even ? 1.0 / static_cast<double>(among.size()) : launches_[i].gpu / total;
      launches_[i].flops = work.flops * share;
      launches_[i].bytes = work.bytes * share;
    }
  }

  void set_copied_bytes(std::size_t i) {
    if (is_kernel(i)) return;
    const auto& activity = *traced_[i].activity;
    const bool reads_and_writes =
        activity.kind == TracedActivity::Kind::copy && launches_[i].kind == KernelClass::memory;
    launches_[i].bytes = Bytes{static_cast<double>(activity.bytes) * (reads_and_writes ? 2 : 1)};
  }

  void set_precision(const TracedOperation* operation) {
    const auto of_operands =
        operation != nullptr ? precision_of(trace_.signatures[operation->signature]) : std::nullopt;
    for (std::size_t i = 0; i < launches_.size(); ++i) {
      auto& launch = launches_[i];
      const auto& kernel = trace_.names.text(traced_[i].activity->name);
      launch.precision = of_operands.value_or(
          trace_.has_shapes ? Precision::fp32 : precision_by_name(kernel).value_or(Precision::fp32));
      const bool is_tf32 =
          is_arithmetic(launch.kind) && launch.precision == Precision::fp32 && uses_tf32(kernel);
      if (is_tf32) launch.precision = Precision::tf32;
    }
  }

  const Trace& trace_;
  std::span<const TracedLaunch> traced_;
  std::span<Launch> launches_;
};

}  // namespace

void find_work(const Trace& trace, std::span<const TracedLaunch> traced, std::vector<Launch>& launches) {
  const std::span all_launches{launches};
  for (std::size_t begin = 0; begin < traced.size();) {
    auto end = begin + 1;
    while (end < traced.size() && traced[begin].operation != nullptr &&
           traced[end].operation == traced[begin].operation)
      ++end;
    Group{trace, traced.subspan(begin, end - begin), all_launches.subspan(begin, end - begin)}.set_all();
    begin = end;
  }
}

Precision main_precision(const std::vector<Launch>& launches) {
  std::array<double, precision_count> flops{};
  std::array<double, precision_count> time{};
  for (const auto& launch : launches) {
    if (!is_arithmetic(launch.kind)) continue;
    flops[static_cast<std::size_t>(launch.precision)] += launch.flops.value();
    time[static_cast<std::size_t>(launch.precision)] += launch.gpu.value();
  }
  const auto& counted = std::ranges::max(flops) > 0 ? flops : time;
  return static_cast<Precision>(std::ranges::max_element(counted) - counted.begin());
}

}  // namespace gradway
