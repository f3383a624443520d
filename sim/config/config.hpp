// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/problem.hpp"
#include "sim/cost/calibration.hpp"
#include "sim/platform/platform.hpp"
#include "sim/scenario/scenario.hpp"
#include "sim/workload/model.hpp"

namespace gradway {

/// A key of a scenario with dots and the value it gets: `--set key=value`, or a row of a file of cases.
struct Override {
  std::string key;    ///< for example "strategy.bucket_cap"
  std::string value;  ///< YAML text, for example "25 MiB"
  Where where{};      ///< where it was written; without a file: on the command line
};

class FileCache;

/// Folders with models/, platforms/, calibration/results/ and scenarios/; the first one that has a file is
/// used. The folder of the scenario and the working folder always precede them. A file that replaces one of
/// the last folder, the installed data, is noted in the scenario's warnings.
struct DataPath {
  std::vector<std::filesystem::path> roots;  ///< GRADWAY_PATH in its order, then the installed data
  std::shared_ptr<FileCache> read{};         ///< cache of files that were read; null: none
  /// Texts that replace files of these names, such as "models/mine.yaml", for programs that call gradway.
  std::map<std::string, std::string> texts{};
};

/// Adds a cache that reads each file once. Later changes of a file are not noticed.
DataPath with_file_cache(DataPath data);

/// Adds a cache for long-running programs: a file that has changed is read again. The file that another one
/// is based on is looked up again only when one of them changes.
DataPath with_refreshing_file_cache(DataPath data);

/// Kinds of files that have a name.
enum class DataKind { scenario, platform, gpu, model, calibration, prices, storage, dataset };

/// Options that choose one of a platform's prices; empty ones were not given.
struct PriceChoice {
  std::string file{};    ///< path or name of a file of prices, which replace those of the platforms in it
  std::string date{};    ///< date of the price; else the newest
  std::string region{};  ///< empty: that of the platform's first price, if it has one on these terms
  std::string terms{};   ///< a word of `terms_words`; empty: on_demand
};

/// A measured step of a scenario with some keys changed.
struct Case {
  std::string name;
  std::string scenario_file;  ///< ready for `load_scenario`
  std::vector<Override> set;
  Seconds measured{};                           ///< step time; unused with a bus bandwidth
  std::optional<BytesPerSecond> bus_bandwidth;  ///< with strategy.kind collective
  Where where;
};

/// A file of cases.
struct Cases {
  std::string source;
  std::vector<Case> cases;
};

/// Reads a scenario and all files that it names, applies the overrides in order, and cross-checks the result.
///
/// @param file a path, or a name that `list_names` knows.
/// @throws ConfigError with every problem of every file that was read.
Scenario load_scenario(const std::string& file, const std::vector<Override>& overrides, const DataPath& data,
                       const PriceChoice& price = {});

/// Reads the text of a scenario that gradway is about to write as this file, and all files that it names.
/// @param model text of the model that it names, if it has no file yet
/// @throws ConfigError with every problem; those of the scenario and the model have places in their texts
Scenario load_scenario_text(const std::string& text, const std::string& file, const DataPath& data,
                            const std::string& model = {});

/// The problems that `load_scenario` finds before it cross-checks model, platform and job. Fast enough for
/// every point of a sweep.
/// @return empty does not mean that the cross-checks succeed
std::vector<Problem> check_values(const std::string& file, const std::vector<Override>& overrides,
                                  const DataPath& data, const PriceChoice& price = {});

/// Reads a file of cases. The scenarios it names must exist but are not read.
/// @throws ConfigError with every problem of the file.
Cases load_cases(const std::string& file, const DataPath& data);

/// Reads a platform, by name or path. @param ranks how many GPUs a generated platform gets.
/// @param calibration receives the calibration that the platform names, or an empty one. Null: the
/// calibration is not read and need not exist.
/// @throws ConfigError with every problem of every file that was read.
Platform load_platform(const std::string& name, int ranks, const DataPath& data,
                       Calibration* calibration = nullptr);

/// Reads a GPU by the name of its file: in gpus/ next to a platform's file, or in the data folders.
/// @param platform the platform's file, which need not exist. @throws ConfigError with every problem of
/// the file.
Gpu load_gpu(const std::string& name, const std::string& platform, const DataPath& data);

/// The names that a file can use: of files next to it and in the data folders, sorted, without duplicates.
/// The file need not exist.
std::vector<std::string> available_names(DataKind kind, const std::string& file, const DataPath& data);

/// The GPU whose kernel times are used for a GPU: itself, or one whose times are scaled to it; "": none.
/// @throws ConfigError with every problem of its file.
std::string gpu_of_kernel_times(const std::string& gpu, const DataPath& data);

/// The names that `load_gpu` accepts, sorted, without duplicates.
std::vector<std::string> gpu_names(const std::string& platform, const DataPath& data);

/// Reads a model, by name or path. @throws ConfigError with every problem of the file.
Model load_model(const std::string& name, const DataPath& data);

/// Reads a storage tier, by name or path. @throws ConfigError with every problem of the file.
StorageTier load_storage(const std::string& name, const DataPath& data);
/// Reads a dataset, by name or path. @throws ConfigError with every problem of the file.
Dataset load_dataset(const std::string& name, const DataPath& data);

/// Reads a calibration, by name or path. @throws ConfigError with every problem of the file.
Calibration load_calibration(const std::string& name, const DataPath& data);

/// The source of a file of prices, by name or path. @throws ConfigError with every problem of the file.
std::string load_source_of_prices(const std::string& name, const DataPath& data);

/// Checks text that gradway is about to write as a file of this kind. Files that it names are not read.
/// @pre a platform, GPU, model, calibration or dataset
/// @throws ConfigError with every problem, at its place in the text
void check_text(DataKind kind, const std::string& text);

/// The file that a name means in a scenario. Paths are not names.
/// @param scenario the scenario's file, which need not exist; "": one in the working folder
/// @throws ConfigError at `where` for an unknown name
std::filesystem::path find_name(DataKind kind, const std::string& name, const DataPath& data,
                                const Where& where = {}, const std::string& scenario = {});

/// The file of the model that an argument means: a file with the keys of a model, or a name that a model has
/// and no scenario. None if it means a scenario, or nothing.
std::optional<std::filesystem::path> model_file_of(const std::string& argument, const DataPath& data);

/// The GPU that a platform names; "" if its file has an error.
std::string gpu_of_platform(const std::string& platform, const DataPath& data);

/// The names of all files of a kind in the working folder's folders of data and in the data folders, sorted,
/// without duplicates. Unreadable folders are skipped.
std::vector<std::string> list_names(DataKind kind, const DataPath& data);

}  // namespace gradway
