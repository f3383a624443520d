// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "readers/samples/read_samples.hpp"
#include "tests/samples/nodes.hpp"
#include "tests/support/config_files.hpp"

using namespace gradway;
using namespace gradway::test;

namespace {

std::string message(const std::string& content) {
  return message_of([&] { return read_samples({{"s.json", content}}); });
}

/// A node row whose only GPU has these keys.
std::string with_gpu(const std::string& keys) {
  return "[{\"kind\": \"node\", \"gpus\": [{" + keys + "}]}]";
}

}  // namespace

TEST_CASE("the row of the node is read by its keys, and unknown values are null", "[fit]") {
  const auto samples = read_samples({{"s.json", R"([{"kind": "node", "probe": "0.1", "gpus": [
      {"name": "NVIDIA H200", "memory_bytes": 151397597184, "multiprocessors": 132, "compute_capability": "9.0",
       "memory_clock_hz": 3.2e9, "memory_bus_bits": 6016, "nvlinks": 18, "nvlink_bytes_per_second": 25e9,
       "numa_node": 1, "pci": "0000:00:06.0"},
      {"name": "NVIDIA H200", "memory_bytes": null, "numa_node": -1, "compute_capability": 89}],
      "driver": null, "cpu": {"name": "A CPU", "vendor": "GenuineIntel"}, "nodes": 2, "topology_matrix": null,
      "nccl_topology": "<cpu modelid=\"207\"/><nvlink tclass=\"0x068000\"/>"}])"}});
  REQUIRE(samples.nodes.size() == 1);
  const auto& node = samples.nodes.front();
  CHECK(node.probe == "0.1");
  CHECK(node.driver.empty());
  CHECK(node.cpu_vendor == "GenuineIntel");
  CHECK(node.cpu_model == 207);
  CHECK(node.names_nvswitch);
  CHECK(node.nodes == 2);
  CHECK_FALSE(node.matrix);
  REQUIRE(node.gpus.size() == 2);
  CHECK(node.gpus[0].memory == 144384_MiB);
  CHECK(node.gpus[0].compute_capability == 90);
  CHECK(node.gpus[0].memory_bus == 6016);
  CHECK(node.gpus[0].nvlink_rate == 25_GBps);
  CHECK(node.gpus[0].numa_node == 1);
  CHECK_FALSE(node.gpus[1].memory);
  CHECK_FALSE(node.gpus[1].numa_node);
  CHECK(node.gpus[1].compute_capability == 89);
}

TEST_CASE("the vendor of an unnamed CPU is known from NCCL's topology", "[fit]") {
  const auto samples = read_samples({{"s.json", R"([{"kind": "node", "gpus": [{"name": "x"}],
      "cpu": {"name": null, "vendor": null}, "nccl_topology": "<cpu arch=\"arm64\"/>"}])"}});
  CHECK(samples.nodes.front().cpu_vendor == "ARM");
}

TEST_CASE("copies and patterns keep their source and destination", "[fit]") {
  const auto samples = read_samples({{"s.json", R"([
    {"kind": "d2d_peer", "gpus": [0, 3], "bytes": 4096, "seconds": 3e-6},
    {"kind": "pattern", "name": "x", "copies": [["host", 1], [0, "host"], [2, 3]], "bytes": 4096,
     "seconds": [1e-6, 2e-6, 3e-6]}])"}});
  CHECK(samples.copies[0].gpus == std::vector{0, 3});
  REQUIRE(samples.patterns[0].copies.size() == 3);
  CHECK(samples.patterns[0].copies[0].to == 1);
}

TEST_CASE("the same node twice is one", "[fit]") {
  const MadeUpNode node;
  CHECK(read_samples({{"s.json", samples_of(node, {node.row()})}}).nodes.size() == 1);
  CHECK(read_samples({{"s.json", samples_of(node, {MadeUpNode{.gpus = 2}.row()})}}).nodes.size() == 2);
}

TEST_CASE("an invalid row of the node is refused with its place", "[fit][errors]") {
  using Row = std::pair<std::string, std::string>;
  const std::string hint = "  hint: keep the row as written by the probe: unknown values are null\n";
  const auto [content, expected] = GENERATE_COPY(values<Row>({
      {R"([{"kind": "node", "gpus": 4}])",
       "s.json:1:27: error: 'gpus' of the node must be a list of at most 1024 GPUs\n"
       "    1 | [{\"kind\": \"node\", \"gpus\": 4}]\n"
       "      |                           ^\n"},
      {with_gpu(R"("nvlinks": 1)"),
       "s.json:1:27: error: a GPU of the node has no name\n"
       "    1 | [{\"kind\": \"node\", \"gpus\": [{\"nvlinks\": 1}]}]\n"
       "      |                           ^~~~~~~~~~~~~~~~\n" +
           hint},
      {with_gpu(R"("name": "x", "nvlinks": -1)"),
       "s.json:1:27: error: 'nvlinks' of GPU 0 must be a whole number from 0 to 1024, not -1\n"
       "    1 | [{\"kind\": \"node\", \"gpus\": [{\"name\": \"x\", \"nvlinks\": -1}]}]\n"
       "      |                           ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~\n" +
           hint},
      {with_gpu(R"("name": "x", "compute_capability": "new")"),
       "s.json:1:27: error: 'compute_capability' must be a version such as \"8.9\", not \"new\"\n"
       "    1 | [{\"kind\": \"node\", \"gpus\": [{\"name\": \"x\", \"compute_capability\": \"new\"}]}]\n"
       "      |                           ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~\n" +
           hint},
      {R"([{"kind": "node", "driver": 570}])",
       "s.json:1:29: error: 'driver' of the node must be a text\n"
       "    1 | [{\"kind\": \"node\", \"driver\": 570}]\n"
       "      |                             ^~~\n" +
           hint},
      {R"([{"kind": "d2d_peer", "gpus": ["a"], "bytes": 1, "seconds": 1}])",
       "s.json:1:31: error: 'gpus' must be a list of one or two GPU numbers, such as [0] or [0, 1]\n"
       "    1 | [{\"kind\": \"d2d_peer\", \"gpus\": [\"a\"], \"bytes\": 1, \"seconds\": 1}]\n"
       "      |                               ^~~~~\n"},
  }));
  CHECK(message(content) == expected);
}
