// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <filesystem>
#include <memory>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "sim/base/nearest.hpp"
#include "sim/base/printable.hpp"
#include "sim/cli/argument_words.hpp"
#include "sim/cli/commands.hpp"
#include "sim/cli/files.hpp"
#include "sim/import/chakra/chakra_file.hpp"
#include "sim/plan/plan.hpp"
#include "sim/report/chakra_nodes.hpp"

namespace gradway::cli {
namespace {

struct ExportArguments {
  std::string format;
  std::string scenario;
  std::vector<std::string> set;
  std::string out;
};

constexpr std::array<std::string_view, 1> formats_to_export{"chakra"};

/// "DIR/NAME.RANK.et" of each rank, which ASTRA-sim is given as "DIR/NAME", and the groups of its ranks.
Status export_chakra(const ExportArguments& arguments, const Surroundings& around) {
  check_folder(arguments.out);
  const auto scenario = load_scenario(arguments.scenario, parse_overrides(arguments.set), around.data);
  const auto workload = plan(scenario, compute_costs(scenario));
  std::vector<OutputFile> files;
  for (int rank = 0; rank < workload.ranks; ++rank) {
    files.push_back({fmt::format("{}.{}.et", scenario.name, rank), [&workload, rank](std::ostream& out) {
                       out << chakra_bytes(
                           report::chakra_nodes(workload, ActorId{static_cast<std::uint32_t>(rank)}));
                     }});
  }
  files.push_back(
      {"comm_group.json", [&](std::ostream& out) { report::write_chakra_groups(out, workload); }});
  write_files(arguments.out, files);
  const auto path = [&](const std::string& name) {
    return printable((std::filesystem::path{arguments.out} / name).string());
  };
  around.messages << fmt::format("wrote {}{} and {}\n", path(files.front().name),
                                 workload.ranks == 1 ? "" : " to " + path(files[files.size() - 2].name),
                                 path(files.back().name));
  return Status::done;
}

Status export_scenario(const ExportArguments& arguments, const Surroundings& around) {
  if (arguments.format != formats_to_export.front())
    refuse(fmt::format("cannot export '{}'", arguments.format),
           suggestion(arguments.format, export_formats()));
  return export_chakra(arguments, around);
}

}  // namespace

std::vector<std::string> export_formats() {
  return {formats_to_export.begin(), formats_to_export.end()};
}

Action add_export(CLI::App& app) {
  const auto arguments = std::make_shared<ExportArguments>();
  app.add_option("FORMAT", arguments->format,
                 "chakra: execution traces of MLCommons Chakra, a file a rank, as ASTRA-sim reads them")
      ->required();
  add_scenario(app, arguments->scenario);
  add_overrides(app, arguments->set);
  app.add_option("-o,--out", arguments->out, "folder for NAME.RANK.et and comm_group.json")
      ->type_name("DIR")
      ->required();
  return [arguments](const Surroundings& around) { return export_scenario(*arguments, around); };
}

}  // namespace gradway::cli
