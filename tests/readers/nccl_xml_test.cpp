// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <fmt/format.h>

#include "readers/topology/nccl_xml.hpp"
#include "tests/support/config_files.hpp"

using namespace gradway;
using namespace gradway::test;
using Catch::Matchers::Contains;

namespace {

NcclTopology topology(const std::string& text) {
  return std::get<NcclTopology>(read_nccl_xml({"t.xml", text}).content);
}

std::string message(const std::string& text) {
  return message_of([&] { return read_nccl_xml({"t.xml", text}); });
}

std::string on_cpu(const std::string& text) {
  return "<system version=\"1\">\n<cpu numaid=\"0\">\n" + text + "\n</cpu>\n</system>\n";
}

}  // namespace

TEST_CASE("a dump contains GPUs, NVLinks, NICs, speeds and the CPU", "[import]") {
  const auto read = topology(R"(<?xml version="1.0"?>
<!DOCTYPE system [ <!ENTITY a "b"> <!ENTITY c "&a;&a;"> ]>
<!-- a comment -->
<system version="1">
  <cpu numaid="1" host_hash="0x1" affinity="ff" arch="x86_64" vendor="GenuineIntel" familyid="6" modelid="143">
    <pci busid="0000:0A:00.0" class="0x060400" vendor="0x1000" device="0xc030" link_speed="32.0 GT/s PCIe" link_width="16">
      <pci busid="0000:0B:00.0" class="0x030200" vendor="0x10de" device="0x2335" link_speed="16 GT/s" link_width="8">
        <gpu dev="3" sm="90" rank="0" gdr="1">
          <nvlink target="0000:c4:00.0" count="18" tclass="0x068000"/>
          <nvlink target="0000:0C:00.0" count="2" tclass="0x030200"/>
          <c2c bw="400" count="1"/>
        </gpu>
      </pci>
      <pci busid="0000:0d:00.0" class="0x020700" link_speed="" link_width="255">
        <nic><net name="mlx5_0" dev="0" speed="400000" port="1"/><net name="mlx5_1" dev="1" speed="-1"/></nic>
      </pci>
      <pci busid="0000:0e:00.0" class="0x068000"/>
      <pci busid="0000:0f:00.0"/>
    </pci>
    <nic><net name="eth0" dev="2" speed="10000"/></nic>
    <dpu/>
  </cpu>
  <cpu numaid="-1" arch="arm64"/>
</system>)");
  CHECK(read.is_dump);
  CHECK(read.unknown == std::vector<std::string>{"dpu"});
  REQUIRE(read.cpus.size() == 2);
  const auto& cpu = read.cpus[0];
  CHECK(cpu.numa_node == 1);
  CHECK(cpu.vendor == "GenuineIntel");
  CHECK(cpu.model == 143);
  CHECK(cpu.nets.at(0).speed == 10000);
  CHECK_FALSE(read.cpus[1].numa_node);
  CHECK(read.cpus[1].vendor == "ARM");
  const auto& plx = cpu.devices.at(0);
  CHECK(plx.kind == NcclPci::Kind::bridge);
  CHECK(plx.transfers == 32);
  REQUIRE(plx.children.size() == 4);
  const auto& gpu = plx.children[0];
  CHECK(gpu.kind == NcclPci::Kind::gpu);
  CHECK(gpu.bus == "0000:0b:00.0");
  CHECK(gpu.device == 0x2335);
  CHECK(gpu.transfers == 16);
  CHECK(gpu.lanes == 8);
  CHECK(gpu.gpu.dev == 3);
  CHECK(gpu.gpu.sm == 90);
  CHECK(gpu.gpu.has_c2c);
  REQUIRE(gpu.gpu.nvlinks.size() == 2);
  CHECK(gpu.gpu.nvlinks[0].to == NcclNvlink::End::nvswitch);
  CHECK(gpu.gpu.nvlinks[0].count == 18);
  CHECK(gpu.gpu.nvlinks[1].target == "0000:0c:00.0");
  const auto& nic = plx.children[1];
  CHECK(nic.kind == NcclPci::Kind::nic);
  CHECK_FALSE(nic.transfers);
  CHECK_FALSE(nic.lanes);
  REQUIRE(nic.nets.size() == 2);
  CHECK(nic.nets[0].speed == 400000);
  CHECK_FALSE(nic.nets[1].speed);
  CHECK(plx.children[2].kind == NcclPci::Kind::other);
  CHECK(plx.children[3].kind == NcclPci::Kind::unnamed);
}

