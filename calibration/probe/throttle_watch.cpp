// SPDX-License-Identifier: Apache-2.0
#include "calibration/probe/throttle_watch.hpp"

#include <chrono>

#include "calibration/harness/throttling.hpp"
#include "calibration/probe/cuda_check.hpp"
#include "calibration/probe/nvml.hpp"

namespace gradway::probe {
namespace {

using namespace std::chrono_literals;

void watch(const std::stop_token& stop, const std::string& pci, std::vector<std::uint64_t>& reasons) {
  std::string why;
  const auto nvml = Nvml::load(why);
  while (nvml && !stop.stop_requested()) {
    reasons.push_back(nvml->throttle_reasons(pci));
    std::this_thread::sleep_for(100ms);
  }
}

}  // namespace

ThrottleWatch::ThrottleWatch(int gpu) : gpu_{gpu} {
  char pci[32] = {};
  check(cudaDeviceGetPCIBusId(pci, sizeof pci, gpu), "asking for a GPU's place");
  thread_ = std::jthread{
      [this, place = std::string{pci}](const std::stop_token& stop) { watch(stop, place, reasons_); }};
}

std::string ThrottleWatch::verdict() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
  return throttling_text(gpu_, reasons_);
}

}  // namespace gradway::probe
