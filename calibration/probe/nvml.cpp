// SPDX-License-Identifier: Apache-2.0
#include "calibration/probe/nvml.hpp"

#include <array>

#include <dlfcn.h>

namespace gradway::probe {
namespace {

// Declarations of nvml.h that are used here: the header is not part of every CUDA toolkit, but the library's
// interface is stable. @source NVML API reference, v12
using Device = struct nvmlDevice_st*;
constexpr int success = 0;
constexpr int enabled = 1;
constexpr unsigned nvlink_speed_field = 90;  // NVML_FI_DEV_NVLINK_SPEED_MBPS_COMMON
struct FieldValue {
  unsigned field;
  unsigned scope;
  long long timestamp;
  long long latency;
  unsigned type;
  int status;
  union {
    double number;
    unsigned count;
    unsigned long long long_count;
    unsigned short short_counts[4];
  } value;
};

constexpr std::size_t version_size = 80;
constexpr unsigned most_nvlinks = 18;
constexpr double bytes_of_a_megabyte = 1e6;
constexpr double milliwatts = 1e3;
constexpr double megahertz = 1e6;
constexpr int multiprocessor_clock = 1;  // NVML_CLOCK_SM
constexpr int gpu_sensor = 0;            // NVML_TEMPERATURE_GPU

template <class Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

}  // namespace

struct Nvml::Functions {
  void* library = nullptr;
  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  int (*driver_version)(char*, unsigned) = nullptr;
  int (*handle)(const char*, Device*) = nullptr;
  int (*pcie_generation)(Device, unsigned*) = nullptr;
  int (*pcie_width)(Device, unsigned*) = nullptr;
  int (*nvlink_state)(Device, unsigned, int*) = nullptr;
  int (*field_values)(Device, int, FieldValue*) = nullptr;
  int (*power_limit)(Device, unsigned*) = nullptr;
  int (*throttle_reasons)(Device, unsigned long long*) = nullptr;
  int (*clock)(Device, int, unsigned*) = nullptr;
  int (*temperature)(Device, int, unsigned*) = nullptr;
  int (*power)(Device, unsigned*) = nullptr;

  bool find_all() {
    return find(library, "nvmlInit_v2", init) && find(library, "nvmlShutdown", shutdown) &&
           find(library, "nvmlSystemGetDriverVersion", driver_version) &&
           find(library, "nvmlDeviceGetHandleByPciBusId_v2", handle) &&
           find(library, "nvmlDeviceGetMaxPcieLinkGeneration", pcie_generation) &&
           find(library, "nvmlDeviceGetMaxPcieLinkWidth", pcie_width) &&
           find(library, "nvmlDeviceGetNvLinkState", nvlink_state) &&
           find(library, "nvmlDeviceGetFieldValues", field_values) &&
           find(library, "nvmlDeviceGetEnforcedPowerLimit", power_limit) &&
           find(library, "nvmlDeviceGetCurrentClocksThrottleReasons", throttle_reasons) &&
           find(library, "nvmlDeviceGetClockInfo", clock) &&
           find(library, "nvmlDeviceGetTemperature", temperature) &&
           find(library, "nvmlDeviceGetPowerUsage", power);
  }

  std::optional<Device> device(const std::string& pci) const {
    Device device = nullptr;
    if (handle(pci.c_str(), &device) != success) return std::nullopt;
    return device;
  }
};

std::unique_ptr<Nvml> Nvml::load(std::string& why) {
  auto functions = std::make_unique<Functions>();
  functions->library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (functions->library == nullptr) {
    why = "no NVIDIA driver was found (libnvidia-ml.so.1)";
  } else if (!functions->find_all()) {
    why = "the NVIDIA driver is too old (its libnvidia-ml.so.1 lacks functions)";
  } else if (functions->init() != success) {
    why = "the NVIDIA driver does not answer (nvmlInit failed)";
  } else {
    return std::unique_ptr<Nvml>{new Nvml{std::move(functions)}};
  }
  if (functions->library != nullptr) dlclose(functions->library);
  return nullptr;
}

Nvml::Nvml(std::unique_ptr<Functions> functions) : functions_{std::move(functions)} {}

Nvml::~Nvml() {
  functions_->shutdown();
  dlclose(functions_->library);
}

std::string Nvml::driver_version() const {
  std::array<char, version_size> text{};
  if (functions_->driver_version(text.data(), static_cast<unsigned>(text.size())) != success) return {};
  return text.data();
}

DriverFacts Nvml::facts(const std::string& pci) const {
  DriverFacts facts;
  const auto device = functions_->device(pci);
  if (!device) return facts;
  unsigned number = 0;
  if (functions_->pcie_generation(*device, &number) == success)
    facts.pcie_generation = static_cast<int>(number);
  if (functions_->pcie_width(*device, &number) == success) facts.pcie_width = static_cast<int>(number);
  if (functions_->power_limit(*device, &number) == success) facts.power_limit_watts = number / milliwatts;
  int up = 0;
  for (unsigned link = 0; link < most_nvlinks; ++link) {
    int state = 0;
    if (functions_->nvlink_state(*device, link, &state) == success && state == enabled) ++up;
  }
  facts.nvlinks = up;
  FieldValue speed{};
  speed.field = nvlink_speed_field;
  if (up > 0 && functions_->field_values(*device, 1, &speed) == success && speed.status == success &&
      speed.value.count > 0)
    facts.nvlink_rate = BytesPerSecond{speed.value.count * bytes_of_a_megabyte};
  return facts;
}

DriverState Nvml::state(const std::string& pci) const {
  DriverState state;
  const auto device = functions_->device(pci);
  unsigned number = 0;
  if (!device) return state;
  if (functions_->clock(*device, multiprocessor_clock, &number) == success)
    state.clock_hz = number * megahertz;
  if (functions_->temperature(*device, gpu_sensor, &number) == success) state.celsius = number;
  if (functions_->power(*device, &number) == success) state.watts = number / milliwatts;
  return state;
}

std::uint64_t Nvml::throttle_reasons(const std::string& pci) const {
  const auto device = functions_->device(pci);
  unsigned long long reasons = 0;
  if (!device || functions_->throttle_reasons(*device, &reasons) != success) return 0;
  return reasons;
}

}  // namespace gradway::probe
