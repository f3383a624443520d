// SPDX-License-Identifier: Apache-2.0
#include "readers/chakra/chakra.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <queue>
#include <unordered_map>

#include <fmt/format.h>

#include "readers/kineto/work/launch_work.hpp"
#include "readers/topology/gpu_name.hpp"
#include "sim/base/printable.hpp"
#include "sim/files/text_file.hpp"

namespace gradway {
namespace {

constexpr auto record_a_step = "record a step of data-parallel training on one rank";

class Importer {
 public:
  Importer(std::span<const ChakraNode> nodes, const std::string& shown) : nodes_{nodes} {
    file_.file = shown;
  }

  Profile profile(const ImportOptions& options) {
    Profile profile;
    profile.gpu = gpu_name("", options.gpu, options.known_gpus, file_, "the trace");
    if (!options.batch)
      refuse_at(file_, "the trace does not contain the batch size", "give it with --batch N");
    profile.batch = *options.batch;
    profile.precision = options.precision.value_or(Precision::fp32);
    profile.steps = 1;
    for (const auto* node : in_order()) add(*node, profile);
    check(profile);
    for (const auto& launch : profile.launches) profile.traced_step += launch.gpu;
    profile.step_time = options.step_time;
    return profile;
  }

  /// Control dependencies on nodes that are not in the trace.
  std::size_t dangling() const { return dangling_; }

 private:
  /// Nodes in topological order; nodes that are ready at the same time by start, then by id. Orders after
  /// nodes that are not in the trace are ignored, as Chakra's feeder does.
  std::vector<const ChakraNode*> in_order() {
    std::unordered_map<std::uint64_t, std::size_t> places;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (!places.emplace(nodes_[i].id, i).second)
        refuse_at(file_, fmt::format("two nodes have the id {}", nodes_[i].id), record_a_step);
    }
    std::vector<std::size_t> waits(nodes_.size(), 0);
    std::vector<std::vector<std::size_t>> leads_to(nodes_.size());
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      for (const auto* dependencies : {&nodes_[i].ctrl_deps, &nodes_[i].data_deps}) {
        for (const auto id : *dependencies) {
          const auto dependency = places.find(id);
          if (dependency == places.end() && dependencies == &nodes_[i].ctrl_deps) {
            ++dangling_;
            continue;
          }
          if (dependency == places.end())
            refuse_at(file_,
                      fmt::format("node {} depends on node {}, which is not in the trace", nodes_[i].id, id),
                      "check whether the trace is truncated");
          ++waits[i];
          leads_to[dependency->second].push_back(i);
        }
      }
    }
    const auto is_later = [&](std::size_t a, std::size_t b) {
      return std::pair{nodes_[a].start_micros, nodes_[a].id} >
             std::pair{nodes_[b].start_micros, nodes_[b].id};
    };
    std::priority_queue<std::size_t, std::vector<std::size_t>, decltype(is_later)> ready{is_later};
    for (std::size_t i = 0; i < nodes_.size(); ++i)
      if (waits[i] == 0) ready.push(i);
    std::vector<const ChakraNode*> order;
    while (!ready.empty()) {
      const auto next = ready.top();
      ready.pop();
      order.push_back(&nodes_[next]);
      for (const auto dependent : leads_to[next])
        if (--waits[dependent] == 0) ready.push(dependent);
    }
    if (order.size() < nodes_.size())
      refuse_at(file_, "the dependencies of its nodes form a cycle", record_a_step);
    return order;
  }

  void add(const ChakraNode& node, Profile& profile) {
    switch (node.type) {
      case ChakraType::compute:
        if (node.whole("is_cpu_op", 1) == 0) compute(node, profile);
        break;
      case ChakraType::mem_load:
      case ChakraType::mem_store:
        break;  // Copies belong to DDP and the loader, which gradway adds.
      case ChakraType::send:
      case ChakraType::receive:
        refuse_at(file_, fmt::format("node {} ('{}') is a send or receive between ranks", node.id, node.name),
                  record_a_step);
      case ChakraType::collective:
        collective(node, profile);
        break;
      default:
        break;
    }
  }

  void compute(const ChakraNode& node, Profile& profile) {
    const auto nanoseconds = nanoseconds_of(node);
    const auto phase = phase_of(node);
    constexpr double shortest = 1;  // Resolution of a profile.
    if (nanoseconds < shortest) return;
    Launch launch;
    launch.phase = phase;
    launch.gpu = Seconds{nanoseconds * 1e-9};
    launch.kind = class_of(node);
    launch.precision = profile.precision;
    launch.flops = Flops{static_cast<double>(node.whole("num_ops", 0))};
    launch.bytes = Bytes{static_cast<double>(node.whole("tensor_size", 0))};
    launch.grows = launch.phase != ProfiledPhase::optimizer;
    launch.name = short_name(node.name);
    profile.launches.push_back(std::move(launch));
  }

  double nanoseconds_of(const ChakraNode& node) const {
    constexpr double longest = 86'400e9;  // A day.
    const auto* exact = node.find(exact_duration);
    const auto* value = exact == nullptr ? nullptr : std::get_if<double>(exact);
    const double duration = value != nullptr ? *value : static_cast<double>(node.duration_micros) * 1e3;
    if (!(duration >= 0 && duration <= longest))
      refuse_at(file_, fmt::format("node {} ('{}') has no valid duration", node.id, node.name),
                record_a_step);
    return duration;
  }

