// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <memory>
#include <ostream>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include "sim/base/nearest.hpp"
#include "sim/base/printable.hpp"
#include "sim/cli/commands.hpp"
#include "sim/cli/import/formats.hpp"
#include "sim/cli/shell/argument_words.hpp"
#include "sim/cli/shell/files.hpp"

namespace gradway::cli {
namespace {

/// `--step-time 39.3 ms` comes as three words, of which the last one looks like a file.
void join_unit(ImportArguments& arguments) {
  constexpr std::array<std::string_view, 4> units{"ns", "us", "ms", "s"};
  const auto unit = std::ranges::find_first_of(arguments.files, units);
  const bool has_number = !arguments.step_time.empty() &&
                          arguments.step_time.find_first_not_of("0123456789.") == std::string::npos;
  if (!has_number || unit == arguments.files.end()) return;
  arguments.step_time += " " + *unit;
  arguments.files.erase(unit);
}

/// What can be imported.
struct Format {
  std::string_view name;
  std::string_view file;  ///< what its FILE is
  std::string_view becomes;
  void (*import)(const ImportArguments&, const CommandContext&);
  bool takes_several = false;  ///< files
};
constexpr std::array formats{
    Format{"kineto",
           "a PyTorch profiler trace of training steps on one GPU without DDP, with record_shapes=True",
           "a model", import_kineto_trace},
    Format{"nsys",
           "a report of Nsight Systems exported to SQLite: one GPU without DDP, in "
           "emit_nvtx(record_shapes=True)",
           "a model", import_nsys_export},
    Format{"chakra", "an execution trace of a data-parallel rank by MLCommons Chakra, or its JSON", "a model",
           import_chakra_trace},
    Format{"probe", "samples of gradway-probe", "a platform", import_probe},
    Format{"topo", "the text of `nvidia-smi topo -m`", "a platform", import_topo},
    Format{"nccl-topo", "NCCL's XML, NCCL_TOPO_DUMP_FILE (NCCL_GRAPH_DUMP_FILE is printed)", "a platform",
           import_nccl_topo},
    Format{"nccl-tests", "logs of nccl-tests", "samples", import_nccl_tests, true},
    Format{"deepspeed", "DeepSpeed's ds_config.json", "a scenario", import_deepspeed},
    Format{"torchtitan", "torchtitan's TOML", "a scenario", import_torchtitan},
    Format{"megatron", "a script or the arguments of Megatron-LM, or their YAML", "a scenario and its model",
           import_megatron},
    Format{"hf", "the config.json of a Hugging Face model", "a model", import_hugging_face},
    Format{"dataset", "a folder of samples, or a tar or Parquet file of them (FILE or FOLDER)", "a dataset",
           import_dataset},
    Format{"loader",
           "runs of a DataLoader with several numbers of workers (docs/data-path.md has the script)",
           "a dataset", import_loader}};

/// An option, and the formats that take it.
struct Option {
  std::string_view name;
  std::string ImportArguments::*value;
  std::string_view type;
  std::string_view help;
  std::array<std::string_view, 7> formats;  ///< empty ones do not count

