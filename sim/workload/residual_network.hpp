// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <vector>

#include "sim/workload/model.hpp"

namespace gradway {

/// torchvision's ResNet with bottleneck blocks (stride in the 3x3 convolution); ResNeXt if it has groups.
/// @source torchvision 0.23, models/resnet.py
struct ResidualShape {
  int image_size = 224;
  std::array<int, 4> blocks = {3, 4, 6, 3};
  int groups = 1;
  int width_per_group = 64;
  int classes = 1000;
};

/// SSD300 on the first three stages of ResNet-50, of which the third has no stride. Six feature maps of 38,
/// 19, 10, 5, 3 and 1 pixels per side have 4, 6, 6, 6, 4 and 4 boxes per pixel.
/// @source github.com/NVIDIA/DeepLearningExamples, PyTorch/Detection/SSD/ssd/model.py
struct DetectorShape {
  static constexpr int image_size = 300;
  int classes = 81;  ///< classes of COCO and the background
};

ForwardPass residual_network(const ResidualShape& shape);
ForwardPass detector(const DetectorShape& shape);

}  // namespace gradway
