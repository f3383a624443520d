// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/units.hpp"
#include "sim/platform/gpu.hpp"
#include "sim/workload/optimizer.hpp"
#include "sim/workload/profile.hpp"

namespace gradway {

/// Elements of a tensor; 1 for a scalar.
std::int64_t elements_of(const std::vector<std::int64_t>& shape);

/// A trained tensor.
struct Parameter {
  std::string name;
  std::vector<std::int64_t> shape;

  std::int64_t elements() const;
};

/// What one direction (forward or backward) of a layer does. Per-sample numbers are multiplied by the batch.
struct Work {
  Flops flops_per_sample{};        ///< matrix products and convolutions
  double elements_per_sample = 0;  ///< activations read and written, counted in elements
  double parameter_elements = 0;   ///< parameters (and their gradients) read and written, whatever the batch
  int kernels = 1;                 ///< kernel launches in eager PyTorch
  std::optional<Seconds> time;     ///< explicit: nothing above is used
};

/// A layer as the framework sees it: its own kernels and its own parameters.
struct Layer {
  std::string name;
  std::vector<Parameter> parameters;  ///< in order of registration
  Work forward;
  Work backward;
  double saved_elements_per_sample = 0;  ///< activations kept for the backward pass, in the job's precision
  double saved_fp32_per_sample = 0;      ///< the same, in fp32 under autocast too
  double transient_fp32_per_sample = 0;  ///< only while this layer's own backward pass runs

  std::int64_t parameter_count() const;
};

/// A measured step of this model on one GPU without DDP; scales every compute cost of the model on that GPU.
struct Anchor {
  std::string gpu;
  Precision precision = Precision::fp32;
  int batch = 0;
  Optimizer optimizer = Optimizer::sgd;
  Seconds step_time{};
  std::string source;
};

/// What is trained: layers in the order of the forward pass.
struct Model {
  std::string name;
  std::string source;
  std::vector<Layer> layers;
  Bytes input_per_sample{};               ///< what the input copy moves
  int tokens_per_sample = 0;              ///< the sequence of a model of text; 0: of none, or not known
  std::optional<Seconds> optimizer_time;  ///< explicit, for synthetic models
  std::vector<Anchor> anchors;
  std::optional<Profile>
      profile;  ///< if it was measured launch by launch; the layers then only hold the gradients

  std::int64_t parameter_count() const;
  /// Forward and backward, of the model's own operations.
  Flops flops_per_sample() const;
  std::size_t parameter_tensors() const;
};

}  // namespace gradway
