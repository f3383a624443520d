// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "tests/cli/program.hpp"

using namespace gradway::testing;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

TEST_CASE("help and version go to standard output", "[cli][usage]") {
  const auto help = run_gradway({"--help"});
  CHECK(help.status == 0);
  CHECK(help.errors.empty());
  for (const auto* command :
       {"init", "run", "explain", "sweep", "compare", "optimize", "validate", "show", "list"}) {
    CAPTURE(command);
    CHECK_THAT(help.output, Contains(std::string{"\n  "} + command + " "));
    const auto own = run_gradway({command, "--help"});
    CHECK(own.status == 0);
    CHECK(own.errors.empty());
    CHECK_THAT(own.output,
               StartsWith(std::string{"usage: gradway "} + command + " ") && Contains("examples:"));
  }

  const auto version = run_gradway({"--version"});
  CHECK(version.status == 0);
  CHECK(version.errors.empty());
  CHECK_THAT(version.output,
             Catch::Matchers::Matches("gradway [0-9]+\\.[0-9]+\\.[0-9]+ \\(commit ([0-9a-f]{12}( and "
                                      "changes)?|unknown), build [0-9a-f]{16}, data [0-9a-f]{16}\\)\n"));
}

TEST_CASE("without a command the help is printed with an error status", "[cli][usage]") {
  const auto outcome = run_gradway({});
  CHECK(outcome.status == 2);
  CHECK(outcome.output.empty());
  CHECK_THAT(outcome.errors, Contains("usage: gradway COMMAND"));
}

