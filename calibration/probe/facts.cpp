// SPDX-License-Identifier: Apache-2.0
#include "calibration/probe/facts.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include "calibration/probe/libraries.hpp"
#include "calibration/probe/nccl_library.hpp"
#include "calibration/probe/nvml.hpp"

extern char** environ;

namespace gradway::probe {
namespace {

namespace files = std::filesystem;

/// The text; null if it is empty.
Row text_or_null(std::string text) {
  if (text.empty()) return nullptr;
  return text;
}

template <class T>
Row or_null(const std::optional<T>& value) {
  if (!value) return nullptr;
  return *value;
}

std::string content(const files::path& file) {
  std::ifstream stream{file, std::ios::binary};
  return {std::istreambuf_iterator<char>{stream}, {}};
}

std::string output_of(const char* command) {
  std::string text;
  auto* const pipe = popen(command, "r");
  if (pipe == nullptr) return text;
  std::array<char, 4096> block{};
  for (auto count = block.size(); count == block.size();) {
    count = fread(block.data(), 1, block.size(), pipe);
    text.append(block.data(), count);
  }
  pclose(pipe);
  return text;
}

int attribute(cudaDeviceAttr what, int gpu) {
  int value = 0;
  check(cudaDeviceGetAttribute(&value, what, gpu), "asking for an attribute of a GPU");
  return value;
}

Row gpu_facts(int gpu, const Nvml* nvml) {
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, gpu), "asking for the properties of a GPU");
  std::array<char, 32> place{};
  check(cudaDeviceGetPCIBusId(place.data(), place.size(), gpu), "asking for a GPU's place");
  std::string pci = place.data();
  const auto driver = nvml != nullptr ? nvml->facts(pci) : DriverFacts{};
  std::ranges::transform(pci, pci.begin(), [](unsigned char c) { return std::tolower(c); });
  const auto numa = content(files::path{"/sys/bus/pci/devices"} / pci / "numa_node");
  constexpr double kilohertz = 1e3;
  return {{"name", properties.name},
          {"memory_bytes", properties.totalGlobalMem},
          {"multiprocessors", properties.multiProcessorCount},
          {"compute_capability", fmt::format("{}.{}", properties.major, properties.minor)},
          {"clock_hz", kilohertz * attribute(cudaDevAttrClockRate, gpu)},
          {"memory_clock_hz", kilohertz * attribute(cudaDevAttrMemoryClockRate, gpu)},
          {"memory_bus_bits", attribute(cudaDevAttrGlobalMemoryBusWidth, gpu)},
          {"l2_bytes", properties.l2CacheSize},
          {"copy_engines", properties.asyncEngineCount},
          {"pci", pci},
          {"pcie_generation", or_null(driver.pcie_generation)},
          {"pcie_width", or_null(driver.pcie_width)},
          {"nvlinks", or_null(driver.nvlinks)},
          {"nvlink_bytes_per_second", driver.nvlink_rate ? Row(driver.nvlink_rate->value()) : Row(nullptr)},
          {"numa_node", numa.empty() ? -1 : std::atoi(numa.c_str())},
          {"power_limit_watts", or_null(driver.power_limit_watts)}};
}

/// The value of the first line `name : value` of /proc/cpuinfo, and the number of different values.
std::pair<std::string, int> processor_line(const std::string& text, std::string_view name) {
  std::string first;
  std::set<std::string> all;
  for (std::size_t begin = 0; begin < text.size();) {
    const auto end = std::min(text.find('\n', begin), text.size());
    const std::string_view line{text.data() + begin, end - begin};
    const auto colon = line.find(": ");
    if (line.starts_with(name) && colon != std::string_view::npos) {
      const std::string value{line.substr(colon + 2)};
      if (all.insert(value).second && first.empty()) first = value;
    }
    begin = end + 1;
  }
  return {first, static_cast<int>(all.size())};
}

Row processor_facts() {
  const auto text = content("/proc/cpuinfo");
  int nodes = 0;
  std::error_code error;
  for (const auto& entry : files::directory_iterator{"/sys/devices/system/node", error}) {
    const auto name = entry.path().filename().string();
    if (name.starts_with("node") && name.size() > 4 && std::isdigit(static_cast<unsigned char>(name[4])))
      ++nodes;
  }
  return {{"name", text_or_null(processor_line(text, "model name").first)},
          {"vendor", text_or_null(processor_line(text, "vendor_id").first)},
          {"sockets", std::max(1, processor_line(text, "physical id").second)},
          {"cores", sysconf(_SC_NPROCESSORS_ONLN)},
          {"numa_nodes", std::max(1, nodes)},
          {"memory_bytes",
           static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE))}};
}

