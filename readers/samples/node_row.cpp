// SPDX-License-Identifier: Apache-2.0
#include "readers/samples/node_row.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "readers/samples/json_row.hpp"
#include "readers/samples/samples.hpp"

namespace gradway {
namespace {

using Json = nlohmann::json;

constexpr int most_gpus_of_a_node = 1024;
constexpr int most_nodes = 65536;
constexpr double most_amount = 9e15;  // Beyond, a double is not exact.
// Texts in NCCL's topology: NCCL 2.30.7, src/graph/xml.cc and topo.h.
constexpr std::string_view arm = "arch=\"arm64\"";
constexpr std::string_view nvswitch_class = "tclass=\"0x068000\"";

/// The keys of a map inside a row. Values that are null or missing were unknown to the probe.
class NodeFacts {
 public:
  /// @param name of the map in messages. @param key of the row that contains it; null: the row itself. All
  /// arguments must outlive this.
  NodeFacts(const JsonRow& row, const char* key, std::string name, const Json& map)
      : row_{row}, key_{key}, name_{std::move(name)}, map_{map} {
    if (!map.is_object()) fail(nullptr, fmt::format("{} must be a map of keys and values", name_));
  }

  std::optional<std::string> text(const char* key) const {
    const auto* value = find(key);
    if (value == nullptr) return std::nullopt;
    if (!value->is_string()) fail(key, fmt::format("'{}' of {} must be a text", key, name_));
    return value->get<std::string>();
  }

  std::optional<double> number(const char* key, double least, double most, bool is_whole = true) const {
    const auto* value = find(key);
    if (value == nullptr) return std::nullopt;
    const auto read = value->is_number() ? value->get<double>() : std::nan("");
    if (std::isnan(read) || read < least || read > most || (is_whole && read != std::floor(read))) {
      fail(key, fmt::format("'{}' of {} must be a {} from {} to {}, not {}", key, name_,
                            is_whole ? "whole number" : "number", least, most, value->dump()));
    }
    return read;
  }

  std::optional<int> whole(const char* key, int least, int most) const {
    const auto read = number(key, least, most);
    return read ? std::optional{static_cast<int>(*read)} : std::nullopt;
  }

  const Json* find(const char* key) const {
    const auto entry = map_.find(key);
    return entry == map_.end() || entry->is_null() ? nullptr : &*entry;
  }

  [[noreturn]] void fail(const char* key, std::string message) const {
    row_.fail(key_ == nullptr ? key : key_, std::move(message),
              "keep the row as written by the probe: unknown values are null");
  }

 private:
  const JsonRow& row_;
  const char* key_;
  std::string name_;
  const Json& map_;
};

/// Reads "8.9", 8.9 or 89.
std::optional<int> read_capability(const NodeFacts& gpu) {
  const auto* value = gpu.find("compute_capability");
  if (value == nullptr) return std::nullopt;
  double read = 0;
  if (value->is_string()) {
    const auto& text = value->get_ref<const std::string&>();
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), read);
    if (error != std::errc{} || end != text.data() + text.size()) read = 0;
  } else {
    read = gpu.number("compute_capability", 1, 999, false).value_or(0);
  }
  const auto capability = static_cast<int>(std::lround(read < 20 ? read * 10 : read));
  if (capability < 10 || capability > 999)
    gpu.fail("compute_capability",
             fmt::format("'compute_capability' must be a version such as \"8.9\", not {}", value->dump()));
  return capability;
}

NodeGpu read_gpu(const NodeFacts& gpu) {
  NodeGpu read;
  const auto name = gpu.text("name");
  if (!name || name->empty()) gpu.fail("name", "a GPU of the node has no name");
  read.name = *name;
  if (const auto memory = gpu.number("memory_bytes", 1, most_amount)) read.memory = Bytes{*memory};
  read.multiprocessors = gpu.whole("multiprocessors", 1, 4096);
  read.compute_capability = read_capability(gpu);
  read.memory_clock = gpu.number("memory_clock_hz", 0, 1e12, false);
  read.memory_bus = gpu.whole("memory_bus_bits", 0, 1 << 20);
  read.nvlinks = gpu.whole("nvlinks", 0, 1024);
  if (const auto rate = gpu.number("nvlink_bytes_per_second", 0, 1e16, false); rate && *rate > 0)
    read.nvlink_rate = BytesPerSecond{*rate};
  read.numa_node = gpu.whole("numa_node", -1, 4096);
  if (read.numa_node == -1) read.numa_node.reset();
  return read;
}

