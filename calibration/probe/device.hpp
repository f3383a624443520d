// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <utility>

#include "calibration/probe/cuda_check.hpp"
#include "sim/base/units.hpp"

namespace gradway::probe {

/// Owns a CUDA object; `destroy` frees it.
template <class Handle, auto destroy>
class Owned {
 public:
  Owned() = default;
  explicit Owned(Handle handle) : handle_{handle} {}
  Owned(Owned&& other) noexcept : handle_{std::exchange(other.handle_, Handle{})} {}
  Owned& operator=(Owned&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Owned() {
    if (handle_) destroy(handle_);
  }
  Handle get() const { return handle_; }

 private:
  Handle handle_{};
};

/// A stream on the GPU that is current when it is created; it does not wait for the default stream.
class Stream {
 public:
  Stream() {
    cudaStream_t stream = nullptr;
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "making a stream");
    stream_ = Owned<cudaStream_t, cudaStreamDestroy>{stream};
  }
  cudaStream_t get() const { return stream_.get(); }
  void wait() const { check(cudaStreamSynchronize(get()), "waiting for a stream"); }

 private:
  Owned<cudaStream_t, cudaStreamDestroy> stream_;
};

/// A time stamp on a stream.
class Event {
 public:
  Event() {
    cudaEvent_t event = nullptr;
    check(cudaEventCreate(&event), "making an event");
    event_ = Owned<cudaEvent_t, cudaEventDestroy>{event};
  }
  cudaEvent_t get() const { return event_.get(); }
  void record(const Stream& stream) { check(cudaEventRecord(get(), stream.get()), "recording an event"); }

 private:
  Owned<cudaEvent_t, cudaEventDestroy> event_;
};

/// Time from one event to a later one. @pre both have passed
inline Seconds between(const Event& first, const Event& last) {
  float milliseconds = 0;
  check(cudaEventElapsedTime(&milliseconds, first.get(), last.get()), "reading events");
  return Seconds{static_cast<double>(milliseconds) / 1e3};
}

inline void free_device(void* memory) {
  cudaFree(memory);
}
inline void free_pinned(void* memory) {
  cudaFreeHost(memory);
}

/// Memory of the current GPU.
class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  explicit DeviceBuffer(std::size_t bytes) {
    void* memory = nullptr;
    check(cudaMalloc(&memory, bytes), "allocating GPU memory");
    memory_ = Owned<void*, free_device>{memory};
  }
  void* get() const { return memory_.get(); }

 private:
  Owned<void*, free_device> memory_;
};

/// Page-locked host memory, visible to the GPUs.
class PinnedBuffer {
 public:
  PinnedBuffer() = default;
  explicit PinnedBuffer(std::size_t bytes) {
    void* memory = nullptr;
    check(cudaHostAlloc(&memory, bytes, cudaHostAllocPortable | cudaHostAllocMapped),
          "allocating pinned memory");
    memory_ = Owned<void*, free_pinned>{memory};
  }
  void* get() const { return memory_.get(); }

 private:
  Owned<void*, free_pinned> memory_;
};

}  // namespace gradway::probe