Row nccl_environment() {
  Row all = Row::object();
  for (char** at = environ; *at != nullptr; ++at) {
    const std::string_view line = *at;
    const auto equals = line.find('=');
    if (line.starts_with("NCCL_") && equals != std::string_view::npos)
      all[std::string{line.substr(0, equals)}] = line.substr(equals + 1);
  }
  return all;
}

struct Dumps {
  std::string topology;
  std::string graph;
};

/// Makes NCCL dump its topology, by starting it over all GPUs in this process.
Dumps nccl_dumps(int gpus) {
  const auto folder = files::temp_directory_path() / fmt::format("gradway-probe-{}", getpid());
  files::create_directories(folder);
  const auto topology = folder / "topology.xml";
  const auto graph = folder / "graph.xml";
  setenv("NCCL_TOPO_DUMP_FILE", topology.c_str(), 1);
  setenv("NCCL_GRAPH_DUMP_FILE", graph.c_str(), 1);
  std::vector<ncclComm_t> communicators(static_cast<std::size_t>(gpus));
  check(nccl().init_all(communicators.data(), gpus, nullptr), "starting NCCL over all GPUs");
  for (auto* communicator : communicators) nccl().abort(communicator);
  Dumps dumps{content(topology), content(graph)};
  files::remove_all(folder);
  // These attributes identify one machine and say nothing about its kind.
  static const std::regex identity{R"re( (host_hash|guid)="[^"]*")re"};
  dumps.topology = std::regex_replace(dumps.topology, identity, "");
  return dumps;
}

/// The oldest driver for programs built with this version of CUDA. @source CUDA's release notes, 13.0
constexpr int oldest_driver = CUDART_VERSION >= 13000 ? 580 : 525;

std::string why_no_gpu(cudaError_t status) {
  const auto driver = cuda_of_driver();
  if (driver == 0) {
    return "no GPU: no NVIDIA driver was found (libcuda.so.1). Install one; in a container, pass the host's "
           "GPUs (docker: --gpus all, Apptainer: --nv)";
  }
  if (status == cudaErrorInsufficientDriver) {
    return fmt::format(
        "no usable GPU: the driver supports CUDA {}, but gradway-probe was built with CUDA {}. Update the "
        "driver to {} or "
        "later, or build gradway-probe with the driver's CUDA or an older one",
        cuda_version_text(driver), cuda_version_text(CUDART_VERSION), oldest_driver);
  }
  return fmt::format("no usable GPU: {}", cudaGetErrorString(status));
}

/// Version of a library; null without it.
Row version_or_null(std::string (*version)()) {
  try {
    return version();
  } catch (const Refusal&) {
    return nullptr;
  }
}

}  // namespace

void probe_facts(Context& context) {
  int gpus = 0;
  const auto status = cudaGetDeviceCount(&gpus);
  if (status != cudaSuccess) throw Failure{why_no_gpu(status)};
  if (gpus == 0) throw Failure{"CUDA finds no GPU: check CUDA_VISIBLE_DEVICES"};
  if (context.gpus > 0) gpus = std::min(gpus, context.gpus);
  int driver = 0;
  int runtime = 0;
  check(cudaDriverGetVersion(&driver), "asking for the driver's CUDA version");
  check(cudaRuntimeGetVersion(&runtime), "asking for the CUDA version");
  std::string why;
  const auto nvml = Nvml::load(why);
  const auto environment = nccl_environment();
  Row list = Row::array();
  for (int gpu = 0; gpu < gpus; ++gpu) list.push_back(gpu_facts(gpu, nvml.get()));
  Dumps dumps;
  try {
    dumps = nccl_dumps(gpus);
  } catch (const std::exception& error) {
    context.remark(fmt::format("NCCL's own topology is missing: {}", error.what()));
  }
  const auto now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  const Row row{{"kind", "node"},
                {"probe", GRADWAY_VERSION},
                {"date", fmt::format("{:%Y-%m-%d}", fmt::gmtime(now))},
                {"gpus", list},
                {"driver", nvml ? text_or_null(nvml->driver_version()) : Row(nullptr)},
                {"cuda_driver", cuda_version_text(driver)},
                {"cuda_runtime", cuda_version_text(runtime)},
                {"nccl", version_or_null(nccl_version)},
                {"cudnn", version_or_null(cudnn_version)},
                {"cpu", processor_facts()},
                {"nodes", context.nodes},
                {"ranks", context.nodes * gpus},
                {"environment", environment},
                {"topology_matrix", text_or_null(output_of("nvidia-smi topo -m 2>/dev/null"))},
                {"nccl_topology", text_or_null(dumps.topology)},
                {"nccl_graph", text_or_null(dumps.graph)}};
  context.emit(row);
}

}  // namespace gradway::probe
