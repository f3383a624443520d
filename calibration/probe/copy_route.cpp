// SPDX-License-Identifier: Apache-2.0
#include "calibration/probe/copy_route.hpp"

#include <random>

#include "calibration/probe/fill.hpp"

namespace gradway::probe {
namespace {

void fill_host(void* memory, std::size_t bytes) {
  std::mt19937_64 random{1};
  auto* const words = static_cast<std::uint64_t*>(memory);
  for (std::size_t i = 0; i < bytes / sizeof(std::uint64_t); ++i) words[i] = random();
}

DeviceBuffer filled_on(int gpu, std::size_t bytes) {
  check(cudaSetDevice(gpu), "choosing a GPU");
  DeviceBuffer buffer{bytes};
  const Stream stream;
  fill_random(stream, static_cast<float*>(buffer.get()), bytes / sizeof(float), gpu);
  stream.wait();
  return buffer;
}

Row name_of(Place place) {
  return place.is_host() ? Row("host") : Row(place.gpu);
}

}  // namespace

Row to_row(const Route& route) {
  return Row::array({name_of(route.from), name_of(route.to)});
}

bool enable_peer_access(int gpus) {
  bool all = true;
  for (int from = 0; from < gpus; ++from) {
    check(cudaSetDevice(from), "choosing a GPU");
    for (int to = 0; to < gpus; ++to) {
      int can = 0;
      if (to == from) continue;
      check(cudaDeviceCanAccessPeer(&can, from, to), "asking for access between GPUs");
      all = all && can != 0;
      if (can == 0) continue;
      const auto status = cudaDeviceEnablePeerAccess(to, 0);
      if (status != cudaErrorPeerAccessAlreadyEnabled) check(status, "enabling access between GPUs");
    }
  }
  return all;
}

CopyBuffers::CopyBuffers(const Route& route, std::size_t bytes) : route_{route} {
  if (!route.from.is_host()) from_ = filled_on(route.from.gpu, bytes);
  if (!route.to.is_host()) to_ = filled_on(route.to.gpu, bytes);
  if (route.from.is_host() || route.to.is_host()) {
    host_ = PinnedBuffer{bytes};
    fill_host(host_.get(), bytes);
  }
}

void CopyBuffers::copy(const Stream& stream, std::size_t bytes) const {
  if (route_.from.is_host()) {
    check(cudaMemcpyAsync(to_.get(), host_.get(), bytes, cudaMemcpyHostToDevice, stream.get()),
          "copying to a GPU");
  } else if (route_.to.is_host()) {
    check(cudaMemcpyAsync(host_.get(), from_.get(), bytes, cudaMemcpyDeviceToHost, stream.get()),
          "copying from a GPU");
  } else {
    check(cudaMemcpyPeerAsync(to_.get(), route_.to.gpu, from_.get(), route_.from.gpu, bytes, stream.get()),
          "copying between GPUs");
  }
}

}  // namespace gradway::probe