TEST_CASE("wrong usage is refused with a hint", "[cli][usage]") {
  using Row = std::tuple<std::vector<std::string>, std::string>;
  const auto [arguments, errors] = GENERATE(values<Row>({
      {{"vallidate", "x"},
       "error: 'gradway' has no command 'vallidate'\n"
       "  hint: did you mean 'validate'? (see 'gradway --help')\n"},
      {{"frobnicate"},
       "error: 'gradway' has no command 'frobnicate'\n"
       "  hint: known: validate, init, compare, optimize, calibrate and 17 more (see 'gradway --help')\n"},
      {{"simulate", "article/g6e"},
       "error: 'gradway' has no command 'simulate'\n  hint: did you mean 'run'? (see 'gradway --help')\n"},
      {{"plan", "llama3_8b"},
       "error: unexpected argument 'llama3_8b' of 'gradway plan'\n"
       "  hint: write '--model llama3_8b' (see 'gradway plan --help')\n"},
      {{"sweep", "article/g6e", "--vary", "job.batch_per_gpu", "1,2,4"},
       "error: unexpected argument '1,2,4' of 'gradway sweep'\n"
       "  hint: write 'KEY=V1,V2,...' after --vary, with '=' (see 'gradway sweep --help')\n"},
      {{"list", "instances"}, "error: there is no list of 'instances'\n  hint: did you mean 'platforms'?\n"},
      {{"schema", "metric"}, "error: there is no schema of 'metric'\n  hint: did you mean 'metrics'?\n"},
      {{"show", "h100"},
       "error: 'gradway show' needs a kind and a name\n  hint: such as 'gradway show platform dgx-h100'\n"},
      {{"--vesrion"},
       "error: 'gradway' has no option '--vesrion'\n"
       "  hint: did you mean '--version'? (see 'gradway --help')\n"},
      {{"run", "article/g6e", "--batch", "8"},
       "error: 'gradway run' has no option '--batch'\n"
       "  hint: write '--set job.batch_per_gpu=VALUE' (see 'gradway run --help')\n"},
      {{"run", "article/g6e", "--nodes", "2"},
       "error: 'gradway run' has no option '--nodes'\n"
       "  hint: write '--gpus N'; nodes follow from it and the platform (see 'gradway run --help')\n"},
      {{"sweep", "article/g6e", "--gpus", "2"},
       "error: 'gradway sweep' has no option '--gpus'\n"
       "  hint: write '--set job.gpus=VALUE' (see 'gradway sweep --help')\n"},
      {{"run", "--jsno", "article/g6e"},
       "error: 'gradway run' has no option '--jsno'\n"
       "  hint: did you mean '--json'? (see 'gradway run --help')\n"},
      {{"run", "article/g6e", "--ou=x"},
       "error: 'gradway run' has no option '--ou'\n"
       "  hint: did you mean '--out'? (see 'gradway run --help')\n"},
      {{"run"},
       "error: 'gradway run' needs SCENARIO\n"
       "  hint: scenario: a file, or a name from 'gradway list scenarios' (see 'gradway run --help')\n"},
      {{"run", "article/g6e", "article/p4d"},
       "error: unexpected argument 'article/p4d' of 'gradway run'\n"
       "  hint: see 'gradway run --help'\n"},
      {{"run", "article/g6e", "--json=no"},
       "error: '--json' takes no value\n  hint: see 'gradway run --help'\n"},
      {{"run", "article/g6e", "--engine"},
       "error: '--engine' needs a value\n  hint: see 'gradway run --help'\n"},
      {{"run", "article/g6e", "--out", "a", "--out", "b"},
       "error: '--out' can be given only once\n  hint: see 'gradway run --help'\n"},
      {{"run", "article/g6e", "--engine", "fluidd"},
       "error: there is no engine 'fluidd'\n  hint: did you mean 'fluid'?\n"},
      {{"run", "article/g6e", "--set", "job.gpus"},
       "error: '--set job.gpus' is not KEY=VALUE\n  hint: write '--set job.gpus=VALUE'\n"},
      {{"run", "article/g6e", "--set", "job.gpus=8", "--set", "job.gpus=4"},
       "error: '--set job.gpus' is given twice\n  hint: give each key once\n"},
      {{"import", "kineto", "trace.json", "--step-time", ""},
       "error: '--step-time' has an empty value\n"
       "  hint: kineto, nsys, chakra: step time without the profiler, such as 39.3ms (see 'gradway import "
       "--help')\n"},
      {{"run", "article/g6e", "--region="},
       "error: '--region' needs a value\n  hint: see 'gradway run --help'\n"},
      {{"compare", "article/p4d", "--platforms", "a", "--samples", ""},
       "error: '--samples' has an empty value\n"
       "  hint: number of samples to train on, such as 90M; adds time and cost of the training (see 'gradway "
       "compare --help')\n"},
      {{"run", "article/g6e", "--set", "=4"},
       "error: '--set =4' is not KEY=VALUE\n"
       "  hint: write a key before '=', such as '--set job.gpus=4'\n"},
      {{"run", "article/g6e", "--set", "job.gups=4"},
       "--set job.gups=4: error: unknown key 'job.gups'\n  hint: did you mean 'job.gpus'?\n"},
      {{"show", "platfrom", "x"},
       "error: 'gradway show' does not have the kind 'platfrom'\n  hint: did you mean 'platform'?\n"},
      {{"show", "model", "vit_l_32", "--set", "job.gpus=4"},
       "error: '--set' changes a scenario, not a model\n"
       "  hint: use it with 'gradway show plan SCENARIO --set KEY=VALUE'\n"},
      {{"list", "modles"}, "error: there is no list of 'modles'\n  hint: did you mean 'models'?\n"},
      {{"compare", "article/p4d"},
       "error: 'gradway compare' needs --platforms or --gpu, or a second file\n"
       "  hint: such as \"--platforms 'aws-*'\" or '--gpu h100' (see 'gradway compare --help')\n"},
      {{"compare", "article/p4d", "--platforms", "awz-*"},
       "error: no platform matches '--platforms awz-*', and no GPU of one\n"
       "  hint: 'gradway list platforms' lists all names\n"},
      {{"compare", "article/p4d", "--platforms", "p5"},
       "--platforms p5: error: unknown platform 'p5': there is no 'platforms/p5.yaml' next to your "
       "file or in the data folders\n"
       "  hint: did you mean 'aws-p5.4xlarge' or 'aws-p5.48xlarge'?\n"},
      {{"run", "article/g6e", "--gpus", "4", "--set", "job.gpus=8"},
       "error: 'job.gpus' is set by '--set' and by '--gpus'\n  hint: leave one of them out\n"},
      {{"run", "article/g6e", "--gpus", "many"}, "--gpus many: error: 'many' is not a whole number\n"},
      {{"run", "article/g6e", "--model", "llama3"},
       "--model llama3: error: unknown model 'llama3': there is no 'models/llama3.yaml' next to your "
       "file or in the data folders\n"
       "  hint: did you mean 'llama3_8b', 'llama3_70b', 'llama3_2_1b' or 'llama3_2_3b'?\n"},
      {{"import", "topo", GRADWAY_SOURCE_DIR "/tests/readers/data/topo-4x-h200.txt", "--gpu", "h100"},
       "error: unknown GPU in '--gpu h100'\n"
       "  hint: did you mean 'h100-nvl', 'h100-sxm', 'h100-pcie' or 'h100-sxm-96gb'?\n"},
      {{"sweep", "article/g6e", "--vary", "job.gpus=8..1"},
       "error: '--vary job.gpus' has the range '8..1', which ends before it begins\n  hint: write '1..8'\n"},
      {{"sweep", "article/g6e", "--vary", "job.gpus=1..2000000"},
       "error: '--vary job.gpus' has the range '1..2000000' with more than 1000000 values\n"
       "  hint: give fewer values\n"},
      {{"compare", "article/p4d", "--platforms", "a", "--gpus", "4..2"},
       "error: '--gpus' has the range '4..2', which ends before it begins\n  hint: write '2..4'\n"},
      {{"help", "unit"}, "error: there is no topic or command 'unit'\n  hint: did you mean 'units'?\n"},
      {{"help", "zzz"},
       "error: there is no topic or command 'zzz'\n"
       "  hint: known: ui, run, hang, init, plan and 28 more\n"},
      {{"completion", "fis"},
       "error: there is no completion script for 'fis'\n  hint: did you mean 'fish'?\n"},
      {{"init"},
       "error: 'gradway init' needs --model NAME\n"
       "  hint: such as 'gradway init --model llama3_8b --platform aws-p5.48xlarge --gpus 64'; on a terminal "
       "it "
       "asks\n"},
      {{"init", "--model", "gpt2", "--platform", "p5", "--gpus", "8"},
       "--platform p5: error: unknown platform 'p5': there is no 'platforms/p5.yaml' next to your file or in "
       "the "
       "data folders\n  hint: did you mean 'aws-p5.4xlarge' or 'aws-p5.48xlarge'?\n"},
      {{"init", "--model", "gpt2", "--platform", "dgx-h100", "--gpus", "8", "--strategy", "fsdp2"},
       "error: '--strategy fsdp2': there is no strategy of this name\n  hint: did you mean 'fsdp'?\n"},
      {{"init", "--model", "gpt2", "--platform", "dgx-h100", "--gpus", "eight"},
       "--gpus: error: 'eight' is not a whole number\n"},
      {{"init", "--model", "gpt2", "--platform", "h200-4x", "--gpus", "8"},
       "gradway init: error: the scenario made from this input is invalid: job.gpus 8 is more than the 4 "
       "GPUs "
       "of the platform\n"
       "  note: platforms/h200-4x.yaml:12:9: 1 node of 4 GPUs\n"
       "  hint: job.gpus 4 would fit; the scenario has 'gpus: 8'\n"},
      {{"init", "--model", "gpt2", "--platform", "dgx-h100", "--gpus", "8", "-o", "mine.txt"},
       "error: '--out mine.txt' does not end in .yaml\n  hint: scenarios are YAML files\n"},
      {{"compare", "article/p4d", "--platforms", "a,,b"},
       "error: '--platforms a,,b' has an empty value\n  hint: write values between the commas\n"},
      {{"compare", "article/p4d", "--platforms", "a,a"},
       "error: '--platforms a,a' has 'a' twice\n  hint: give each value once\n"},
      {{"compare", "article/p4d", "--platforms", "a", "--samples", "many"},
       "--samples: error: 'many' does not begin with a number\n"
       "  hint: write a number such as '90M' or '1.2e9'\n"},
      {{"run", "article/g6e", "--tokens", "300B"},
       "error: '--tokens 300B' is given, but 'vit_l_32' is not a model of text\n"
       "  hint: give '--samples' instead\n"},
      {{"run", "published/all-reduce", "--samples", "90M"},
       "error: '--samples 90M' is given, but a collective does not train a model\n"
       "  hint: leave it out, or use a scenario with a model\n"},
      {{"run", "article/g6e", "--tokens", "300B", "--samples", "90M"},
       "error: '--tokens' and '--samples' are both given\n  hint: give one of them\n"},
      {{"optimize", "article/g6e", "--deadline", "14 days"},
       "error: '--deadline 14 days' is a limit of a training whose length is not given\n"
       "  hint: give the amount of data: '--tokens 300B' or '--samples 90M'\n"},
      {{"compare", "article/p4d", "--platforms", "aws-p4d.24xlarge", "--tokens", "300B"},
       "error: '--tokens 300B' is given, but 'vit_l_32' is not a model of text\n"
       "  hint: give '--samples' instead\n"},
      {{"run", "h200-4x/vit_l_32", "--set", "model=vit_l_32-h200", "--tokens", "300B"},
       "error: '--tokens 300B' is given, but the profile 'vit_l_32-h200' does not have the number of tokens "
       "per sample\n"
       "  hint: add 'sequence: TOKENS' to its file if it is a model of text, or give '--samples'\n"},
      {{"run", "article/g6e", "--samples", "90M", "--deadline", "14"},
       "--deadline: error: '14' has no unit\n  hint: add a unit: s, min, h, days or weeks\n"},
      {{"compare", "article/p4d", "--platforms", "a", "--set", "platform=b"},
       "error: 'platform' is set and compared\n  hint: leave out '--set' for it\n"},
      {{"run", "article/p4d", "--price-date", "2020-01-01"},
       "--price-date 2020-01-01: error: no price of 'aws-p4d.24xlarge' is known for this date\n"
       "  hint: prices in us-east-1 are known from 2025-01-15 to 2026-07-20\n"},
      {{"validate", "x", "--max-error", "little"},
       "error: '--max-error little' is not a percentage\n  hint: write a percentage, such as '3' or "
       "'3%'\n"},
      {{"validate", "x", "--max-mean-error=-1"},
       "error: '--max-mean-error -1' is not a percentage\n  hint: write a percentage, such as '3' or "
       "'3%'\n"},
  }));
  CAPTURE(arguments);

  const auto outcome = run_gradway(arguments);

  CHECK(outcome.status == 2);
  CHECK(outcome.output.empty());
  CHECK(outcome.errors == errors);
}

TEST_CASE("every invalid override is reported", "[cli][usage]") {
  const auto outcome = run_gradway({"run", "article/g6e", "--set", "a", "--set", "b"});
  CHECK(outcome.status == 2);
  CHECK_THAT(outcome.errors, Contains("'--set a'") && Contains("'--set b'"));
}
