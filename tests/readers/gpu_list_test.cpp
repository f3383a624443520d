// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "readers/topology/gpu_name.hpp"
#include "tests/support/config_files.hpp"

using namespace gradway;
using namespace gradway::test;

TEST_CASE("the GPUs of nvidia-smi -L are found among other lines", "[import]") {
  const auto list = find_gpu_list(
      {"t.txt",
       "$ nvidia-smi -L\r\nGPU 0: NVIDIA H200 (UUID: GPU-1)\r\n  MIG 1g.18gb Device 0: (UUID: MIG-1)\r\n"
       "  GPU 1: NVIDIA H200 (UUID: GPU-2)\r\nGPU0\tX\n"});
  CHECK(list.device == "NVIDIA H200");
  CHECK(list.gpus == 2);
  CHECK(list.first.line == 2);
  CHECK(list.first.column == 8);
  CHECK(find_gpu_list({"t.txt", "GPU0 GPU1\nGPU 0 is hot\nGPU x: y (UUID: z)\n"}).gpus == 0);
}

TEST_CASE("programs list GPUs without UUIDs, several in a line, or again", "[import]") {
  const auto list = find_gpu_list({"t.txt",
                                   "GPU models and configuration : GPU 0: NVIDIA H200\nGPU 1: NVIDIA H200\n"
                                   "GPU 0,1,2: NVIDIA H200 \r\nGPU 3: busy\n"});
  CHECK(list.device == "NVIDIA H200");
  CHECK(list.gpus == 3);
  CHECK_FALSE(list.has_instances);
  CHECK(find_gpu_list({"t.txt", "GPU 0: NVIDIA H200 (UUID: 1)\n  MIG 1g.18gb Device 0: (UUID: 2)\n"})
            .has_instances);
}

TEST_CASE("GPUs of two kinds are refused at the second", "[import][errors]") {
  CHECK(message_of([] {
          return find_gpu_list({"t.txt", "GPU 0: Tesla T4 (UUID: 1)\nGPU 1: NVIDIA L4 (UUID: 2)\n"});
        }) ==
        "t.txt:2:8: error: the node has two kinds of GPU, 'Tesla T4' and 'NVIDIA L4'\n"
        "    2 | GPU 1: NVIDIA L4 (UUID: 2)\n      |        ^~~~~~~~~\n"
        "  note: t.txt:1:8: the other GPU is here\n"
        "  hint: a platform has one kind of GPU: keep the lines of one kind only\n");
}

TEST_CASE("drivers' names of GPUs are names of their files", "[import]") {
  using Row = std::pair<std::string, std::string>;
  const auto [device, file] =
      GENERATE(values<Row>({{"Tesla V100-SXM2-16GB", "v100-sxm2-16gb"},
                            {"NVIDIA A10G", "a10g"},
                            {"NVIDIA L4", "l4"},
                            {"NVIDIA L40S", "l40s"},
                            {"A100-SXM4-40GB", "a100-sxm-40gb"},
                            {"NVIDIA A100-SXM4-80GB", "a100-sxm-80gb"},
                            {"NVIDIA A100-PCIE-40GB", "a100-pcie-40gb"},
                            {"NVIDIA A100 80GB PCIe", "a100-pcie-80gb"},
                            {"NVIDIA H100 80GB HBM3", "h100-sxm"},
                            {"NVIDIA H100 PCIe", "h100-pcie"},
                            {"NVIDIA H100 NVL", "h100-nvl"},
                            {"NVIDIA H200", "h200"},
                            {"NVIDIA B200", "b200"},
                            {"NVIDIA B300 SXM6 AC", "b300"},
                            {"AMD Instinct MI300X", "mi300x"},
                            {"AMD Instinct MI300X VF", "mi300x"},
                            {"NVIDIA GB200", "gb200"},
                            {"NVIDIA GeForce RTX 4090", "rtx-4090"},
                            {"NVIDIA RTX PRO 6000 Blackwell Server Edition", "rtx-pro-6000"}}));
  CHECK(gpu_file_name(device) == file);
}

TEST_CASE("device numbers are those of the PCI ID Repository", "[import]") {
  CHECK(gpu_of_device(0x2335) == "NVIDIA H200");
  CHECK(gpu_file_name(gpu_of_device(0x20b0)) == "a100-sxm-40gb");
  CHECK(gpu_file_name(gpu_of_device(0x74b5)) == "mi300x");
  CHECK(gpu_of_device(0x1234).empty());
}