TEST_CASE("graphs contain channels and orders, without duplicates", "[import]") {
  const auto xml = read_nccl_xml({"t.xml", R"(<graphs version="1">
  <graph id="0" pattern="4" nchannels="3" speedintra="30" speedinter="12.5" typeintra="NVL" typeinter="PXB">
    <channel><net dev="0"/><gpu dev="0"/><gpu dev="0x1" rank="1"/><net dev="0"/></channel>
    <channel><net dev="0"/><gpu dev="0"/><gpu dev="1"/><net dev="0"/></channel>
    <channel><gpu dev="1"/><gpu dev="0"/></channel>
  </graph>
  <graph id="3" pattern="5" nchannels="0" speedintra="0"/>
</graphs>)"});
  const auto& graphs = std::get<std::vector<NcclGraph>>(xml.content);
  REQUIRE(graphs.size() == 2);
  CHECK(graphs[0].algorithm == "ring");
  CHECK(graphs[0].channels == 3);
  CHECK(graphs[0].speed_inter == 12.5);
  CHECK(graphs[0].type_inter == "PXB");
  CHECK(graphs[0].orders == std::vector<std::pair<std::string, int>>{{"net0 0 1 net0", 2}, {"1 0", 1}});
  CHECK(graphs[1].pattern == "nvls");
}

TEST_CASE("text that is not NCCL's XML is refused at its place", "[import][errors]") {
  using Row = std::pair<std::string, std::string>;
  const auto [text, expected] = GENERATE(values<Row>({
      {"<system>\n  <cpu>\n",
       "t.xml:2:8: error: this is not XML: start-end tags mismatch\n    2 |   <cpu>\n"
       "      |        ^\n  hint: check whether the file is truncated or was edited by hand\n"},
      {"just text\n",
       "t.xml:1:10: error: this is not XML: no document element found\n    1 | just text\n      |          "
       "^\n"
       "  hint: check whether the file is truncated or was edited by hand\n"},
      {"<html/>\n",
       "t.xml:1:2: error: <html> is not a topology of NCCL\n    1 | <html/>\n      |  ^~~~\n"
       "  hint: expected <system>: set NCCL_TOPO_DUMP_FILE to make NCCL write it\n"},
      {"<system version=\"3\"/>\n",
       "t.xml:1:18: error: unknown version '3' of the file\n    1 | <system version=\"3\"/>\n"
       "      |                  ^\n  hint: gradway reads version 1, which NCCL up to 2.30 writes, and "
       "version 2 "
       "of RCCL\n"},
      {"<system/>\n",
       "t.xml:1:2: error: <system> has no <cpu>\n    1 | <system/>\n      |  ^~~~~~\n"
       "  hint: expected a <cpu> for each NUMA node, with its devices\n"},
      {on_cpu("<pci class=\"0x030200\"/>"),
       "t.xml:3:2: error: the <pci> has no 'busid'\n    3 | <pci class=\"0x030200\"/>\n      |  ^~~\n"
       "  hint: expected the bus of the device, such as 0000:10:1c.0\n"},
      {on_cpu("<pci busid=\"a\" link_speed = '17 GT/s'/>"),
       "t.xml:3:30: error: invalid PCIe speed '17 GT/s'\n    3 | <pci busid=\"a\" link_speed = '17 GT/s'/>\n"
       "      |                              ^~~~~~~\n  hint: expected 2.5, 5, 8, 16, 32 or 64 GT/s\n"},
      {on_cpu("<pci busid=\"link_width=1\" link_width=\"many\"/>"),
       "t.xml:3:39: error: 'many' is not a whole number from 0 to 255\n"
       "    3 | <pci busid=\"link_width=1\" link_width=\"many\"/>\n"
       "      |                                       ^~~~\n  hint: this is the 'link_width' of <pci>\n"},
      {"<graphs><graph id=\"0\" pattern=\"4\" nchannels=\"2\"><channel/></graph></graphs>",
       "t.xml:1:46: error: 'nchannels' is 2, but 1 <channel> follow\n"
       "    1 | <graphs><graph id=\"0\" pattern=\"4\" nchannels=\"2\"><channel/></graph></graphs>\n"
       "      |                                              ^\n  hint: check whether the file is truncated "
       "or was edited by hand\n"},
      {"<graphs><graph id=\"0\"/></graphs>",
       "t.xml:1:10: error: the <graph> has no 'pattern'\n    1 | <graphs><graph id=\"0\"/></graphs>\n"
       "      |          ^~~~~\n"},
  }));
  CHECK(message(text) == expected);
}

TEST_CASE("unlimited nesting and nested entities are refused", "[import][errors]") {
  std::string deep;
  for (int i = 0; i < 300'000; ++i) deep += "<pci busid='a'>";
  CHECK_THAT(message(on_cpu(deep)), Contains("this is not XML"));
  for (int i = 0; i < 300'000; ++i) deep += "</pci>";
  CHECK_THAT(message(on_cpu(deep)), Contains("elements are nested deeper than 64 levels"));

  std::string wide;
  for (int i = 0; i < 5000; ++i) wide += "<pci busid='a'/>";
  CHECK_THAT(message(on_cpu(wide)), Contains("the file has more than 4096 devices"));

  std::string bomb = "<!DOCTYPE system [<!ENTITY a \"aaaaaaaaaa\">";
  for (char c = 'b'; c < 'z'; ++c) {
    bomb += fmt::format("<!ENTITY {} \"", c);
    for (int i = 0; i < 10; ++i) bomb += fmt::format("&{};", static_cast<char>(c - 1));
    bomb += "\">";
  }
  bomb += "]><system version=\"1\"><cpu numaid=\"0\" vendor=\"&y;\"/></system>";
  CHECK(topology(bomb).cpus[0].vendor == "&y;");
}
