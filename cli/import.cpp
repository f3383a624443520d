// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <memory>
#include <ostream>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include "cli/commands.hpp"
#include "cli/import/formats.hpp"
#include "cli/shell/argument_words.hpp"
#include "cli/shell/common_options.hpp"
#include "cli/shell/files.hpp"
#include "sim/base/nearest.hpp"
#include "sim/base/printable.hpp"

namespace gradway::cli {
namespace {

/// Joins `--step-time 39.3 ms`, whose unit the parser takes for a file.
void join_unit(ImportArguments& arguments) {
  constexpr std::array<std::string_view, 4> units{"ns", "us", "ms", "s"};
  const auto unit = std::ranges::find_first_of(arguments.files, units);
  const bool has_number = !arguments.step_time.empty() &&
                          arguments.step_time.find_first_not_of("0123456789.") == std::string::npos;
  if (!has_number || unit == arguments.files.end()) return;
  arguments.step_time += " " + *unit;
  arguments.files.erase(unit);
}

/// A format to import.
struct Format {
  std::string_view name;
  std::string_view file;  ///< description of FILE
  std::string_view becomes;
  void (*import)(const ImportArguments&, const CommandContext&);
  bool takes_several = false;  ///< takes several files
};
constexpr std::array formats{
    Format{"kineto",
           "PyTorch profiler trace of training steps of one GPU, alone or under DDP, with record_shapes=True",
           "a model", import_kineto_trace},
    Format{"nsys",
           "Nsight Systems report exported to SQLite: one GPU without DDP, in "
           "emit_nvtx(record_shapes=True)",
           "a model", import_nsys_export},
    Format{"chakra", "MLCommons Chakra execution trace of a data-parallel rank, binary or JSON", "a model",
           import_chakra_trace},
    Format{"probe", "samples of gradway-probe", "a platform", import_probe},
    Format{"topo", "output of `nvidia-smi topo -m`", "a platform", import_topo},
    Format{"nccl-topo", "NCCL's NCCL_TOPO_DUMP_FILE (NCCL_GRAPH_DUMP_FILE is printed)", "a platform",
           import_nccl_topo},
    Format{"nccl-tests", "logs of nccl-tests", "samples", import_nccl_tests, true},
    Format{"rccl-tests", "logs of rccl-tests, on GPUs of AMD", "samples", import_nccl_tests, true},
    Format{"nccl-log", "what a job printed with NCCL_DEBUG=INFO; with --platform it is checked", "a summary",
           import_nccl_log, true},
    Format{"deepspeed", "DeepSpeed's ds_config.json", "a scenario", import_deepspeed},
    Format{"torchtitan", "torchtitan's TOML or config_registry.py", "a scenario", import_torchtitan},
    Format{"megatron", "script, arguments or YAML of Megatron-LM; YAML of NeMo or Megatron-Bridge",
           "a scenario and its model", import_megatron},
    Format{"trainer",
           "YAML or script of Trainer, TRL, accelerate, LLaMA-Factory, axolotl, ms-swift, xtuner, Lightning, "
           "litgpt, torchtune",
           "a scenario", import_trainer, true},
    Format{"hf", "config.json of a Hugging Face model", "a model", import_hugging_face},
    Format{"dataset", "folder, tar file or Parquet file of samples", "a dataset", import_dataset},
    Format{"loader",
           "runs of a DataLoader with several numbers of workers, by the script in docs/data-path.md",
           "a dataset", import_loader},
    Format{"prices", "SkyPilot's vms.csv, or a table of prices (docs/files.md)", "prices", import_prices}};

/// An option, and the formats that take it.
struct Option {
  std::string_view name;
  std::string ImportArguments::*value;
  std::string_view type;
  std::string_view help;
  std::array<std::string_view, 8> formats;  ///< empty ones are unused

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
           "step time without the profiler, such as 39.3ms",
           {"kineto", "nsys", "chakra"}},
    Option{"--gpu",
           &ImportArguments::gpu,
           "NAME",
           "GPU, a name from 'gradway list gpus', if the file does not contain it",
           {"kineto", "nsys", "chakra", "topo", "nccl-topo"}},
    Option{"--precision",
           &ImportArguments::precision,
           "NAME",
           "fp32, tf32, bf16 or fp16, if the file does not contain it or is misleading",
           {"kineto", "nsys", "chakra", "deepspeed", "trainer"}},
    Option{"--batch",
           &ImportArguments::batch,
           "N",
           "samples per step and GPU, if the file does not contain it or is misleading",
           {"kineto", "nsys", "chakra", "deepspeed", "trainer"}},
    Option{"--parameters",
           &ImportArguments::parameters,
           "N",
           "parameters of the model, if the trace has no shapes, such as 1.2B",
           {"kineto"}},
    Option{"--sequence",
           &ImportArguments::sequence,
           "N",
           "tokens per sample, for models of text",
           {"kineto", "nsys", "chakra", "deepspeed", "torchtitan", "megatron", "trainer", "hf"}},
    Option{"--calibration",
           &ImportArguments::calibration,
           "NAME",
           "calibration for the platform to use, NAME of calibration/results/NAME",
           {"probe"}},
    Option{"--gpus",
           &ImportArguments::gpus,
           "N",
           "number of GPUs of the node or the job, if the file does not contain it",
           {"nccl-topo", "deepspeed", "torchtitan", "megatron", "trainer"}},
    Option{"--platform",
           &ImportArguments::platform,
           "NAME",
           "platform of the job or of the priced nodes, a name from 'gradway list platforms'",
           {"deepspeed", "torchtitan", "megatron", "trainer", "nccl-log", "prices"}},
    Option{"--model",
           &ImportArguments::model,
           "NAME",
           "model, a name from 'gradway list models', if the file does not contain it",
           {"deepspeed", "torchtitan", "megatron", "trainer"}},
    Option{"--config",
           &ImportArguments::config,
           "NAME",
           "function of a config_registry.py, such as llama3_8b",
           {"torchtitan"}},
    Option{"--date",
           &ImportArguments::date,
           "DATE",
           "date of prices, if the file does not contain it",
           {"prices"}},
    Option{"--operation",
           &ImportArguments::operation,
           "NAME",
           "all_reduce, all_gather ..., if the log does not contain it",
           {"nccl-tests", "rccl-tests"}},
    Option{"--transport",
           &ImportArguments::transport,
           "NAME",
           "p2p, shm or net, if the log does not contain it",
           {"nccl-tests", "rccl-tests"}},
    Option{"--ranks",
           &ImportArguments::ranks,
           "N",
           "number of ranks, if the log does not contain it",
           {"nccl-tests", "rccl-tests"}},
    Option{"--nodes",
           &ImportArguments::nodes,
           "N",
           "number of nodes, if the log does not contain it",
           {"nccl-tests", "rccl-tests"}}};

void check_options(const ImportArguments& arguments) {
  for (const auto& option : all_options) {
    if (option.is_for(arguments.format) || (arguments.*option.value).empty()) continue;
    const auto taking = option.taking();
    refuse(fmt::format("'gradway import {}' does not have '{}'", arguments.format, option.name),
           fmt::format("it is an option of {}", fmt::join(taking, ", ")));
  }
  if (arguments.json && arguments.format != "nccl-log") {
    refuse(fmt::format("'gradway import {}' does not have '--json'", arguments.format),
           "it is an option of nccl-log");
  }
  const bool is_tests = arguments.format == "nccl-tests" || arguments.format == "rccl-tests";
  if (arguments.in_place && !is_tests) {
    refuse(fmt::format("'gradway import {}' does not have '--in-place'", arguments.format),
           "it is an option of nccl-tests and rccl-tests");
  }
}

Status import(ImportArguments arguments, const CommandContext& context) {
  const auto& format =
      row_named(formats, arguments.format, fmt::format("there is no import format '{}'", arguments.format));
  join_unit(arguments);
  if (arguments.files.empty()) refuse("'gradway import' needs FILE", "see 'gradway import --help'");
  if (arguments.files.size() > 1 && !format.takes_several)
    refuse(fmt::format("unexpected argument '{}' of 'gradway import'", arguments.files[1]),
           "see 'gradway import --help'");
  check_options(arguments);
  format.import(arguments, context);
  return Status::done;
}

/// One line per format, after a summary.
std::string help_of_formats() {
  std::string help = "format of FILE, and what is made from it";
  for (const auto& format : formats)
    help += fmt::format("\n{}: {} -> {}", format.name, format.file, format.becomes);
  return help;
}

}  // namespace

std::vector<std::string> import_formats() {
  return names_of(formats);
}

bool print_or_write(const std::string& text, const ImportArguments& arguments,
                    const CommandContext& context) {
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
  app.add_option("FILE", arguments->files,
                 "file to import, plain or compressed by gzip; several for nccl-tests, rccl-tests, nccl-log "
                 "and trainer")
      ->required()
      ->expected(1, 1 << 16);
  app.add_option("-o,--out", arguments->out, "file to write (default: print its content)")->type_name("FILE");
  for (const auto& option : all_options) {
    const auto help = fmt::format("{}: {}", fmt::join(option.taking(), ", "), option.help);
    app.add_option(std::string{option.name}, (*arguments).*option.value, help)
        ->type_name(std::string{option.type});
  }
  add_flag(app, "--in-place", arguments->in_place,
           "nccl-tests, rccl-tests: use in-place instead of out-of-place times");
  add_flag(app, "--json", arguments->json, "nccl-log: print the summary as JSON");
  add_flag(app, "--force", arguments->force, "replace an existing file");
  return [arguments](const CommandContext& context) { return import(*arguments, context); };
}

}  // namespace gradway::cli
