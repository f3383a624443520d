// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <functional>
#include <limits>

#include "readers/chakra/chakra.hpp"
#include "readers/chakra/wire.hpp"
#include "sim/base/problem.hpp"
#include "tests/readers/trace_builder.hpp"

using namespace gradway;
using namespace gradway::testing;
using namespace std::string_literals;
using Catch::Matchers::Contains;

namespace {

/// A step of two products forward, two backward, an all-reduce of each gradient, and SGD.
std::vector<ChakraNode> small_trace() {
  using enum ChakraType;
  const auto kernel = [](std::uint64_t id, const std::string& name, std::vector<std::uint64_t> after,
                         std::uint64_t micros) {
    return ChakraNode{.id = id,
                      .name = name,
                      .type = compute,
                      .data_deps = std::move(after),
                      .duration_micros = micros,
                      .attributes = {{"is_cpu_op", false}, {"num_ops", std::int64_t{1000}}}};
  };
  const auto reduce = [](std::uint64_t id, std::uint64_t after, std::int64_t bytes) {
    return ChakraNode{
        .id = id,
        .name = "nccl:all_reduce",
        .type = collective,
        .ctrl_deps = {after},
        .attributes = {{"is_cpu_op", false}, {"comm_type", std::int64_t{0}}, {"comm_size", bytes}}};
  };
  return {kernel(1, "forward gemm", {}, 100),           kernel(2, "forward gemm", {1}, 200),
          kernel(3, "MmBackward0 gemm", {2}, 300),      reduce(4, 3, 4096),
          kernel(5, "MmBackward0 gemm", {3}, 400),      reduce(6, 5, 1024),
          kernel(7, "SGD.step elementwise", {4, 6}, 50)};
}

ImportedProfile import_nodes(const std::vector<ChakraNode>& nodes, ImportOptions options = {}) {
  options.known_gpus = {"h200", "l40s"};
  if (!options.gpu) options.gpu = "l40s";
  if (!options.batch) options.batch = 8;
  return import_chakra(nodes, "rank.0.et", options);
}

template <class Work>
std::string message_of(const Work& work) {
  try {
    work();
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

std::string refusal_of(const std::function<void(std::vector<ChakraNode>&)>& edit) {
  auto nodes = small_trace();
  edit(nodes);
  return message_of([&] { static_cast<void>(import_nodes(nodes)); });
}

}  // namespace

TEST_CASE("a trace of Chakra is read as it was written", "[import][chakra]") {
  auto nodes = small_trace();
  nodes[0].start_micros = std::numeric_limits<std::uint64_t>::max();
  nodes[1].attributes = {{"d", -1.5e-300},
                         {"i", std::int32_t{-7}},
                         {"l", std::int64_t{-1} << 62},
                         {"u", std::numeric_limits<std::uint64_t>::max()},
                         {"b", true},
                         {"s", ""s}};
  CHECK(chakra_nodes(chakra_bytes(nodes), "t.et") == nodes);
}

// Written by hand from the rules of Protocol Buffers: the tag is the field's number times 8 and its type, 2
// for bytes and 0 for numbers; a number has seven bits a byte, the lowest first.
TEST_CASE("a trace of Chakra has the bytes of Protocol Buffers", "[import][chakra]") {
  const ChakraNode node{.id = 300,
                        .name = "a",
                        .type = ChakraType::collective,
                        .data_deps = {1, 128},
                        .duration_micros = 5,
                        .attributes = {{"n", std::int64_t{-1}}, {"b", true}}};
  const auto metadata =
      "\x07\x0a\x05"
      "0.0.4"s;
  const auto message = "\x08\xac\x02"s +
                       "\x12\x01"
                       "a"s +
                       "\x18\x07"s + "\x2a\x03\x01\x80\x01"s + "\x38\x05"s +
                       "\x52\x0e\x0a\x01n\x48\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"s +
                       "\x52\x06\x0a\x01"
                       "b\xd8\x01\x01"s;
  CHECK(chakra_bytes(std::vector{node}) == metadata + static_cast<char>(message.size()) + message);
  // Dependencies may be unpacked, and unknown fields are skipped.
  const auto other = "\x08\x03\x28\x01\x28\x80\x01\x7d\x00\x00\x00\x00"s;
  const auto read = chakra_nodes(metadata + static_cast<char>(other.size()) + other, "t.et");
  REQUIRE(read.size() == 1);
  CHECK(read[0].id == 3);
  CHECK(read[0].data_deps == std::vector<std::uint64_t>{1, 128});
}

TEST_CASE("a trace of Chakra may be its JSON", "[import][chakra]") {
  const auto nodes = chakra_nodes(R"({ "version": "0.0.4" }
{
  "id": "2",
  "name": "x",
  "type": "COMM_COLL_NODE",
  "ctrlDeps": ["0"],
  "dataDeps": ["1", "18446744073709551615"],
  "durationMicros": "7",
  "attr": [{"name": "is_cpu_op", "boolVal": false}, {"name": "comm_size", "int64Val": "4096"},
           {"name": "sizes", "int64List": {"values": ["1"]}}]
}{"type": 4})",
                                  "t.json");
  REQUIRE(nodes.size() == 2);
  CHECK(nodes[0] == ChakraNode{.id = 2,
                               .name = "x",
                               .type = ChakraType::collective,
                               .ctrl_deps = {0},
                               .data_deps = {1, std::numeric_limits<std::uint64_t>::max()},
                               .duration_micros = 7,
                               .attributes = {{"is_cpu_op", false}, {"comm_size", std::int64_t{4096}}}});
  CHECK(nodes[1].type == ChakraType::compute);
  for (const auto* damaged :
       {R"({"version": "1"} {"id": "x"})", R"({"version": "1"} {"id": [1]})", R"({"id": 1, "name")",
        R"({"id": "1"} 7)", R"({"id": 1, "attr": [{"name": "n", "int64Val": "x"}]})"})
    CHECK_THAT(message_of([&] { static_cast<void>(chakra_nodes(damaged, "t.json")); }),
               Catch::StartsWith("t.json: error: ") && Contains("expected a Chakra execution trace"));
}

TEST_CASE("a trace of Chakra that is cut off anywhere is refused, or has whole nodes", "[import][chakra]") {
  const auto nodes = small_trace();
  const auto whole = chakra_bytes(nodes);
  std::size_t read = 0;
  for (std::size_t length = 0; length < whole.size(); ++length) {
    const auto message = message_of([&] {
      const auto some = chakra_nodes(whole.substr(0, length), "t.et");
      ++read;
      CHECK(std::vector(nodes.begin(), nodes.begin() + static_cast<std::ptrdiff_t>(some.size())) == some);
    });
    if (!message.empty()) CHECK_THAT(message, Contains("is truncated") || Contains("the trace has no nodes"));
  }
  CHECK(read == nodes.size() - 1);
  CHECK_THAT(message_of([] { static_cast<void>(chakra_nodes("some text that is no trace", "t.et")); }),
             Contains("t.et: error: the record at byte 0 "));
}

TEST_CASE("the work of a rank becomes a profile", "[import][chakra]") {
  const auto imported = import_nodes(small_trace());
  const auto& profile = imported.profile;
  CHECK(imported.notes.source == "Chakra execution trace rank.0.et, 1 step");
  REQUIRE(profile.launches.size() == 5);
  using enum ProfiledPhase;
  const std::vector phases{forward, forward, backward, backward, optimizer};
  const std::vector micros{100.0, 200.0, 300.0, 400.0, 50.0};
  for (std::size_t i = 0; i < phases.size(); ++i) {
    CAPTURE(i);
    CHECK(profile.launches[i].phase == phases[i]);
    CHECK(profile.launches[i].gpu.value() == Approx(micros[i] * 1e-6).epsilon(1e-12));
    CHECK(profile.launches[i].kind == (i < 4 ? KernelClass::matrix : KernelClass::memory));
    CHECK(profile.launches[i].flops == Flops{1000});
  }
  REQUIRE(profile.gradients.size() == 2);
  CHECK(profile.gradients[0].shape == std::vector<std::int64_t>{1024});
  CHECK(profile.gradients[0].after == 3);
  CHECK(profile.gradients[1].shape == std::vector<std::int64_t>{256});
  CHECK(profile.gradients[1].after == 4);
  CHECK(profile.traced_step.value() == Approx(1.05e-3));
}

TEST_CASE("orders after nodes that are not in the trace are ignored", "[import][chakra]") {
  auto nodes = small_trace();
  nodes[6].ctrl_deps.push_back(99);
  const auto imported = import_nodes(nodes);
  CHECK(imported.profile.launches.size() == 5);
  CHECK(imported.warnings.back() == "control dependencies on nodes that are not in the trace are ignored: 1");
}

TEST_CASE("traces of other programs in JSON are named", "[import][chakra]") {
  const auto message = [](const std::string& json) {
    return message_of([&] { static_cast<void>(chakra_nodes(json, "t.json")); });
  };
  CHECK_THAT(message(R"({"schema": "1.0.1", "pid": 1, "nodes": [{"id": 1}]})"),
             Contains("this is JSON of PyTorch's ExecutionTraceObserver, which gradway does not read"));
  CHECK_THAT(message(R"({"workload_graph": [{"Id": 1}]})"), Contains("this is JSON of Chakra's feeder"));
}

TEST_CASE("a trace of Chakra that is not a step of data-parallel training is refused", "[import][chakra]") {
  const std::string remedy = "\n  hint: record a step of data-parallel training on one rank\n";
  CHECK(refusal_of([](auto& nodes) { nodes[6].data_deps.push_back(99); }) ==
        "rank.0.et: error: node 7 depends on node 99, which is not in the trace\n  hint: check whether the "
        "trace is truncated\n");
  CHECK(refusal_of([](auto& nodes) { nodes[0].data_deps.push_back(7); }) ==
        "rank.0.et: error: the dependencies of its nodes form a cycle" + remedy);
  CHECK(refusal_of([](auto& nodes) { nodes[1].id = 1; }) ==
        "rank.0.et: error: two nodes have the id 1" + remedy);
  CHECK(refusal_of([](auto& nodes) { nodes[3].type = ChakraType::send; }) ==
        "rank.0.et: error: node 4 ('nccl:all_reduce') is a send or receive between ranks" + remedy);
  CHECK(refusal_of([](auto& nodes) { nodes[3].attributes[1].value = std::int64_t{2}; }) ==
        "rank.0.et: error: node 4 ('nccl:all_reduce') is neither an all-reduce nor a reduce-scatter" +
            remedy);
  CHECK(refusal_of([](auto& nodes) { nodes[3].attributes[2].value = std::int64_t{0}; }) ==
        "rank.0.et: error: node 4 ('nccl:all_reduce') has no valid 'comm_size'" + remedy);
  CHECK(refusal_of([](auto& nodes) { nodes[3].attributes[2].value = std::int64_t{4097}; }) ==
        "rank.0.et: error: the 'comm_size' of node 4 ('nccl:all_reduce') is 4097: expected a multiple of 2 "
        "or 4 bytes, the size of a gradient's element" +
            remedy);
  CHECK(refusal_of([](auto& nodes) {
          for (auto& node : nodes) node.name = "kernel";
        }) == "rank.0.et: error: node 4 ('kernel') reduces something outside of the backward pass" + remedy);
  CHECK(refusal_of([](auto& nodes) { nodes[3].type = nodes[5].type = ChakraType::metadata; }) ==
        "rank.0.et: error: the trace has no reduction in the backward pass" + remedy);
  CHECK(refusal_of([](auto& nodes) {
          for (auto& node : nodes) node.attributes.clear(), node.type = ChakraType::compute;
        }) ==
        "rank.0.et: error: the trace has no compute node on a GPU (COMP_NODE with is_cpu_op false)" + remedy);
  ImportOptions options;
  options.known_gpus = {"l40s"};
  CHECK_THAT(message_of([&] { static_cast<void>(import_chakra(small_trace(), "rank.0.et", options)); }),
             Contains("--gpu"));
  options.gpu = "l40s";
  CHECK(message_of([&] { static_cast<void>(import_chakra(small_trace(), "rank.0.et", options)); }) ==
        "rank.0.et: error: the trace does not contain the batch size\n  hint: give it with --batch N\n");
}

TEST_CASE("a trace of Chakra in JSON is bounded in depth and in values", "[import][chakra]") {
  const auto message = [](const std::string& content) -> std::string {
    try {
      static_cast<void>(chakra_nodes(content, "x.json"));
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "";
  };
  CHECK_THAT(message("{\"a\":" + std::string(100'000, '[')),
             Contains("object 1 is nested deeper than 32 levels"));
  std::string values = "{\"a\":[0";
  for (int i = 0; i < 1'000'001; ++i) values += ",0";
  CHECK_THAT(message(values + "]}"), Contains("object 1 has more than 1000000 values"));
}
