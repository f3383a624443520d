// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
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

/// A tensor that the model reads and nobody trains.
struct FrozenParameter {
  Parameter parameter;
  double width = 2;  ///< bytes an element

  Bytes size() const { return Bytes{width * static_cast<double>(parameter.elements())}; }
};

/// What one direction (forward or backward) of a layer does, whatever the precision.
struct Work {
  Flops flops_per_sample{};     ///< of products, convolutions and attention
  int kernels = 1;              ///< launches of a layer with an explicit time
  std::optional<Seconds> time;  ///< explicit: the model is made up
};

/// What a layer does in a mixture of experts. `experts`: it works on rows that are sorted by expert, or on
/// what becomes of them.
enum class LayerRole : std::uint8_t { other, router, top_k, dispatch, experts };

/// A layer as the framework sees it: its own kernels and its own parameters.
struct Layer {
  std::string name;
  std::vector<Parameter> parameters;  ///< that are trained, in order of registration
  Work forward;
  Work backward;
  Bytes output_per_sample{};        ///< of a made-up layer: what the next one reads
  std::optional<Parameter> tied{};  ///< another layer's that it uses too
  bool is_of_experts = false;       ///< its parameters are those of routed experts
  std::vector<FrozenParameter> frozen{};
  bool takes_fp8 = false;  ///< its products are of 8 bits where the job's are
  LayerRole role = LayerRole::other;

  /// Elements that are trained.
  std::int64_t parameter_count() const;
  Bytes frozen_size() const;
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

/// What the ranks of tensor parallelism divide.
struct TensorShape {
  int heads = 1;
  int kv_heads = 1;
  int mlp = 1;  ///< width
};

/// What the ranks of expert parallelism divide.
struct ExpertShape {
  int number = 0;  ///< of each layer that has them; 0: none
  int mlp = 0;     ///< width of one
};

class Eager;
class IssuedSteps;
struct CapturedStep;
struct EagerSettings;
struct EagerStep;

/// A forward pass: what a module of PyTorch calls, on symbolic tensors. Copies share what it issued before.
class ForwardPass {
 public:
  ForwardPass() = default;
  explicit ForwardPass(std::function<void(Eager&)> calls);
  /// @param calls a function of an Eager
  template <class Calls>
  requires std::is_invocable_v<const Calls&, Eager&> &&
      (!std::is_same_v<Calls, ForwardPass>)ForwardPass(Calls calls)
      : ForwardPass{std::function<void(Eager&)>{std::move(calls)}} {}

  explicit operator bool() const { return static_cast<bool>(calls_); }
  void operator()(Eager& eager) const { calls_(eager); }
  /// What it issues forward and backward, and what it keeps. @pre it is not empty
  std::shared_ptr<const EagerStep> step(const EagerSettings& settings) const;

 private:
  std::function<void(Eager&)> calls_;
  std::shared_ptr<IssuedSteps> issued_;
};

/// What is trained: layers in the order of the forward pass.
struct Model {
  std::string name;
  std::string source;
  std::vector<Layer> layers;
  ForwardPass run;                    ///< empty: the layers have explicit times, or a profile
  Bytes input_per_sample{};           ///< what the input copy moves
  int tokens_per_sample = 0;          ///< the sequence of a model of text; 0: of none, or not known
  std::optional<TensorShape> tensor;  ///< empty: ranks cannot share its layers
  int longest_sequence = 0;           ///< that its positions allow; 0: any
  ExpertShape experts{};
  int causal_heads = 0;     ///< of attention that ranks of context parallelism can share; 0: of none
  int causal_kv_heads = 0;  ///< of keys and values
  std::optional<Seconds> optimizer_time;  ///< explicit, for synthetic models
  std::vector<Anchor> anchors;
  /// If it was measured launch by launch; the layers then only hold the gradients. Copies of a model share
  /// it.
  std::shared_ptr<const Profile> profile;
  /// If it was captured from the user's program: `run` then issues what was recorded.
  std::shared_ptr<const CapturedStep> captured{};

  /// Elements, and tensors, that are trained.
  std::int64_t parameter_count() const;
  std::size_t parameter_tensors() const;
  /// Elements that are not, and their bytes; 0: all are trained.
  std::int64_t frozen_count() const;
  Bytes frozen_size() const;
};

}  // namespace gradway
