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
#include "sim/workload/embedding_tables.hpp"
#include "sim/workload/operation.hpp"
#include "sim/workload/optimizer.hpp"
#include "sim/workload/profile.hpp"

namespace gradway {

/// Number of elements of a tensor; 1 for a scalar.
std::int64_t elements_of(const std::vector<std::int64_t>& shape);

/// A trained tensor.
struct Parameter {
  std::string name;
  std::vector<std::int64_t> shape;

  std::int64_t elements() const;
};

/// A parameter that is not trained.
struct FrozenParameter {
  Parameter parameter;
  double width = 2;  ///< bytes per element

  Bytes size() const { return Bytes{width * static_cast<double>(parameter.elements())}; }
};

/// The work of one direction (forward or backward) of a layer in any precision.
struct Work {
  Flops flops_per_sample{};     ///< of products, convolutions and attention
  int kernels = 1;              ///< number of launches
  std::optional<Seconds> time;  ///< synthetic models only
};

/// The part of a layer in attention or in a mixture of experts. `experts`: a layer on rows that are sorted by
/// expert. `interaction`: reads what was looked up in embedding tables.
enum class LayerRole : std::uint8_t {
  other,
  attention,
  router,
  top_k,
  dispatch,
  experts,
  batch_norm,
  interaction
};

/// A layer of a model, with its kernels and parameters.
struct Layer {
  std::string name;
  std::vector<Parameter> parameters;  ///< trained ones, in order of registration
  Work forward;
  Work backward;
  Bytes output_per_sample{};        ///< synthetic models only
  std::optional<Parameter> tied{};  ///< parameter of another layer that it shares
  bool is_of_experts = false;       ///< its parameters are those of routed experts
  std::vector<FrozenParameter> frozen{};
  bool takes_fp8 = false;  ///< its products are fp8 in fp8 jobs
  LayerRole role = LayerRole::other;

  /// Number of trained elements.
  std::int64_t parameter_count() const;
  Bytes frozen_size() const;
};

/// A measured step of this model on one GPU without DDP, to which compute times on that GPU are scaled.
struct Anchor {
  std::string gpu;
  Precision precision = Precision::fp32;
  int batch = 0;
  Optimizer optimizer = Optimizer::sgd;
  Seconds step_time{};
  std::string source;
};

/// The dimensions that tensor parallelism divides.
struct TensorShape {
  int heads = 1;
  int kv_heads = 1;
  int mlp = 1;  ///< width
};

/// The dimensions that expert parallelism divides.
struct ExpertShape {
  int number = 0;  ///< experts per layer; 0: the model has none
  int mlp = 0;     ///< width of an expert
  int top_k = 0;   ///< experts of a token
};

class Eager;
struct CapturedStep;
struct EagerSettings;
struct EagerStep;

/// A forward pass as calls on symbolic tensors. Copies share a cache of steps.
class ForwardPass {
 public:
  ForwardPass() = default;
  explicit ForwardPass(std::function<void(Eager&)> calls);
  /// @param calls a callable that takes an Eager&
  template <class Calls>
  requires std::is_invocable_v<const Calls&, Eager&> &&
      (!std::is_same_v<Calls, ForwardPass>)ForwardPass(Calls calls)
      : ForwardPass{std::function<void(Eager&)>{std::move(calls)}} {}

  explicit operator bool() const { return static_cast<bool>(calls_); }
  void operator()(Eager& eager) const { calls_(eager); }
  /// The operations of both directions, and the memory. @pre not empty
  std::shared_ptr<const EagerStep> step(const EagerSettings& settings) const;

 private:
  class StepCache;

  std::function<void(Eager&)> calls_;
  std::shared_ptr<StepCache> steps_;
};

/// A model: its layers in the order of the forward pass.
struct Model {
  /// What a scenario changes of the file of a model.
  struct Changes {
    std::string based_on;                                     ///< name of the file
    std::vector<std::pair<std::string, std::string>> values;  ///< keys, and their values as YAML
  };

  std::string name;  ///< of the file; with the changes, if there are any
  std::string source;
  std::optional<Changes> changes{};
  std::vector<Layer> layers;
  ForwardPass run;                                            ///< empty for synthetic models and profiles
  Implementation implementation = Implementation::automatic;  ///< of the file; a job's has precedence
  Bytes input_per_sample{};                                   ///< bytes that the input copy moves
  int tokens_per_sample = 0;          ///< sequence of a text model; 0: not a text model, or unknown
  std::optional<TensorShape> tensor;  ///< empty: tensor parallelism is not supported
  int longest_sequence = 0;           ///< limit of its positions; 0: none
  ExpertShape experts{};
  EmbeddingTables tables{};  ///< of a recommendation model; they are not among the layers
  int causal_heads = 0;      ///< heads of attention that supports context parallelism; 0: unsupported
  int causal_kv_heads = 0;   ///< heads of keys and values
  std::optional<Seconds> optimizer_time;  ///< synthetic models only
  std::vector<Anchor> anchors;
  /// Measured launches, which copies of a model share. The layers then only hold the gradients.
  std::shared_ptr<const Profile> profile;
  /// Recorded step of the user's program, if the model was captured; `run` then replays it.
  std::shared_ptr<const CapturedStep> captured{};

  /// Number of trained elements and of trained tensors.
  std::int64_t parameter_count() const;
  std::size_t parameter_tensors() const;
  /// Number of frozen elements, and their bytes.
  std::int64_t frozen_count() const;
  Bytes frozen_size() const;
};

}  // namespace gradway
