// SPDX-License-Identifier: Apache-2.0
#include "readers/describe/drafted_platform.hpp"

#include <catch2/catch.hpp>

#include <fmt/format.h>

#include "readers/topology/nccl_xml.hpp"
#include "tests/describe/read_back.hpp"
#include "tests/support/config_files.hpp"

using namespace gradway;
using namespace gradway::test;
using Catch::Matchers::Contains;

namespace {

NcclTopology topology(const std::string& cpus) {
  return std::get<NcclTopology>(
      read_nccl_xml({"t.xml", "<system version=\"1\">\n" + cpus + "</system>\n"}).content);
}

const DescribedGpu a100{"a100-sxm-40gb", 80, ""};

WrittenPlatform written(const std::string& cpus, const DescribedGpu& gpu = a100,
                        std::optional<int> gpus = {}) {
  const auto read = topology(cpus);
  return nccl_platform(read, node_layout(read, gpus), gpu);
}

std::string message(const std::string& cpus, std::optional<int> gpus = {}) {
  return message_of([&] { return written(cpus, a100, gpus); });
}

std::string gpu(int bus, const std::string& more = "link_speed=\"16 GT/s\" link_width=\"16\"") {
  return fmt::format("<pci busid=\"0000:{:02x}:00.0\" class=\"0x030200\" {}/>\n", bus, more);
}

/// A switch of Gen3 with 2 GPUs and a NIC of 100 Gb/s.
std::string group(int bus) {
  return fmt::format(
      "<pci busid=\"ffff:ff:{:02x}.0\" class=\"0x060400\" link_speed=\"8 GT/s\" link_width=\"16\">\n{}{}"
      "<pci busid=\"0001:{:02x}:00.0\" class=\"0x020000\" link_speed=\"8 GT/s\" link_width=\"8\">\n"
      "<nic><net name=\"efa{}\" speed=\"100000\"/></nic></pci>\n</pci>\n",
      bus, gpu(bus), gpu(bus + 1), bus, bus);
}

const std::string two_cpus =
    "<cpu numaid=\"0\" vendor=\"GenuineIntel\" familyid=\"6\" modelid=\"85\">\n" + group(0x10) +
    "</cpu>\n<cpu numaid=\"1\" vendor=\"GenuineIntel\" familyid=\"6\" modelid=\"85\">\n" + group(0x20) +
    "</cpu>\n";

}  // namespace

TEST_CASE("a topology of NCCL becomes switches, sockets, NICs and their rates", "[describe]") {
  const auto result = written(two_cpus);
  const ReadBack node{result.yaml};
  CHECK(node.cell(0, 1) == "NV12");
  CHECK(node.cell(0, 4) == "PIX");
  CHECK(node.cell(0, 5) == "SYS");
  CHECK(node.cell(4, 5) == "SYS");
  CHECK(node.rate("plx0 -> gpu0") == Approx(26.2));
  CHECK(node.rate("rc0 -> plx0") == Approx(12.4));
  CHECK(node.rate("plx0 -> efa16") == Approx(6.2));  // Gen3 x8 is slower than the wire
  CHECK(node.rate("cpu0 -> cpu1") == Approx(10));
  CHECK_FALSE(node.platform().amd_cpu);
  CHECK(result.warnings == std::vector<std::string>{"the file does not list NVLinks: 12 from each GPU to "
                                                    "an NVSwitch are assumed, as usual for a100-sxm-40gb"});
  CHECK_THAT(result.yaml, Contains("8 GT/s, x16: NCCL assumes 12 GB/s.") && Contains("# nodes: as_needed"));
}

