// SPDX-License-Identifier: Apache-2.0
#pragma once

#ifdef GRADWAY_HAS_CUDNN

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <cudnn.h>

#include "calibration/probe/device.hpp"
#include "calibration/probe/libraries.hpp"

namespace gradway::probe {

/// The functions of cuDNN's backend that are used, from the installed library.
struct CudnnLibrary {
  /// @throws Refusal if there is none, or it is too old
  CudnnLibrary();
  /// @throws Refusal with what was tried and cuDNN's message
  void check(cudnnStatus_t status, const std::string& what) const;

  Library library;
  decltype(&cudnnGetVersion) get_version = nullptr;
  decltype(&cudnnGetErrorString) get_error = nullptr;
  decltype(&cudnnGetLastErrorString) get_last_error = nullptr;
  decltype(&cudnnCreate) create = nullptr;
  decltype(&cudnnDestroy) destroy = nullptr;
  decltype(&cudnnSetStream) set_stream = nullptr;
  decltype(&cudnnBackendCreateDescriptor) create_descriptor = nullptr;
  decltype(&cudnnBackendDestroyDescriptor) destroy_descriptor = nullptr;
  decltype(&cudnnBackendSetAttribute) set_attribute = nullptr;
  decltype(&cudnnBackendGetAttribute) get_attribute = nullptr;
  decltype(&cudnnBackendFinalize) finalize = nullptr;
  decltype(&cudnnBackendExecute) execute = nullptr;
};

/// cuDNN, initialised on the current GPU.
class Cudnn {
 public:
  /// @throws Refusal if cuDNN is missing, too old or does not start
  explicit Cudnn(std::size_t oldest_version);
  const CudnnLibrary& library() const { return *library_; }
  cudnnHandle_t handle() const { return handle_.get(); }

 private:
  std::shared_ptr<const CudnnLibrary> library_;
  std::shared_ptr<cudnnContext> handle_;
};

/// A descriptor of cuDNN's backend: created, given its attributes, finalized, used.
class CudnnDescriptor {
 public:
  /// @throws Refusal if cuDNN has no such descriptor
  CudnnDescriptor(const Cudnn& cudnn, cudnnBackendDescriptorType_t type);
  cudnnBackendDescriptor_t get() const { return descriptor_.get(); }

  /// @throws Refusal if cuDNN rejects the attribute
  template <class Value>
  CudnnDescriptor& set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                       const std::vector<Value>& given) {
    set(name, type, static_cast<std::int64_t>(given.size()), given.data());
    return *this;
  }
  template <class Value>
  CudnnDescriptor& set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                       const Value& value) {
    set(name, type, 1, &value);
    return *this;
  }
  /// The other descriptor lives as long as this one.
  CudnnDescriptor& set(cudnnBackendAttributeName_t name, const CudnnDescriptor& other) {
    others_.push_back(other);
    return set(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, other.get());
  }
  /// @throws Refusal if cuDNN does not support what the descriptor describes
  CudnnDescriptor& finalize(const std::string& what);

 private:
  void set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, std::int64_t count,
           const void* given);

  const CudnnLibrary* library_;
  /// cuDNN does not document whether a descriptor copies those it refers to.
  std::vector<CudnnDescriptor> others_;
  std::shared_ptr<void> descriptor_;
};

/// A graph of one operation, with the first plan of cuDNN's heuristics that the GPU supports.
class CudnnPlan {
 public:
  /// @throws Refusal if there is no such plan
  CudnnPlan(const Cudnn& cudnn, const CudnnDescriptor& operation);
  /// Sets the memory of the tensors; the plan owns its workspace.
  /// @param ids of the tensors
  /// @param memory of each: on the GPU, or host memory for tensors given by value; it must outlive the plan
  void bind(const std::vector<std::int64_t>& ids, const std::vector<void*>& memory);
  /// @pre bind() was called
  /// @throws Refusal if the call fails
  void issue(const Stream& stream) const;

 private:
  const Cudnn* cudnn_;
  std::unique_ptr<CudnnDescriptor> heuristics_;  ///< The plan may point to their results.
  std::unique_ptr<CudnnDescriptor> plan_;
  std::unique_ptr<CudnnDescriptor> variant_;
  DeviceBuffer workspace_;
};

}  // namespace gradway::probe

#endif
