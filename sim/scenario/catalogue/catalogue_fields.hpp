// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/cost/calibration.hpp"
#include "sim/platform/description.hpp"
#include "sim/scenario/fields.hpp"
#include "sim/workload/architectures.hpp"
#include "sim/workload/captured/captured_step.hpp"

// The tables of fields of the files that scenarios name, each in a file of this folder (`*_fields.cpp`).
namespace gradway {

FieldTable make_fields(std::type_identity<FitError>);
FieldTable make_fields(std::type_identity<Fitted>);
FieldTable make_fields(std::type_identity<CollectiveSample>);
FieldTable make_fields(std::type_identity<CollectiveTable>);
FieldTable make_fields(std::type_identity<LinkRate>);
FieldTable make_fields(std::type_identity<MatrixRate>);
FieldTable make_fields(std::type_identity<MemoryRate>);
FieldTable make_fields(std::type_identity<OptimizerRate>);
FieldTable make_fields(std::type_identity<AttentionRate>);
FieldTable make_fields(std::type_identity<LaunchTime>);
FieldTable make_fields(std::type_identity<KernelRates>);
FieldTable make_fields(std::type_identity<ContentionFactors>);
FieldTable make_fields(std::type_identity<HoldoutError>);
FieldTable make_fields(std::type_identity<AdaptedPart>);
FieldTable make_fields(std::type_identity<Adaptation>);
FieldTable make_fields(std::type_identity<SampleOrigin>);
FieldTable make_fields(std::type_identity<KernelTimes>);
FieldTable make_fields(std::type_identity<Calibration>);

FieldTable make_fields(std::type_identity<LinearAttention>);
FieldTable make_fields(std::type_identity<Tower>);
FieldTable make_fields(std::type_identity<LatentAttention>);
FieldTable make_fields(std::type_identity<Experts>);
FieldTable make_fields(std::type_identity<DecoderShape>);
FieldTable make_fields(std::type_identity<SpeechShape>);
FieldTable make_fields(std::type_identity<EncoderDecoderShape>);
FieldTable make_fields(std::type_identity<EncoderShape>);
FieldTable make_fields(std::type_identity<VisionTransformerShape>);
FieldTable make_fields(std::type_identity<ResidualShape>);
FieldTable make_fields(std::type_identity<ConvNextShape>);
FieldTable make_fields(std::type_identity<DetectorShape>);
FieldTable make_fields(std::type_identity<ImageShape>);
FieldTable make_fields(std::type_identity<SyntheticLayer>);

FieldTable make_fields(std::type_identity<RecommenderShape>);
FieldTable make_fields(std::type_identity<Anchor>);
FieldTable make_fields(std::type_identity<Profile>);
FieldTable make_fields(std::type_identity<CapturedStep>);

/// A kind of model with its keys.
struct ModelKind {
  std::string_view name;
  FieldTable fields;
};
const std::vector<ModelKind>& model_kinds();
/// The keys of all kinds of model.
FieldTable model_fields();

FieldTable make_fields(std::type_identity<GpuPower>);
FieldTable make_fields(std::type_identity<Gpu>);
FieldTable make_fields(std::type_identity<SocketDescription>);
FieldTable make_fields(std::type_identity<LinkDescription>);
FieldTable make_fields(std::type_identity<NodeDescription>);
FieldTable make_fields(std::type_identity<NvlinkDomainDescription>);
FieldTable make_fields(std::type_identity<Network>);
FieldTable make_fields(std::type_identity<FabricDescription>);
FieldTable make_fields(std::type_identity<GeneratedPlatform>);
FieldTable make_fields(std::type_identity<ExchangeRate>);
FieldTable make_fields(std::type_identity<Price>);
FieldTable make_fields(std::type_identity<PlatformDescription>);
/// The keys of a file of prices.
FieldTable price_list_fields();

}  // namespace gradway