  static KernelClass class_of(const ChakraNode& node) {
    const auto* attribute = node.find(kernel_class);
    const auto* word = attribute == nullptr ? nullptr : std::get_if<std::string>(attribute);
    if (word == nullptr) return gradway::class_of(TracedActivity::Kind::kernel, node.name);
    return *word == "attention" ? KernelClass::attention
           : *word == "memory"  ? KernelClass::memory
                                : KernelClass::matrix;
  }

  /// Phase from the node's attribute or name; else that of the previous node.
  ProfiledPhase phase_of(const ChakraNode& node) {
    std::string text = node.name;
    const auto* attribute = node.find(step_phase);
    if (const auto* word = attribute == nullptr ? nullptr : std::get_if<std::string>(attribute)) text = *word;
    const auto has = [&](std::string_view fragment) {
      return std::ranges::search(text, fragment, [](char a, char b) {
               return std::tolower(static_cast<unsigned char>(a)) == b;
             }).begin() != text.end();
    };
    if (has("optimizer") || has("adam") || has("sgd")) {
      phase_ = ProfiledPhase::optimizer;
    } else if (has("backward") || has("bwd") || has("communication")) {
      phase_ = ProfiledPhase::backward;
    } else if (has("forward") || has("fwd") || has("input")) {
      phase_ = ProfiledPhase::forward;
    }
    return phase_;
  }

  void collective(const ChakraNode& node, Profile& profile) {
    const auto type = static_cast<ChakraCollective>(node.whole("comm_type", 255));
    const auto bytes = node.whole("comm_size", 0);
    constexpr std::uint64_t most = std::uint64_t{1} << 50U;
    const auto in_pass = profile.launches.empty() ? ProfiledPhase::forward : profile.launches.back().phase;
    if (type == ChakraCollective::broadcast && in_pass == ProfiledPhase::forward) return;  // DDP's buffers.
    if (type != ChakraCollective::all_reduce && type != ChakraCollective::reduce_scatter)
      refuse_at(
          file_,
          fmt::format("node {} ('{}') is neither an all-reduce nor a reduce-scatter", node.id, node.name),
          record_a_step);
    if (in_pass != ProfiledPhase::backward)
      refuse_at(
          file_,
          fmt::format("node {} ('{}') reduces something outside of the backward pass", node.id, node.name),
          record_a_step);
    if (bytes == 0 || bytes > most)
      refuse_at(file_, fmt::format("node {} ('{}') has no valid 'comm_size'", node.id, node.name),
                record_a_step);
    if (bytes % 2 != 0)
      refuse_at(file_,
                fmt::format("the 'comm_size' of node {} ('{}') is {}: expected a multiple of 2 or 4 bytes, "
                            "the size of a gradient's element",
                            node.id, node.name, bytes),
                record_a_step);
    const int width = bytes % 4 == 0 ? 4 : 2;
    profile.gradients.push_back({.shape = {static_cast<std::int64_t>(bytes) / width},
                                 .element_bytes = width,
                                 .after = profile.launches.size()});
  }

  void check(const Profile& profile) const {
    const auto has = [&](ProfiledPhase phase) {
      return std::ranges::find(profile.launches, phase, &Launch::phase) != profile.launches.end();
    };
    if (profile.launches.empty())
      refuse_at(file_, "the trace has no compute node on a GPU (COMP_NODE with is_cpu_op false)",
                record_a_step);
    if (!has(ProfiledPhase::forward) || !has(ProfiledPhase::backward))
      refuse_at(file_, "the names of the nodes do not show a forward and a backward pass",
                fmt::format("use such names, or give the nodes the attribute '{}'", step_phase));
    if (profile.gradients.empty())
      refuse_at(file_, "the trace has no reduction in the backward pass", record_a_step);
    constexpr std::size_t most_launches = 30'000;  // As many as fit into a file that gradway reads.
    if (profile.launches.size() > most_launches)
      refuse_at(file_,
                fmt::format("a step has {} launches, more than {}", profile.launches.size(), most_launches),
                record_a_step);
  }

  std::span<const ChakraNode> nodes_;
  Where file_;
  ProfiledPhase phase_ = ProfiledPhase::forward;
  std::size_t dangling_ = 0;
};

}  // namespace

ImportedProfile import_chakra(std::span<const ChakraNode> nodes, const std::string& shown,
                              const ImportOptions& options) {
  ImportedProfile result;
  Importer importer{nodes, shown};
  result.profile = importer.profile(options);
  result.steps_found = 1;
  result.notes.source = fmt::format("Chakra execution trace {}, 1 step",
                                    printable(std::filesystem::path{shown}.filename().string()));
  result.warnings = {
      "the trace contains neither the optimizer (the profile assumes sgd) nor what autograd keeps",
      "the CPU's launches are not in the trace and cost nothing"};
  if (importer.dangling() > 0)
    result.warnings.push_back(fmt::format(
        "control dependencies on nodes that are not in the trace are ignored: {}", importer.dangling()));
  return result;
}

}  // namespace gradway
