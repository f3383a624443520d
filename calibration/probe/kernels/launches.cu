// SPDX-License-Identifier: Apache-2.0
#include "calibration/probe/kernels/families.hpp"
#include "calibration/probe/measure.hpp"

namespace gradway::probe {
namespace {

constexpr int calls = 200;  // Consecutive calls: far fewer than the driver's queue holds.

__global__ void nothing() {}

void launch(const Stream& stream) {
  nothing<<<1, 1, 0, stream.get()>>>();
  check(cudaGetLastError(), "launching an empty kernel");
}

/// An event without timing, as PyTorch uses to order streams.
Owned<cudaEvent_t, cudaEventDestroy> dateless_event() {
  cudaEvent_t event = nullptr;
  check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "making an event");
  return Owned<cudaEvent_t, cudaEventDestroy>{event};
}

}  // namespace

void probe_launches(Context& context) {
  const Stream stream;
  const Stream other;
  const auto event = dateless_event();
  const auto emit = [&](const char* kind, const Summary& summary) {
    context.emit(measured({{"kind", kind}}, summary));
  };
  const auto settle = [&] {
    stream.wait();
    other.wait();
  };
  emit("launch", measure_on_cpu(
                     context.rule, calls, [&] { launch(stream); }, settle));
  emit("kernel_gap", measure(context.rule, launch));
  emit("launch_latency", measure_on_cpu(context.rule, calls, [&] {
         launch(stream);
         stream.wait();
       }));
  emit("sync", measure_on_cpu(context.rule, calls, [&] { stream.wait(); }));
  const auto order = [&] {
    check(cudaEventRecord(event.get(), stream.get()), "recording an event");
    check(cudaStreamWaitEvent(other.get(), event.get(), 0), "letting a stream wait for an event");
  };
  emit("event", measure_on_cpu(context.rule, calls, order, settle));
  context.done(1);
}

}  // namespace gradway::probe