/// Reads `modelid="207"` in NCCL's topology.
std::optional<int> cpu_model(std::string_view topology) {
  constexpr std::string_view key = "modelid=\"";
  const auto start = topology.find(key);
  if (start == std::string_view::npos) return std::nullopt;
  int model = -1;
  std::from_chars(topology.data() + start + key.size(), topology.data() + topology.size(), model);
  return model < 0 ? std::nullopt : std::optional{model};
}

}  // namespace

bool NodeRow::is_of_same_node(const NodeRow& node) const {
  return gpus == node.gpus && nodes == node.nodes && matrix == node.matrix && cpu == node.cpu &&
         cpu_vendor == node.cpu_vendor && names_nvswitch == node.names_nvswitch && torch == node.torch;
}

std::string source_text(const NodeRow& node) {
  std::vector<std::string> facts;
  if (!node.gpus.empty()) facts.push_back(fmt::format("{} x {}", node.gpus.size(), node.gpus.front().name));
  if (!node.cpu.empty()) facts.push_back(node.cpu);
  if (!node.driver.empty()) facts.push_back("driver " + node.driver);
  if (!node.nccl.empty()) facts.push_back("NCCL " + node.nccl);
  const bool is_of_torch = !node.torch.empty();
  if (is_of_torch) {
    facts.push_back("PyTorch " + node.torch);
    if (!node.cuda.empty()) facts.push_back("CUDA " + node.cuda);
    if (!node.cudnn.empty()) facts.push_back("cuDNN " + node.cudnn);
  }
  const auto program = is_of_torch ? "measure_kernels.py" : "gradway-probe";
  const auto colon = facts.empty() ? "" : ": ";
  return fmt::format("{}{}{}{}{}{}", program, node.probe.empty() ? "" : " ", node.probe,
                     node.date.empty() ? "" : ", " + node.date, colon, fmt::join(facts, ", "));
}

void add_node_row(const JsonRow& row, Samples& samples) {
  NodeRow node;
  node.where = row.where();
  node.matrix_where = row.where("topology_matrix");
  const NodeFacts facts{row, nullptr, "the node", row.json()};
  node.probe = facts.text("probe").value_or("");
  node.date = facts.text("date").value_or("");
  node.driver = facts.text("driver").value_or("");
  if (const auto* nccl = facts.find("nccl"))
    node.nccl = nccl->is_string() ? nccl->get<std::string>() : nccl->dump();
  node.torch = facts.text("torch").value_or("");
  node.cuda = facts.text("cuda_runtime").value_or("");
  node.cudnn = facts.text("cudnn").value_or("");
  node.matrix = facts.text("topology_matrix");
  node.nodes = facts.whole("nodes", 1, most_nodes).value_or(1);
  if (const auto* cpu = facts.find("cpu")) {
    const NodeFacts of_cpu{row, "cpu", "the CPU", *cpu};
    node.cpu = of_cpu.text("name").value_or("");
    node.cpu_vendor = of_cpu.text("vendor").value_or("");
  }
  if (const auto* environment = facts.find("environment")) {
    const NodeFacts variables{row, "environment", "the environment", *environment};
    node.nvls_was_off = variables.text("NCCL_NVLS_ENABLE") == "0";
  }
  const auto topology = facts.text("nccl_topology").value_or("");
  node.names_nvswitch = topology.find(nvswitch_class) != std::string::npos;
  node.cpu_model = cpu_model(topology);
  if (node.cpu_vendor.empty() && topology.find(arm) != std::string::npos) node.cpu_vendor = "ARM";
  if (const auto* gpus = facts.find("gpus")) {
    if (!gpus->is_array() || gpus->size() > most_gpus_of_a_node)
      row.fail("gpus",
               fmt::format("'gpus' of the node must be a list of at most {} GPUs", most_gpus_of_a_node), "");
    for (const auto& gpu : *gpus)
      node.gpus.push_back(read_gpu({row, "gpus", fmt::format("GPU {}", node.gpus.size()), gpu}));
  }
  const auto is_same = [&](const NodeRow& known_node) { return node.is_of_same_node(known_node); };
  if (std::ranges::any_of(samples.nodes, is_same)) return;
  samples.nodes.push_back(std::move(node));
}

}  // namespace gradway
