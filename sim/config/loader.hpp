// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "sim/config/config.hpp"
#include "sim/config/find/document.hpp"
#include "sim/config/find/file_cache.hpp"
#include "sim/config/find/lookup.hpp"
#include "sim/config/find/resolve.hpp"
#include "sim/config/read/input.hpp"
#include "sim/config/read/read.hpp"
#include "sim/config/yaml/reader.hpp"

namespace gradway::config {

/// Measured costs of kernels, and the GPU on which they were timed.
struct KernelTimesSource {
  std::shared_ptr<const OperationCosts> costs{};
  std::string gpu{};
};

/// Reads files by name and collects their problems.
class Loader {
 public:
  Loader(const FoundFile& first, const DataPath& data)
      : lookup_{first, data}, folder_{first.path.parent_path()}, read_{data.read} {}
  Problems& problems() { return problems_; }

  ScenarioSpec scenario(const FoundFile& file, const std::vector<Override>& overrides);
  /// Reads the text of a scenario without a file.
  ScenarioSpec scenario(const std::string& shown, const std::string& text);
  ModelSpec model(const std::string& text, const std::string& name);
  /// @param changes keys of the file to which the scenario gives other values
  ModelSpec model(const FoundFile& file, const std::string& name, const std::vector<Entry>& changes = {});
  PlatformSpec platform(const FoundFile& file, const std::string& name);
  /// Chooses the price of the platform.
  void price(PlatformDescription& platform, const PriceChoice& choice, const DataPath& data);
  /// Names of the datasets with this content.
  std::vector<std::string> datasets_of(SampleContent content);
  Dataset dataset(const Named& name) { return read_named(DataKind::dataset, name, read_dataset); }
  StorageTier storage(const Named& name) { return read_named(DataKind::storage, name, read_storage); }
  GpuSpec gpu(const Named& name) { return read_named(DataKind::gpu, name, read_gpu); }
  /// The GPU of a platform, with the power limit that the platform sets.
  GpuSpec gpu_of(const PlatformSpec& platform);
  CalibrationSpec calibration(const std::optional<Named>& name) {
    return name ? read_named(DataKind::calibration, *name, read_calibration_of_platform) : CalibrationSpec{};
  }
  /// The kernel times of the platform's calibration, if they are of its GPU; else those of the GPU, and of
  /// the GPUs in 'kernel_times_like' for kernels that it lacks.
  KernelTimesSource kernel_times(const PlatformSpec& platform, const CalibrationSpec& measured,
                                 const GpuSpec& gpu);
  std::optional<FoundFile> find(DataKind kind, const Named& name);

 private:
  /// The result of `read`; cached if there is a cache.
  template <class Read>
  auto once(DataKind kind, const FoundFile& file, const std::string& name, const Read& read)
      -> std::invoke_result_t<const Read&, Problems&> {
    const bool may_be_stale = read_ && read_->outlives_texts() && lookup_.has_other_texts();
    return read_ && !file.text && !may_be_stale ? read_->once(kind, file, name, folder_, problems_, read)
                                                : read(problems_);
  }

  template <class Read>
  auto read_named(DataKind kind, const Named& name, const Read& read)
      -> decltype(read(std::declval<Reader&>(), "")) {
    const auto file = find(kind, name);
    if (!file) return {};
    return once(kind, *file, name.name, [&](Problems& problems) {
      const auto root = load_with_base(kind, *file, lookup_, problems);
      Reader reader{root, in_file(file->shown), problems};
      return read(reader, name.name);
    });
  }

  std::shared_ptr<const OperationCosts> kernel_times_of(const Named& name, const Gpu& gpu);
  KernelTimesSource kernel_times_of_gpus(const GpuSpec& gpu);

  Lookup lookup_;
  std::filesystem::path folder_;
  std::shared_ptr<FileCache> read_;
  std::map<std::pair<DataKind, std::string>, std::optional<FoundFile>> found_;  ///< empty: not found
  Problems problems_;
};

}  // namespace gradway::config
