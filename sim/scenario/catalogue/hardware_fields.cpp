// SPDX-License-Identifier: Apache-2.0
// The keys of GPUs, platforms and prices.
#include "sim/platform/networks.hpp"
#include "sim/scenario/catalogue/catalogue_fields.hpp"
#include "sim/scenario/catalogue/catalogue_values.hpp"
#include "sim/scenario/field_rows.hpp"

namespace gradway {
namespace {

using namespace catalogue;

constexpr std::array<std::string_view, 2> collective_rule_words{"nccl", "ideal"};
constexpr std::array<std::string_view, 3> cpu_vendor_words{"intel", "amd", "arm"};
constexpr value::Whole link_number{1, 1024};

std::span<const std::string_view> network_words() {
  static const auto words = [] {
    std::vector<std::string_view> names;
    for (const auto& network : networks()) names.push_back(network.name);
    return names;
  }();
  return words;
}

/// The keys of a network with leaf switches.
FieldTable leaf_rows(std::string_view per_leaf) {
  return {custom(per_leaf, value::Whole{1, most_nodes}, "per leaf switch"),
          custom("spines", value::Whole{1, most_spines}, "spine switches"),
          custom("uplink_bandwidth", bandwidth, "from a leaf to a spine, per direction")};
}

}  // namespace

FieldTable make_fields(std::type_identity<GpuPower>) {
  return {required(field("limit", &GpuPower::limit, power, "at which clocks are lowered")),
          required(field("idle", &GpuPower::idle, power, "while it waits")),
          required(field("communication", &GpuPower::communication, power, "while only a collective runs")),
          required(field("kernel", &GpuPower::kernel, power, "any kernel, without its arithmetic")),
          required(field("tensor_cores", &GpuPower::tensor_cores, power, "in addition, at their peak rate")),
          required(field("fp32_units", &GpuPower::fp32_units, power, "in addition, at their peak rate"))};
}

FieldTable make_fields(std::type_identity<Gpu>) {
  return {custom("source", text, a_source, {.is_required = true}),
          custom("ideal", boolean, "kernels take no time; it has no other keys", {.default_text = "false"}),
          field("compute_capability", &Gpu::compute_capability, value::compute_capability, "of NVIDIA's"),
          field("architecture", &Gpu::architecture, value::architecture, "of AMD's, as rocminfo prints it"),
          field("multiprocessors", &Gpu::multiprocessors, value::Whole{1, 4096}, "default: unknown"),
          required(field("memory", &Gpu::memory, size, "as the driver reports it")),
          required(field("memory_bandwidth", &Gpu::memory_bandwidth, bandwidth, "of the datasheet")),
          custom("peak", value::Map{}, "dense rate of each number format", {.is_required = true}),
          custom("matrix_efficiency", value::Map{}, "share of the peak that products reach",
                 {.is_required = true}),
          required(field("memory_efficiency", &Gpu::memory_efficiency, value::efficiency, "of copies")),
          required(field("widen_efficiency", &Gpu::widen_efficiency, value::efficiency, "of casts to fp32")),
          required(field("kernel_latency", &Gpu::kernel_latency, latency_or_none, "shortest kernel")),
          required(field("launch_cost", &Gpu::launch_cost, latency_or_none, "CPU time of a launch")),
          field("attention_efficiency", &Gpu::attention_efficiency, value::efficiency, "share of the peak"),
          field("moved_convolutions", &Gpu::convolution_scale, value::efficiency,
                "their duration here over that extrapolated from another GPU"),
          field("jpeg_decoder", &Gpu::jpeg_decoder, value::Real{1e6, 1e13}, "pixels per second"),
          custom("kernel_times", name, "calibration with times of kernels on this GPU"),
          custom("kernel_times_like", name, "GPU whose times are scaled to this one"),
          group("power", &Gpu::power, "power of kinds of work")};
}

FieldTable make_fields(std::type_identity<SocketDescription>) {
  using Socket = SocketDescription;
  return {custom("name", name, "name of the socket", {.is_required = true}),
          required(field("memory_bandwidth", &Socket::memory_bandwidth, bandwidth, "of its memory"))};
}

FieldTable make_fields(std::type_identity<LinkDescription>) {
  return {custom("from", name, "device or devices, such as gpu[0-7]", {.is_required = true}),
          custom("to", name, "device or devices", {.is_required = true}),
          custom("kind", value::Words{"a link kind", link_words}, "kind of link", {.is_required = true}),
          custom("bandwidth", bandwidth, "in each direction"),
          custom("bandwidth_forward", bandwidth, "from `from` to `to`"),
          custom("bandwidth_backward", bandwidth, "from `to` to `from`"),
          field("latency", &LinkDescription::latency, latency_or_none, "of the link"),
          custom("count", link_number, "nvlink, xgmi: bonded links", {.default_text = "1"})};
}

FieldTable make_fields(std::type_identity<NodeDescription>) {
  using Node = NodeDescription;
  const auto names = [](std::string_view key, std::string_view help) {
    return custom(key, value::Names{}, help);
  };
  return {required(field("gpus", &Node::gpus, value::Whole{1, most_gpus_of_a_node}, "gpu0, gpu1, ...")),
          group("sockets", &Node::sockets, "CPU sockets"),
          names("root_complexes", "names, such as rc[0-3]"),
          names("pcie_switches", "names, such as sw[0-3]"),
          names("nvswitches", "names, such as nvswitch"),
          names("nics", "names, such as nic[0-7]"),
          group("links", &Node::links, "links between these parts")};
}

FieldTable make_fields(std::type_identity<NvlinkDomainDescription>) {
  using Domain = NvlinkDomainDescription;
  return {required(field("nodes", &Domain::nodes, value::Whole{1, most_nodes}, "nodes per domain")),
          required(field("bandwidth", &Domain::bandwidth, bandwidth, "from a GPU to the switches")),
          field("count", &Domain::count, link_number, "bonded links"),
          field("latency", &Domain::latency, latency_or_none, "of each link")};
}

FieldTable make_fields(std::type_identity<Network>) {
  return part(&Network::conditions);
}

FieldTable make_fields(std::type_identity<FabricDescription>) {
  using Fabric = FabricDescription;
  return joined(
      {{custom("kind", value::Words{"a fabric kind", fabric_words}, "wiring", {.is_required = true}),
        custom("network", value::Words{"a network kind", network_words()}, "protocol of the NICs",
               {.default_text = "wire"}),
        custom("efficiency", value::efficiency, "payload's share of the wire; default: the network's"),
        custom("gpudirect", boolean, "NICs access GPU memory; default: the network's"),
        custom("message_latency", latency_or_none, "beyond NCCL's figures; default: the network's"),
        custom("stream_bandwidth", bandwidth, "largest rate of one connection"),
        custom("streams", value::Whole{1, 64}, "connections per channel", {.default_text = "1"}),
        required(field("bandwidth", &Fabric::bandwidth, bandwidth, "of a NIC's wire, per direction")),
        required(field("latency", &Fabric::latency, latency_or_none, "of each link")),
        custom("nics_per_leaf", value::Whole{1, most_nics}, "of a node, of rails", {.default_text = "1"})},
       leaf_rows("nodes_per_leaf"),
       part(&Fabric::network)});
}

FieldTable make_fields(std::type_identity<GeneratedPlatform>) {
  using Generated = GeneratedPlatform;
  return joined({{custom("topology", value::Words{"a topology", topology_words}, "", {.is_required = true}),
                  required(field("bandwidth", &Generated::bandwidth, bandwidth, "of a link")),
                  required(field("latency", &Generated::latency, latency_or_none, "of a link"))},
                 leaf_rows("gpus_per_leaf")});
}

FieldTable make_fields(std::type_identity<ExchangeRate>) {
  return {custom("rate", value::Described{"such as 1.17 USD/EUR"}, "of a currency", {.is_required = true}),
          required(field("date", &ExchangeRate::date, value::date, "day of the rate")),
          field("source", &ExchangeRate::source, text, a_source)};
}

FieldTable make_fields(std::type_identity<Price>) {
  constexpr value::Described amount{"such as 98.32 USD/h"};
  return {custom("per_node_hour", amount, "price of a node; use this key or per_gpu_hour"),
          custom("per_gpu_hour", amount, "price of a GPU that can be rented alone"),
          required(field("region", &Price::region, text, "where it applies")),
          required(field("date", &Price::date, value::date, "day from which it applies")),
          field("source", &Price::source, text, a_source),
          field("terms", &Price::terms, value::Words{"payment terms", terms_words}, "how it is paid")};
}

FieldTable price_list_fields() {
  return {custom("source", text, a_source, {.is_required = true}),
          custom_group<Price>("prices", value::Maps{}, "prices of platforms", {.is_required = true}),
          custom("prices.platform", name, "platform of the price", {.is_required = true}),
          custom_group<ExchangeRate>("rates", value::Maps{}, "exchange rates of these prices")};
}

FieldTable make_fields(std::type_identity<PlatformDescription>) {
  using File = PlatformDescription;
  return {
      custom("source", text, a_source, {.is_required = true}),
      custom("gpu", name, "GPU: a file of platforms/gpus", {.is_required = true}),
      custom("calibration", name, "calibration: a folder of calibration/results"),
      field("collectives", &File::collectives, value::Words{"a collective scaling", collective_rule_words},
            "ideal: rings at the full rate of their links"),
      field("cores", &File::cores, value::Whole{1, 100'000}, "of a node, for loader workers"),
      field("cpu_vendor", &File::cpu_vendor, value::Words{"a CPU vendor", cpu_vendor_words},
            "by whose rules NCCL counts"),
      field("nvls", &File::nvls, boolean, "reductions in NVSwitches, where there are some"),
      field("pageable_copy", &File::pageable_copy_rate, bandwidth, "of copies from pageable memory"),
      field("eager_operation", &File::eager_operation, latency, "CPU time of an eager operation"),
      field("gpu_power_limit", &File::gpu_power_limit, power,
            "at which clocks are lowered; default: the GPU's"),
      custom("price", value::Described{"a price, or a list of prices"}, "of a node or a GPU"),
      custom_group<ExchangeRate>("rates", value::Maps{}, "exchange rates of these prices"),
      custom_group<NodeDescription>("node", value::Map{}, "parts of a node; use this key or generate"),
      custom("nodes", value::WholeOrWord{"as_needed", {1, most_nodes}}, "", {.default_text = "1"}),
      custom_group<NvlinkDomainDescription>("nvlink_domain", value::Map{},
                                            "nodes whose GPUs share NVSwitches"),
      custom_group<FabricDescription>("fabric", value::Map{}, "network between nodes"),
      custom_group<GeneratedPlatform>("generate", value::Map{}, "as many ideal GPUs as the job has ranks")};
}

}  // namespace gradway
