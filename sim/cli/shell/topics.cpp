// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/shell/topics.hpp"

#include <algorithm>
#include <array>
#include <ostream>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/cli/shell/help.hpp"
#include "sim/config/find/scenario_keys.hpp"
#include "sim/config/yaml/quantities.hpp"
#include "sim/report/format/fields.hpp"
#include "sim/report/format/text.hpp"
#include "sim/report/show/show.hpp"

namespace gradway::cli {
namespace {

void write_keys_of(std::string_view group, std::ostream& out, const report::Style& style) {
  std::vector<config::ScenarioKey> keys;
  std::ranges::copy_if(config::described_keys(), std::back_inserter(keys),
                       [&](const config::ScenarioKey& key) { return key.name.starts_with(group); });
  report::write_keys(out, keys, style);
}

void write_scenario(std::ostream& out, const report::Style&) {
  out << "A scenario is a YAML file that describes the model, the platform, the job and the\nstrategy of a "
         "training step:\n\n"
         "  schema: 1\n"
         "  model: vit_l_32                # gradway list models\n"
         "  platform: aws-p4d.24xlarge     # gradway list platforms\n"
         "  job:\n"
         "    gpus: 8\n"
         "    batch_per_gpu: 32\n"
         "    precision: bf16\n"
         "  strategy: { kind: ddp, bucket_cap: 100 MiB }\n"
         "  optimizer: adamw\n\n"
         "'gradway init' writes one with comments. 'gradway list keys' lists all keys.\n"
         "'--set job.gpus=4' sets a key for one run; '--model', '--platform' and '--gpus' are\n"
         "short for the most frequent ones. 'based_on: NAME' inherits the keys of another\n"
         "scenario.\n";
}

void write_units(std::ostream& out, const report::Style& style) {
  out << "Every quantity has a unit, such as '450 GB/s', '25 MiB' or '1.1 us':\n\n";
  for (const auto& kind : config::quantity_kinds()) {
    std::vector<std::string_view> names;
    for (const auto& unit : kind.units) {
      const bool is_plain = std::ranges::all_of(unit.name, [](unsigned char c) { return c < 0x80; });
      if (is_plain) names.push_back(unit.name);
    }
    out << fmt::format("  {:<14}{}\n", kind.name, fmt::join(names, ", "));
  }
  out << '\n';
  for (const auto& line :
       report::wrap("kB, MB, GB and TB are powers of 1000, KiB, MiB, GiB and TiB powers of 1024. "
                    "Bits are not accepted: divide by 8. On the command line quote values with "
                    "blanks: --set strategy.bucket_cap='25 MiB'.",
                    style.width))
    out << line << '\n';
}

void write_sweep(std::ostream& out, const report::Style&) {
  out << "'gradway sweep SCENARIO --vary KEY=V1,V2 --vary KEY=V1,V2' simulates all\ncombinations of these "
         "values:\n\n"
         "  --vary job.gpus=1,2,4,8            values separated by commas\n"
         "  --vary job.batch_per_gpu=1..8      the whole numbers from 1 to 8\n"
         "  --vary strategy.bucket_cap='25 MiB,100 MiB'\n"
         "  --vary platform=aws-p4d.24xlarge,aws-p5.48xlarge\n\n"
         "Any key can be varied; '--set' sets the others. With '--out DIR' finished points are\n"
         "stored, so that a second run continues where the first stopped. '--shard 1/8' and\n"
         "'--merge DIR' distribute a sweep over several machines.\n"
         "'gradway optimize' searches for the best settings, and 'gradway compare' compares\n"
         "platforms.\n";
}

void write_names(std::ostream& out, const report::Style&) {
  out << "Scenarios, platforms, models, GPUs, calibrations and prices are files, which are used\n"
         "by name: 'model: gpt2' is the file models/gpt2.yaml. A name is looked up\n\n"
         "  1. in the folder of the scenario that uses it, or in models/, platforms/ ... there,\n"
         "  2. in the working folder, likewise,\n"
         "  3. in the folders of GRADWAY_PATH, separated by ':',\n"
         "  4. in gradway's own data.\n\n"
         "'gradway list' lists the names of each kind. An unknown name is an error with similar\n"
         "names as a hint: for 'h100' these are 'h100-sxm' and 'h100-pcie'.\n";
}

void write_platforms(std::ostream& out, const report::Style&) {
  out << "A platform describes a node, the connections of its parts, and the fabric between\nnodes.\n\n"
         "  gradway list platforms               all, with GPUs, links and prices\n"
         "  gradway list gpus                    memory, peak rates, measured kernels\n"
         "  gradway show platform NAME           one platform as gradway reads it\n"
         "  gradway compare SCENARIO --platforms 'aws-*,dgx-h100'\n\n"
         "A job uses as many nodes as its ranks need. To describe your own node, measure it\n"
         "with gradway-probe and run 'gradway import probe', or start from 'nvidia-smi topo -m'\n"
         "with 'gradway import topo'.\n";
}

void write_calibrations(std::ostream& out, const report::Style&) {
  out << "A calibration contains measurements of a node: collectives, links, kernels and their\n"
         "contention. They replace the nominal rates of datasheets. A platform names its\n"
         "calibration, and a GPU the calibration of its kernels.\n\n"
         "  gradway list calibrations            all, with their measurements\n"
         "  gradway show calibration NAME        its tables and their errors\n"
         "  gradway calibrate fit SAMPLES ...    make one from measurements of gradway-probe\n"
         "  gradway calibrate check NAME SAMPLES ...    compare one with measurements\n";
}

void write_layouts(std::ostream& out, const report::Style& style) {
  out << "The group 'parallel' of a scenario says how ranks share the model; the other ranks of\n"
         "job.gpus are data-parallel. 'gradway optimize SCENARIO --layout' searches for the\n"
         "fastest layout, and 'gradway show plan SCENARIO' draws the schedule of a pipeline. Its keys:\n\n";
  write_keys_of("parallel.", out, style);
}

void write_strategies(std::ostream& out, const report::Style& style) {
  out << "The group 'strategy' of a scenario says how data-parallel ranks exchange gradients\n"
         "and parameters. 'gradway explain SCENARIO' predicts the gain of its settings, and\n"
         "'gradway optimize SCENARIO' searches for the best ones. Its keys:\n\n";
  write_keys_of("strategy.", out, style);
}

void write_warnings(std::ostream& out, const report::Style& style) {
  std::size_t longest = 0;
  for (const auto& row : warning_table::rows) longest = std::max(longest, row.code.size());
  out << "A prediction lists what you should know before you rely on it. Each warning ends\n"
         "with its code in brackets; 'gradway help CODE' explains it. In report.json,\n"
         "'warnings' has the sentences and 'warning_codes' their codes.\n\n";
  for (const auto& row : warning_table::rows) {
    const auto lines = report::wrap(row.meaning, std::max(style.width, longest + 24) - longest - 4);
    out << fmt::format("  {:<{}}  {}\n", row.code, longest, lines.front());
    for (std::size_t i = 1; i < lines.size(); ++i) out << std::string(longest + 4, ' ') << lines[i] << '\n';
  }
}

void write_exit_status(std::ostream& out, const report::Style&) {
  for (const auto& [status, meaning] : exit_statuses())
    out << fmt::format("  {}  {}\n", static_cast<int>(status), meaning);
  out << "\nResults go to standard output, messages to standard error. With status 2 no file has\n"
         "been changed or written in part.\n";
}

}  // namespace

std::span<const Topic> topics() {
  static constexpr std::array table{
      Topic{"scenario", "what a scenario contains", write_scenario},
      Topic{"names", "where names are looked up", write_names},
      Topic{"units", "how quantities are written", write_units},
      Topic{"platforms", "hardware, including your own", write_platforms},
      Topic{"calibrations", "measurements of a node", write_calibrations},
      Topic{"strategies", "DDP, FSDP, ZeRO and their keys", write_strategies},
      Topic{"layouts", "tensor, pipeline, context and expert parallelism", write_layouts},
      Topic{"sweep", "many settings in one run", write_sweep},
      Topic{"warnings", "codes of warnings; 'gradway help CODE' explains one", write_warnings},
      Topic{"exit-status", "exit status of gradway", write_exit_status},
  };
  return table;
}

void write_warning(std::ostream& out, const WarningRow& warning, const report::Style& style) {
  for (const auto& line : report::wrap(warning.meaning, style.width)) out << line << '\n';
  out << '\n';
  report::Fields fields{out, style};
  fields.add("when", warning.when);
  fields.add("error", warning.error);
  fields.add("what to do", warning.advice);
}

}  // namespace gradway::cli