  bool is_for(std::string_view format) const { return std::ranges::find(formats, format) != formats.end(); }
  std::vector<std::string_view> taking() const {
    std::vector<std::string_view> names;
    std::ranges::copy_if(formats, std::back_inserter(names), [](auto format) { return !format.empty(); });
    return names;
  }
};
constexpr std::array all_options{
    Option{"--step-time",
           &ImportArguments::step_time,
           "TIME",
           "the step without the profiler, as in 39.3ms",
           {"kineto", "nsys", "chakra"}},
    Option{"--gpu",
           &ImportArguments::gpu,
           "NAME",
           "a name of platforms/gpus, if the file does not say it",
           {"kineto", "nsys", "chakra", "topo", "nccl-topo"}},
    Option{"--precision",
           &ImportArguments::precision,
           "NAME",
           "fp32, tf32, bf16 or fp16, if the trace misleads or the file does not say it",
           {"kineto", "nsys", "chakra", "deepspeed"}},
    Option{"--batch",
           &ImportArguments::batch,
           "N",
           "samples of a step on a GPU, if the trace misleads or the file does not say it",
           {"kineto", "nsys", "chakra", "deepspeed"}},
    Option{"--sequence",
           &ImportArguments::sequence,
           "N",
           "tokens a sample, of a model of text",
           {"kineto", "nsys", "chakra", "deepspeed", "torchtitan", "megatron", "hf"}},
    Option{"--calibration",
           &ImportArguments::calibration,
           "NAME",
           "that the platform shall use, NAME of calibration/results/NAME",
           {"probe"}},
    Option{"--gpus",
           &ImportArguments::gpus,
           "N",
           "GPUs of the node, or of the job, if the file does not say it",
           {"nccl-topo", "deepspeed", "torchtitan", "megatron"}},
    Option{"--platform",
           &ImportArguments::platform,
           "NAME",
           "a name of platforms, where it trains",
           {"deepspeed", "torchtitan", "megatron"}},
    Option{"--model",
           &ImportArguments::model,
           "NAME",
           "a name of models, if the file does not say it",
           {"deepspeed", "torchtitan", "megatron"}},
    Option{"--operation",
           &ImportArguments::operation,
           "NAME",
           "all_reduce, all_gather ..., if the log does not say it",
           {"nccl-tests"}},
    Option{"--transport",
           &ImportArguments::transport,
           "NAME",
           "p2p, shm or net, if the log does not say it",
           {"nccl-tests"}},
    Option{"--ranks", &ImportArguments::ranks, "N", "if the log does not say it", {"nccl-tests"}},
    Option{"--nodes", &ImportArguments::nodes, "N", "if the log does not say it", {"nccl-tests"}}};

void check_options(const ImportArguments& arguments) {
  for (const auto& option : all_options) {
    if (option.is_for(arguments.format) || (arguments.*option.value).empty()) continue;
    const auto taking = option.taking();
    refuse(fmt::format("'gradway import {}' has no use for '{}'", arguments.format, option.name),
           fmt::format("'gradway import {}' {} it", fmt::join(taking, ", "),
                       taking.size() > 1 ? "take" : "takes"));
  }
  if (arguments.in_place && arguments.format != "nccl-tests") {
    refuse(fmt::format("'gradway import {}' has no use for '--in-place'", arguments.format),
           "'gradway import nccl-tests' takes it");
  }
}

Status import(ImportArguments arguments, const CommandContext& context) {
  const auto format = std::ranges::find(formats, arguments.format, &Format::name);
  if (format == formats.end())
    refuse(fmt::format("cannot import '{}'", arguments.format),
           suggestion(arguments.format, import_formats()));
  join_unit(arguments);
  if (arguments.files.empty()) refuse("'gradway import' needs FILE", "see 'gradway import --help'");
  if (arguments.files.size() > 1 && !format->takes_several)
    refuse(fmt::format("'gradway import' has no use for '{}'", arguments.files[1]),
           "see 'gradway import --help'");
  check_options(arguments);
  format->import(arguments, context);
  return Status::done;
}

/// What is imported, and what it becomes, of each format.
std::string help_of_formats() {
  std::string help;
  for (const auto& format : formats)
    help += fmt::format("{}{}: {} becomes {}", help.empty() ? "" : "; ", format.name, format.file,
                        format.becomes);
  return help;
}

}  // namespace

std::vector<std::string> import_formats() {
  std::vector<std::string> names;
  for (const auto& known : formats) names.emplace_back(known.name);
  return names;
}

bool put_text(const std::string& text, const ImportArguments& arguments, const CommandContext& context) {
  if (arguments.out.empty()) {
    context.results << text;
    return false;
  }
  write_file(arguments.out, arguments.force, [&](std::ostream& out) { out << text; });
  context.results << context.style.paint(report::Paint::bold, printable(arguments.out)) << '\n';
  return true;
}

Action add_import(CLI::App& app) {
  const auto arguments = std::make_shared<ImportArguments>();
  app.add_option("FORMAT", arguments->format, help_of_formats())->required();
  app.add_option("FILE", arguments->files, "what is imported, plain or packed by gzip; of nccl-tests several")
      ->required()
      ->expected(1, 1 << 16);
  app.add_option("-o,--out", arguments->out, "the file to write; without it, what it would hold is printed")
      ->type_name("FILE");
  for (const auto& option : all_options) {
    const auto help = fmt::format("{}: {}", fmt::join(option.taking(), ", "), option.help);
    app.add_option(std::string{option.name}, (*arguments).*option.value, help)
        ->type_name(std::string{option.type});
  }
  app.add_flag("--in-place", arguments->in_place, "nccl-tests: the times in place rather than out of place")
      ->disable_flag_override();
  app.add_flag("--force", arguments->force, "replace the file if it is there")->disable_flag_override();
  return [arguments](const CommandContext& context) { return import(*arguments, context); };
}

}  // namespace gradway::cli