TEST_CASE("NVLinks of a dump are counted, also if there are none", "[describe]") {
  const auto with = [](const std::string& links) {
    std::string cpus = "<cpu numaid=\"0\" vendor=\"AuthenticAMD\">\n";
    for (int i = 0; i < 3; ++i)
      cpus += fmt::format(
          "<pci busid=\"0000:0{}:00.0\" class=\"0x030200\"><gpu dev=\"{}\" sm=\"80\">{}</gpu></pci>\n", i,
          2 - i, links);
    return cpus + "</cpu>\n";
  };
  const auto none = written(with(""));
  CHECK(none.warnings.empty());
  CHECK(ReadBack{none.yaml}.cell(0, 1) == "NODE");
  CHECK(ReadBack{none.yaml}.platform().amd_cpu);

  const ReadBack switched{written(with("<nvlink target=\"a\" count=\"2\" tclass=\"0x068000\"/>"
                                       "<nvlink target=\"b\" count=\"2\" tclass=\"0x068000\"/>"))
                              .yaml};
  CHECK(switched.cell(0, 2) == "NV4");
  CHECK(switched.rate("gpu0 -> nvswitch") == Approx(4 * 274.0 / 12).epsilon(1e-3));

  const auto paired = written(with("<nvlink target=\"0000:00:00.0\" count=\"2\" tclass=\"0x030200\"/>"));
  CHECK(paired.warnings ==
        std::vector<std::string>{"NVLinks of a GPU to itself are ignored: the file hides their other end"});
  const ReadBack pairs{paired.yaml};  // the GPU on bus 0 is number 2
  CHECK(pairs.cell(0, 2) == "NV2");
  CHECK(pairs.cell(0, 1) == "NODE");

  CHECK(written(with("<nvlink target=\"0000:99:00.0\" count=\"2\" tclass=\"0x030200\"/>"
                     "<nvlink target=\"c\" count=\"2\" tclass=\"0x068001\"/>"))
            .warnings == std::vector<std::string>{"NVLinks between GPUs and CPUs are ignored",
                                                  "NVLinks to GPUs that are not in the file are ignored"});
}

TEST_CASE("NVLinks of each GPU to itself are bridges whose other end is hidden", "[describe]") {
  std::string cpus = "<cpu numaid=\"0\">\n";
  for (int i = 0; i < 4; ++i)
    cpus += fmt::format(
        "<pci busid=\"000{0}:00:00.0\" class=\"0x030200\"><gpu dev=\"{0}\" sm=\"80\"><nvlink "
        "target=\"000{0}:00:00.0\" count=\"12\" tclass=\"0x030200\"/></gpu></pci>\n",
        i);
  const auto result = written(cpus + "</cpu>\n");
  const ReadBack node{result.yaml};
  CHECK(node.cell(0, 1) == "NV12");
  CHECK(node.cell(1, 2) == "NODE");
  CHECK(node.cell(2, 3) == "NV12");
  CHECK(result.warnings ==
        std::vector<std::string>{"the file has NVLinks of each GPU to itself: bridges between "
                                 "every two GPUs are assumed"});
}

TEST_CASE("RCCL's topology has XGMI links", "[describe]") {
  std::string cpus = "<cpu numaid=\"0\" vendor=\"AuthenticAMD\">\n";
  for (int i = 0; i < 2; ++i)
    cpus += fmt::format(
        "<pci busid=\"000{0}:00:00.0\" class=\"0x120000\" vendor=\"0x1002\" device=\"0x74a1\" "
        "link_speed=\"32.0 "
        "GT/s PCIe\" link_width=\"16\"><gpu dev=\"{0}\" sm=\"304\" gcn=\"gfx942\"><xgmi "
        "target=\"000{1}:00:00.0\" count=\"1\" tclass=\"0x120000\"/></gpu></pci>\n",
        i, 1 - i);
  const auto read = std::get<NcclTopology>(
      read_nccl_xml({"t.xml", "<system version=\"2\">\n" + cpus + "</cpu>\n</system>\n"}).content);
  CHECK(gpu_of(read) == "AMD Instinct MI300X");
  CHECK_FALSE(capability_of(read));
  const auto result = nccl_platform(read, node_layout(read, {}), {"mi300x", 0, ""});
  CHECK(result.warnings.empty());
  const ReadBack node{result.yaml};
  CHECK(node.rate("gpu0 -> gpu1") == Approx(45.5));
  CHECK(node.rate("rc0 -> gpu0") == Approx(55.4));
  CHECK_THAT(result.yaml, Contains("kind: xgmi"));
}

