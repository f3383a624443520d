// SPDX-License-Identifier: Apache-2.0
#ifdef GRADWAY_HAS_CUDNN

#include "calibration/probe/kernels/cudnn.hpp"

#include <array>

namespace gradway::probe {

CudnnLibrary::CudnnLibrary() : library{cudnn_description()} {
  library.find("cudnnGetVersion", get_version);
  library.find("cudnnGetErrorString", get_error);
  library.find("cudnnGetLastErrorString", get_last_error);
  library.find("cudnnCreate", create);
  library.find("cudnnDestroy", destroy);
  library.find("cudnnSetStream", set_stream);
  library.find("cudnnBackendCreateDescriptor", create_descriptor);
  library.find("cudnnBackendDestroyDescriptor", destroy_descriptor);
  library.find("cudnnBackendSetAttribute", set_attribute);
  library.find("cudnnBackendGetAttribute", get_attribute);
  library.find("cudnnBackendFinalize", finalize);
  library.find("cudnnBackendExecute", execute);
}

void CudnnLibrary::check(cudnnStatus_t status, const std::string& what) const {
  if (status == CUDNN_STATUS_SUCCESS) return;
  std::array<char, 512> words{};
  get_last_error(words.data(), words.size());
  throw Refusal{what + ": cuDNN: " + get_error(status) + " (" + words.data() + ")"};
}

Cudnn::Cudnn(std::size_t oldest_version) : library_{std::make_shared<CudnnLibrary>()} {
  const auto version = library_->get_version();
  if (version < oldest_version)
    throw Refusal{"cuDNN " + std::to_string(version) + " is older than " + std::to_string(oldest_version)};
  cudnnHandle_t handle = nullptr;
  library_->check(library_->create(&handle), "starting cuDNN");
  handle_ = {handle, library_->destroy};
}

CudnnDescriptor::CudnnDescriptor(const Cudnn& cudnn, cudnnBackendDescriptorType_t type)
    : library_{&cudnn.library()} {
  cudnnBackendDescriptor_t made = nullptr;
  library_->check(library_->create_descriptor(type, &made), "making a descriptor");
  descriptor_ = {made, library_->destroy_descriptor};
}

void CudnnDescriptor::set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                          std::int64_t count, const void* given) {
  library_->check(library_->set_attribute(get(), name, type, count, given),
                  "setting attribute " + std::to_string(static_cast<int>(name)));
}

CudnnDescriptor& CudnnDescriptor::finalize(const std::string& what) {
  library_->check(library_->finalize(get()), what);
  return *this;
}

CudnnPlan::CudnnPlan(const Cudnn& cudnn, const CudnnDescriptor& operation) : cudnn_{&cudnn} {
  const auto& library = cudnn.library();
  const auto handle = cudnn.handle();
  CudnnDescriptor graph{cudnn, CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR};
  graph.set(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, handle);
  graph.set(CUDNN_ATTR_OPERATIONGRAPH_OPS, operation);
  graph.finalize("describing a graph");
  heuristics_ = std::make_unique<CudnnDescriptor>(cudnn, CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
  auto& heuristics = *heuristics_;
  heuristics.set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph);
  heuristics.set(CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, CUDNN_HEUR_MODE_A);
  heuristics.finalize("asking which kernels there are");

  std::int64_t count = 0;
  library.check(library.get_attribute(heuristics.get(), CUDNN_ATTR_ENGINEHEUR_RESULTS,
                                      CUDNN_TYPE_BACKEND_DESCRIPTOR, 0, &count, nullptr),
                "counting the kernels there are");
  std::vector<CudnnDescriptor> configurations;
  std::vector<cudnnBackendDescriptor_t> raw;
  for (std::int64_t i = 0; i < count; ++i)
    raw.push_back(configurations.emplace_back(cudnn, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR).get());
  library.check(library.get_attribute(heuristics.get(), CUDNN_ATTR_ENGINEHEUR_RESULTS,
                                      CUDNN_TYPE_BACKEND_DESCRIPTOR, count, &count, raw.data()),
                "reading which kernels there are");

  std::string why = "no kernel is named";
  for (std::int64_t i = 0; i < count && !plan_; ++i) {
    const auto& configuration = configurations[static_cast<std::size_t>(i)];
    CudnnDescriptor plan{cudnn, CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR};
    try {
      plan.set(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, handle);
      plan.set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, configuration);
      plan.finalize("planning");
      plan_ = std::make_unique<CudnnDescriptor>(plan);
    } catch (const Refusal& refusal) {
      why = refusal.what();
    }
  }
  if (!plan_) throw Refusal{why};
  std::int64_t bytes = 0;
  library.check(library.get_attribute(plan_->get(), CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE,
                                      CUDNN_TYPE_INT64, 1, &count, &bytes),
                "reading the size of a workspace");
  if (bytes > 0) workspace_ = DeviceBuffer{static_cast<std::size_t>(bytes)};
}

void CudnnPlan::bind(const std::vector<std::int64_t>& ids, const std::vector<void*>& memory) {
  variant_ = std::make_unique<CudnnDescriptor>(*cudnn_, CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
  variant_->set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, ids);
  variant_->set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, memory);
  variant_->set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, workspace_.get());
  variant_->finalize("binding tensors to memory");
}

void CudnnPlan::issue(const Stream& stream) const {
  const auto& library = cudnn_->library();
  library.check(library.set_stream(cudnn_->handle(), stream.get()), "giving cuDNN a stream");
  library.check(library.execute(cudnn_->handle(), plan_->get(), variant_->get()), "running cuDNN's kernel");
}

}  // namespace gradway::probe

#endif
