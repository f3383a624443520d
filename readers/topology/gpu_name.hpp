// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/problem.hpp"
#include "sim/files/text_file.hpp"

namespace gradway {

/// The name of a GPU's file. @param device name by the driver, not empty
std::string gpu_file_name(std::string_view device);

/// The name of the GPU's file among `known`.
/// @param device name by the driver, such as "NVIDIA A100-SXM4-40GB"; empty if unknown.
/// @param chosen by the user instead.
/// @param teller the source that should state it, for messages: "the trace"
/// @throws ConfigError at `file` if there is no such file, with the existing ones.
std::string gpu_name(const std::string& device, const std::optional<std::string>& chosen,
                     const std::vector<std::string>& known, const Where& file, std::string_view teller);

/// The GPUs in the output of `nvidia-smi -L`, or of a program that lists them like it, anywhere in a text.
struct GpuList {
  std::string device;  ///< The driver's name of all of them; empty if the text has no such line.
  int gpus = 0;
  bool has_instances = false;  ///< A GPU is divided (MIG).
  Where first;                 ///< Place of the first line.
};

/// Finds lines such as "GPU 0: NVIDIA H200 (UUID: GPU-...)", "GPU 0: NVIDIA H200" or "GPU 0,1: NVIDIA H200".
/// @throws ConfigError at a GPU that differs from the first one
GpuList find_gpu_list(const TextFile& file);

constexpr int nvidia_pci_vendor = 0x10de;

constexpr int amd_pci_vendor = 0x1002;

/// The driver's name of the GPU with a device number of NVIDIA or AMD; empty if unknown.
/// @source the PCI ID Repository, pci-ids.ucw.cz
std::string_view gpu_of_device(int device);

}  // namespace gradway
