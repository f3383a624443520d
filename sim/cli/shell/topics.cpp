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
  out << "A scenario says what is trained, where, and how, in a YAML file:\n\n"
         "  schema: 1\n"
         "  model: vit_l_32                # gradway list models\n"
         "  platform: aws-p4d.24xlarge     # gradway list platforms\n"
         "  job:\n"
         "    gpus: 8\n"
         "    batch_per_gpu: 32\n"
         "    precision: bf16\n"
         "  strategy: { kind: ddp, bucket_cap: 100 MiB }\n"
         "  optimizer: adamw\n\n"
         "'gradway init' writes one with what each line does. 'gradway list keys' has all\n"
         "keys. '--set job.gpus=4' changes a key for one run; '--model', '--platform' and\n"
         "'--gpus' of 'gradway run' are short for the keys that are changed most.\n"
         "'based_on: NAME' takes over the keys of another scenario.\n";
}

void write_units(std::ostream& out, const report::Style& style) {
  out << "Every quantity has its unit, as in '450 GB/s', '25 MiB' or '1.1 us':\n\n";
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
       report::wrap("kB, MB, GB and TB count in thousands, KiB, MiB, GiB and TiB in 1024s. "
                    "Bits are refused: divide by 8. On the command line quote what has a "
                    "blank in it: --set strategy.bucket_cap='25 MiB'.",
                    style.width))
    out << line << '\n';
}

void write_sweep(std::ostream& out, const report::Style&) {
  out << "'gradway sweep SCENARIO --vary KEY=V1,V2 --vary KEY=V1,V2' runs the cross product:\n\n"
         "  --vary job.gpus=1,2,4,8            values with commas between them\n"
         "  --vary job.batch_per_gpu=1..8      the whole numbers from 1 to 8\n"
         "  --vary strategy.bucket_cap='25 MiB,100 MiB'\n"
         "  --vary platform=aws-p4d.24xlarge,aws-p5.48xlarge\n\n"
         "Any key that '--set' takes can vary; '--set' changes the others. With '--out DIR'\n"
         "finished points are kept, and a second run does only the rest; '--shard 1/8' and\n"
         "'--merge DIR' do the same on several machines.\n"
         "'gradway optimize' searches instead, and 'gradway compare SCENARIO --platforms\n"
         "'aws-*'' sets platforms side by side.\n";
}

void write_names(std::ostream& out, const report::Style&) {
  out << "Scenarios, platforms, models, GPUs, calibrations and prices are files that names\n"
         "stand for: 'model: gpt2' is models/gpt2.yaml. A name is looked up\n\n"
         "  1. beside the scenario that uses it,\n"
         "  2. in the folders of GRADWAY_PATH, with ':' between them,\n"
         "  3. in the data that came with gradway.\n\n"
         "'gradway list' has the names of each kind. A name that nothing has is an error,\n"
         "which says what is near: 'h100' is told 'h100-sxm' and 'h100-pcie'.\n";
}

void write_platforms(std::ostream& out, const report::Style&) {
  out << "A platform is a node, how its parts are connected, and a fabric between nodes.\n\n"
         "  gradway list platforms               all, with GPUs, links and prices\n"
         "  gradway list gpus                    memory, peaks, what is known of kernels\n"
         "  gradway show platform NAME           what gradway understood of one\n"
         "  gradway compare SCENARIO --platforms 'aws-*,dgx-h100'\n\n"
         "A job takes as many nodes as its ranks need. A node of your own: measure it with\n"
         "gradway-probe and 'gradway import probe', or start from 'nvidia-smi topo -m' with\n"
         "'gradway import topo'.\n";
}

void write_calibrations(std::ostream& out, const report::Style&) {
  out << "A calibration holds what was measured on a node, and replaces first principles\n"
         "where it has something: collectives, links, kernels, what they cost each other. A\n"
         "platform names the one that is its own, a GPU that of its kernels.\n\n"
         "  gradway list calibrations            all, with what was measured\n"
         "  gradway show calibration NAME        its tables, and how far they are off\n"
         "  gradway calibrate fit SAMPLES ...    makes one from what gradway-probe measured\n"
         "  gradway calibrate check NAME SAMPLES ...\n";
}

void write_layouts(std::ostream& out, const report::Style& style) {
  out << "How ranks share the model is the group 'parallel' of a scenario; what is left of\n"
         "job.gpus is data parallel. 'gradway optimize SCENARIO --layout' searches,\n"
         "'gradway show plan SCENARIO' draws the schedule of a pipeline. Its keys:\n\n";
  write_keys_of("parallel.", out, style);
}

void write_strategies(std::ostream& out, const report::Style& style) {
  out << "What data-parallel ranks do is the group 'strategy' of a scenario. 'gradway\n"
         "explain SCENARIO' says what its settings would bring, 'gradway optimize SCENARIO'\n"
         "searches them. Its keys:\n\n";
  write_keys_of("strategy.", out, style);
}

void write_warnings(std::ostream& out, const report::Style& style) {
  std::size_t width = 0;
  for (const auto& row : report::warning_help()) width = std::max(width, row.code.size());
  out << "A prediction lists what you should know before you rely on it. Each warning ends\n"
         "with its code in brackets; 'gradway help CODE' explains it. In report.json,\n"
         "'warnings' has the sentences and 'warning_codes' their codes.\n\n";
  for (const auto& row : report::warning_help()) {
    const auto lines = report::wrap(row.meaning, std::max(style.width, width + 24) - width - 4);
    out << fmt::format("  {:<{}}  {}\n", row.code, width, lines.front());
    for (std::size_t i = 1; i < lines.size(); ++i) out << std::string(width + 4, ' ') << lines[i] << '\n';
  }
}

void write_exit_status(std::ostream& out, const report::Style&) {
  for (const auto& [status, meaning] : exit_statuses())
    out << fmt::format("  {}  {}\n", static_cast<int>(status), meaning);
  out << "\nResults go to standard output, messages to standard error. What ends with 2 has\n"
         "changed nothing and left nothing half-written.\n";
}

}  // namespace

std::span<const Topic> topics() {
  static constexpr std::array table{
      Topic{"scenario", "what a scenario says", write_scenario},
      Topic{"names", "where names are looked up", write_names},
      Topic{"units", "how quantities are written", write_units},
      Topic{"platforms", "hardware, and your own", write_platforms},
      Topic{"calibrations", "what was measured on a node", write_calibrations},
      Topic{"strategies", "DDP, FSDP, ZeRO and their keys", write_strategies},
      Topic{"layouts", "tensor, pipeline, context and expert parallelism", write_layouts},
      Topic{"sweep", "many settings at once", write_sweep},
      Topic{"warnings", "codes of warnings; CODE explains one", write_warnings},
      Topic{"exit-status", "how gradway ends", write_exit_status},
  };
  return table;
}

void write_warning(std::ostream& out, const report::WarningHelp& warning, const report::Style& style) {
  for (const auto& line : report::wrap(warning.meaning, style.width)) out << line << '\n';
  out << '\n';
  report::Fields fields{out, style};
  fields.add("when", warning.when);
  fields.add("error", warning.error);
  fields.add("what to do", warning.advice);
}

}  // namespace gradway::cli
