// SPDX-License-Identifier: Apache-2.0
#include "calibration/probe/copies.hpp"

#include <cstdint>

#include "calibration/harness/sizes.hpp"
#include "calibration/probe/copy_route.hpp"
#include "calibration/probe/measure.hpp"

namespace gradway::probe {
namespace {

constexpr std::size_t smallest = 4 << 10;
constexpr std::size_t largest = std::size_t{1} << 30;  // A quarter of it in quick runs.

std::size_t large_in(const Context& context) {
  return (context.quick ? 64 : 256) << 20;
}

Row copy_row(const char* kind, const std::vector<int>& gpus, std::size_t bytes) {
  return {{"kind", kind}, {"gpus", gpus}, {"bytes", bytes}};
}

void by_size(Context& context, const char* kind, const Route& route, const std::vector<int>& gpus) {
  const auto most = context.quick ? largest / 4 : largest;
  const CopyBuffers buffers{route, most};
  check(cudaSetDevice(route.engine()), "choosing a GPU");
  for (const auto bytes : powers(smallest, most, context.quick ? 16 : 4)) {
    const auto time = measure(context.rule, [&](const Stream& stream) { buffers.copy(stream, bytes); });
    context.emit(measured(copy_row(kind, gpus, bytes), time));
  }
}

/// Copies from or to pageable memory: the CPU takes part and waits, so its clock is used.
void pageable(Context& context, const char* kind, cudaMemcpyKind direction) {
  check(cudaSetDevice(0), "choosing a GPU");
  const auto most = context.quick ? largest / 4 : largest;
  const DeviceBuffer device{most};
  std::vector<std::uint64_t> host(most / sizeof(std::uint64_t), 0x9e3779b97f4a7c15);
  void* const from = direction == cudaMemcpyHostToDevice ? static_cast<void*>(host.data()) : device.get();
  void* const to = direction == cudaMemcpyHostToDevice ? device.get() : static_cast<void*>(host.data());
  const Stream stream;
  for (const auto bytes : powers(smallest, most, context.quick ? 64 : 16)) {
    const auto time = measure_on_cpu(context.rule, 1, [&] {
      check(cudaMemcpyAsync(to, from, bytes, direction, stream.get()), "copying pageable memory");
      stream.wait();
    });
    context.emit(measured(copy_row(kind, {0}, bytes), time));
  }
}

void one_large(Context& context, const char* kind, const Route& route, const std::vector<int>& gpus) {
  const auto large = large_in(context);
  const CopyBuffers buffers{route, large};
  check(cudaSetDevice(route.engine()), "choosing a GPU");
  const auto time = measure(context.rule, [&](const Stream& stream) { buffers.copy(stream, large); });
  context.emit(measured(copy_row(kind, gpus, large), time));
}

void over_the_others(Context& context) {
  for (int gpu = 1; gpu < context.gpus; ++gpu) {
    one_large(context, "h2d_pinned", {{}, {gpu}}, {gpu});
    one_large(context, "d2h_pinned", {{gpu}, {}}, {gpu});
  }
  for (int from = 0; from < context.gpus; ++from) {
    for (int to = 0; to < context.gpus; ++to) {
      const bool is_known = from == to || (from == 0 && to == 1);
      if (!is_known) one_large(context, "d2d_peer", {{from}, {to}}, {from, to});
    }
  }
}

}  // namespace

void probe_copies(Context& context) {
  if (!enable_peer_access(context.gpus))
    context.remark("not all GPUs can access each other's memory: their copies go through the host");
  by_size(context, "h2d_pinned", {{}, {0}}, {0});
  by_size(context, "d2h_pinned", {{0}, {}}, {0});
  by_size(context, "d2d_same", {{0}, {0}}, {0});
  if (context.gpus > 1) by_size(context, "d2d_peer", {{0}, {1}}, {0, 1});
  context.done(0.4);
  pageable(context, "h2d_pageable", cudaMemcpyHostToDevice);
  pageable(context, "d2h_pageable", cudaMemcpyDeviceToHost);
  context.done(0.8);
  over_the_others(context);
}

}  // namespace gradway::probe