TEST_CASE("the dump of one of our nodes", "[describe]") {
  const auto xml = read_nccl_xml(
      read_text_file(std::string{GRADWAY_SOURCE_DIR} + "/tests/readers/data/nccl-topo-4x-h200.xml"));
  const auto& read = std::get<NcclTopology>(xml.content);
  CHECK(gpu_of(read) == "NVIDIA H200");
  CHECK(capability_of(read) == 90);
  const auto result = nccl_platform(read, node_layout(read, {}), {"h200", 90, ""});
  CHECK(result.warnings.empty());
  const ReadBack node{result.yaml};
  CHECK(node.cell(0, 3) == "NV18");
  CHECK(node.rate("gpu3 -> nvswitch") == Approx(396.4).epsilon(1e-3));
  CHECK(node.rate("rc0 -> gpu0") == Approx(55.4));
  CHECK(node.rate("cpu0 -> eth0") == Approx(1.25));
}

TEST_CASE("GPUs that are not listed are added at possible places", "[describe]") {
  int bus = 0x10;
  const auto bare = [&](int buses, const std::string& inner = "") {
    std::string list;
    for (int i = 0; i < buses; ++i)
      list += fmt::format("<pci busid=\"0000:00:{:02x}.0\">{}</pci>\n", bus++, inner);
    return list;
  };
  const auto cpus = [&](const std::string& first, const std::string& second) {
    return "<cpu numaid=\"0\">\n" + first + "</cpu>\n<cpu numaid=\"1\">\n" + second + "</cpu>\n";
  };
  // Two on each CPU; the remaining device is a NIC.
  const auto two = bare(2);
  const auto three = bare(3);
  const ReadBack some{written(cpus(two, three), a100, 4).yaml};
  CHECK(some.platform().gpus.size() == 4);
  CHECK(some.cell(2, 4) == "NODE");
  CHECK(some.cell(0, 4) == "SYS");
  // All devices.
  CHECK(ReadBack{written(cpus(two, three), a100, 5).yaml}.platform().gpus.size() == 5);
  // Not listed: one is added to each switch.
  const auto nics = [&] {
    std::string list;
    for (int i = 0; i < 2; ++i) {
      const auto of = bus;
      list += bare(
          1, fmt::format("<pci busid=\"a{0}\" link_speed=\"32 GT/s PCIe/s\"/><pci busid=\"b{0}\"/>", of));
    }
    return list;
  };
  const auto first = nics();
  const auto second = nics();
  const auto added = written(cpus(first, second), a100, 4);
  CHECK(added.warnings.front() ==
        "the file does not list GPUs: 1 is assumed to be on each of its 4 switches, and its other devices to "
        "be NICs");
  const ReadBack node{added.yaml};
  CHECK(node.cell(0, 4) == "PIX");
  CHECK(node.cell(0, 6) == "NODE");
  CHECK(node.cell(0, 8) == "SYS");

  CHECK_THAT(
      message(cpus(first, second)),
      Contains("t.xml:1:2: error: the file does not state which of its devices are GPUs") &&
          Contains("hint: give their number with --gpus N: the same number on each of its 4 switches"));
  CHECK_THAT(message(cpus(first, second), 6), Contains("6 GPUs are not divisible by 4 switches"));
  CHECK_THAT(message(two_cpus, 8), Contains("the file contains 4 GPUs instead of the 8 of '--gpus'"));
}

TEST_CASE("a GPU that differs from that of the file is refused", "[describe][errors]") {
  const auto cpus = [](const std::string& first, const std::string& second) {
    return "<cpu numaid=\"0\">\n" + gpu(1, first) + gpu(2, second) + "</cpu>\n";
  };
  CHECK_THAT(message_of([&] {
               return gpu_of(topology(
                   cpus("vendor=\"0x10de\" device=\"0x20b0\"", "vendor=\"0x10de\" device=\"0x20b2\"")));
             }),
             Contains("t.xml:4:2: error: the node has two kinds of GPU") &&
                 Contains("note: t.xml:3:2: the other GPU is here"));
  CHECK(gpu_of(topology(cpus("", ""))).empty());
  const std::string dump = "<cpu numaid=\"0\">\n<pci busid=\"a\"><gpu dev=\"0\" sm=\"90\"/></pci>\n</cpu>\n";
  CHECK_THAT(message(dump),
             Contains("t.xml:3:2: error: the GPU has 'sm' 90, but a100-sxm-40gb has compute capability 8.0"));
  CHECK_THAT(message("<cpu>\n<pci busid=\"a\"><gpu dev=\"0\"/></pci>\n<pci busid=\"b\"><gpu "
                     "dev=\"0\"/></pci>\n</cpu>\n"),
             Contains("two GPUs have the device number 0"));
}
