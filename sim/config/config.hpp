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

class FilesRead;

/// Folders that hold models/, platforms/, calibration/results/ and scenarios/, the first one that has a file
/// wins. The folder of the scenario itself always comes before them. A name that the last folder has too, but
/// is taken from elsewhere, is noted in the scenario's warnings.
struct DataPath {
  std::vector<std::filesystem::path> roots;  ///< GRADWAY_PATH in its order, then the installed data
  std::shared_ptr<FilesRead> read{};  ///< what was read is kept there; none: files are read anew each time
  /// Stand for scenarios and cases of these names before any file does: of a program that calls gradway.
  std::map<std::string, std::string> texts{};
};

/// The same for something that needs the same files often: what changes in one that was read is not noticed.
DataPath each_file_once(DataPath data);

/// The same for a program that runs for long: a file that has changed is read anew. What a file is based on
/// is looked up when it is read, and then not before one of them changes.
DataPath each_file_until_it_changes(DataPath data);

/// What a name can stand for.
enum class DataKind { scenario, platform, gpu, model, calibration, prices, storage, dataset };

/// Which of a platform's prices counts, as options say it; empty ones were not given.
struct PriceChoice {
  std::string file{};    ///< of prices that replace those of the platforms it names: a path, or a name
  std::string date{};    ///< the price of this day; else the newest
  std::string region{};  ///< else that of the platform's first price
};

/// A measured step of a scenario with some keys changed.
struct Case {
  std::string name;
  std::string scenario_file;  ///< ready for `load_scenario`
  std::vector<Override> set;
  Seconds measured{};                           ///< of a step; not used if the bus bandwidth is given
  std::optional<BytesPerSecond> bus_bandwidth;  ///< measured, of a strategy of kind collective
  Where where;
};

/// A file of cases.
struct Cases {
  std::string source;
  std::vector<Case> cases;
};

/// Reads a scenario and all that it names, applies the overrides in order, and checks everything against
/// everything.
///
/// @param file a path, or a name that `list_names` knows.
/// @throws ConfigError with every problem of every file that was read.
Scenario load_scenario(const std::string& file, const std::vector<Override>& overrides, const DataPath& data,
                       const PriceChoice& price = {});

/// Reads the text of a scenario as `load_scenario` would read it from that file, which need not be there, and
/// all that it names: for what gradway itself writes. @param model text of the model that it names, if no
/// file has it yet
/// @throws ConfigError with every problem, those of the scenario and the model at their places in the text
Scenario load_scenario_text(const std::string& text, const std::string& file, const DataPath& data,
                            const std::string& model = {});

/// What is wrong with the values of a scenario: what `load_scenario` would complain of before it sets the
/// model, the platform and the job against each other. Quick enough to be asked of every point of a sweep
/// beforehand.
/// @return no problem: it may still be that the scenario does not fit together
std::vector<Problem> problems_of_values(const std::string& file, const std::vector<Override>& overrides,
                                        const DataPath& data, const PriceChoice& price = {});

/// Reads a file of cases. The scenarios it names must exist but are not read.
/// @throws ConfigError with every problem of the file.
Cases load_cases(const std::string& file, const DataPath& data);

/// Reads a platform, by name or path. @param ranks how many GPUs a generated platform gets.
/// @param calibration if given, gets the calibration that the platform names, or an empty one; else there
/// need be none of that name yet.
/// @throws ConfigError with every problem of every file that was read.
Platform load_platform(const std::string& name, int ranks, const DataPath& data,
                       Calibration* calibration = nullptr);

/// Reads a GPU, by the name of its file: in gpus/ beside a platform's file, or in the data folders.
/// @param platform the platform's file, which need not be there. @throws ConfigError with every problem of
/// the file.
Gpu load_gpu(const std::string& name, const std::string& platform, const DataPath& data);

/// The names that a file may use, beside itself or in the data folders, sorted, each once. The file need not
/// be there.
std::vector<std::string> names_beside(DataKind kind, const std::string& file, const DataPath& data);

/// The GPU on which the kernels were timed that stand for those of a GPU: itself, or one whose times are
/// moved to it; "": none. @throws ConfigError with every problem of its file.
std::string kernels_timed_on(const std::string& gpu, const DataPath& data);

/// The names that `load_gpu` knows, sorted, each once.
std::vector<std::string> gpu_names(const std::string& platform, const DataPath& data);

/// Reads a model, by name or path. @throws ConfigError with every problem of the file.
Model load_model(const std::string& name, const DataPath& data);

/// Reads a storage tier, by name or path. @throws ConfigError with every problem of the file.
StorageTier load_storage(const std::string& name, const DataPath& data);
/// The same of a dataset.
Dataset load_dataset(const std::string& name, const DataPath& data);

/// Reads a calibration, by name or path. @throws ConfigError with every problem of the file.
Calibration load_calibration(const std::string& name, const DataPath& data);

/// Where the prices of a file come from, by name or path. @throws ConfigError with every problem of the file.
std::string load_source_of_prices(const std::string& name, const DataPath& data);

/// The names of all files of a kind in the data folders, sorted, each once. Unreadable folders are left out.
std::vector<std::string> list_names(DataKind kind, const DataPath& data);

}  // namespace gradway
