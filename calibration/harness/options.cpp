// SPDX-License-Identifier: Apache-2.0
#include "calibration/harness/options.hpp"

#include <algorithm>
#include <ostream>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include "sim/base/nearest.hpp"

namespace gradway::probe {
namespace {

const std::vector<std::string> sections{"links", "kernels", "collectives", "beside", "load", "host"};

Status refuse(std::ostream& messages, const std::string& what, const std::string& hint) {
  messages << "error: " << what << '\n';
  if (!hint.empty()) messages << "  hint: " << hint << '\n';
  return Status::wrong_input;
}

}  // namespace

std::pair<std::optional<Options>, Status> read_options(int count, char** arguments,
                                                       const std::string& version, std::ostream& results,
                                                       std::ostream& messages) {
  Options options;
  CLI::App app{"Measures this node's links, kernels and collectives, for `gradway calibrate fit`.",
               "gradway-probe"};
  app.set_version_flag("--version", "gradway-probe " + version);
  app.add_option("-o,--out", options.out, "file for the samples; compressed if the name ends in .gz")
      ->type_name("FILE")
      ->default_str("samples.json.gz");
  app.add_flag("--force", options.force, "replace an existing file");
  auto* const quick = app.add_flag("--quick", options.quick, "fewer sizes: about one minute instead of five");
  app.add_flag(
         "--adapt", options.adapt,
         "only what differs between machines of a kind, about one minute: for `gradway calibrate adapt`")
      ->excludes(quick);
  app.add_option("--only", options.only, fmt::format("only these sections: {}", fmt::join(sections, ",")))
      ->delimiter(',')
      ->type_name("A,B");
  app.add_option("--gpus", options.gpus, "use only the first N GPUs")
      ->type_name("N")
      ->check(CLI::Range(1, 1024));
  app.add_option("--libraries", options.libraries,
                 "search this folder first for NCCL, cuBLAS and cuDNN, such as the site-packages of PyTorch")
      ->type_name("DIR")
      ->check(CLI::ExistingDirectory);
  app.footer("On several nodes, start one process per GPU with torchrun and the same options.");
  try {
    app.parse(count, arguments);
  } catch (const CLI::Success& success) {
    app.exit(success, results, messages);
    return {std::nullopt, Status::done};
  } catch (const CLI::ParseError& error) {
    return {std::nullopt, refuse(messages, error.what(), "gradway-probe --help lists the options")};
  }
  for (const auto& section : options.only) {
    if (std::ranges::find(sections, section) == sections.end())
      return {std::nullopt,
              refuse(messages, fmt::format("unknown section '{}'", section), suggestion(section, sections))};
  }
  return {options, Status::done};
}

}  // namespace gradway::probe
