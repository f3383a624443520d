// SPDX-License-Identifier: Apache-2.0
// Topics, the manual page and completions: all follow the tables that the parser reads.
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include <catch2/catch.hpp>

#include "sim/base/rows.hpp"
#include "tests/cli/program.hpp"

using namespace gradway;
using namespace gradway::testing;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

namespace {

using Words = std::vector<std::string>;

/// What completes the last word, without what it does.
Words completed(Words words) {
  words.insert(words.begin(), "--complete");
  const auto outcome = run_gradway(words);
  CHECK(outcome.status == 0);
  CHECK(outcome.errors.empty());
  std::istringstream lines{outcome.output};
  Words found;
  for (std::string line; std::getline(lines, line);) found.push_back(line.substr(0, line.find('\t')));
  return found;
}

bool has(const Words& words, const std::string& word) {
  return std::ranges::find(words, word) != words.end();
}

/// What a shell says after a script. @param shell with its options
std::string said_by(const std::string& shell, const std::string& script) {
  const TemporaryFolder folder;
  folder.write("script", script);
  const auto path = (folder.path() / "script").string();
  static_cast<void>(std::system((shell + " " + path + " > " + path + ".out 2>&1").c_str()));
  return content_of(path + ".out");
}

bool is_here(const std::string& program) {
  return std::system(("command -v " + program + " > /dev/null").c_str()) == 0;
}

}  // namespace

TEST_CASE("every topic, command and word has its help", "[cli][help]") {
  const auto all = run_gradway({"help"});
  CHECK(all.output == run_gradway({"--help"}).output);
  const auto warnings = run_gradway({"help", "warnings"}).output;
  const auto terms = run_gradway({"help", "terms"}).output;
  const auto topics = completed({"help", ""});
  CHECK(topics.size() > 20);
  for (const auto& topic : topics) {
    CAPTURE(topic);
    const auto help = run_gradway({"help", topic});
    CHECK(help.status == 0);
    CHECK(help.errors.empty());
    const auto line = "\n  " + topic + " ";
    const bool is_term = terms.find(line) != std::string::npos;
    CHECK(help.output.size() > (is_term ? 40 : 80));
    const bool is_warning = help.output.find("\n  what to do ") != std::string::npos;
    CHECK_THAT(is_warning ? warnings : is_term ? terms : all.output, Contains(line));
  }
  CHECK(run_gradway({"help", "run"}).output == run_gradway({"run", "--help"}).output);
}

TEST_CASE("the code at the end of a warning leads to its explanation", "[cli][help]") {
  const auto run = run_gradway({"run", "article/g6e", "--set", "nccl.NCCL_NTHREADS=256"});
  CHECK_THAT(run.output, Contains("[unmodelled-nccl-variable]"));
  const auto help = run_gradway({"help", "unmodelled-nccl-variable"});
  CHECK_THAT(help.output, StartsWith("A variable of NCCL is accepted, but not modelled\n"));
  const auto unknown = run_gradway({"help", "memory-tigt"});
  CHECK(unknown.status == 2);
  CHECK_THAT(unknown.errors, Contains("did you mean 'memory-tight'?"));
}

TEST_CASE("the scenario of its topic runs", "[cli][help]") {
  std::istringstream lines{run_gradway({"help", "scenario"}).output};
  std::string scenario;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("  ")) scenario += line.substr(2) + '\n';
  }
  const TemporaryFolder folder;
  folder.write("mine.yaml", scenario);
  CHECK(run_gradway({"run", "mine.yaml"}, {.folder = folder.path()}).status == 0);
}

TEST_CASE("topics agree with the tables of the parser", "[cli][help]") {
  CHECK_THAT(run_gradway({"help", "units"}).output,
             Contains("  bandwidth     B/s, kB/s, MB/s, GB/s, ") && Contains("  power         W, kW\n"));
  CHECK_THAT(run_gradway({"help", "exit-status"}).output, StartsWith("  0  done\n  1  a bug in gradway\n"));
  CHECK_THAT(run_gradway({"help", "layouts"}).output,
             Contains("\nparallel.tensor: 1 to 1048576; 1 if left out\n"));
}

TEST_CASE("words of the output are explained, and words of other programs lead to those of gradway",
          "[cli][help]") {
  CHECK_THAT(run_gradway({"help", "MFU"}).output, StartsWith("model FLOPs utilisation: "));
  std::ifstream file{std::string{GRADWAY_SOURCE_DIR} + "/cli/shell/typed_words.txt"};
  const std::string text{std::istreambuf_iterator<char>{file}, {}};
  const auto terms = run_gradway({"help", "terms"}).output;
  const auto keys = run_gradway({"list", "keys"}).output;
  int rows = 0;
  for (const auto& row : rows_in(text)) {
    const std::string word{row.word(0)};
    CAPTURE(row.kind, word);
    ++rows;
    if (row.kind == "term") CHECK_THAT(terms, Contains("\n  " + word + " "));
    if (row.kind == "option") CHECK_THAT(keys, Contains(std::string{row.word(1)}));
    if (row.kind == "synonym") CHECK_THAT(run_gradway({"help", word}).errors, Contains("did you mean '"));
  }
  CHECK(rows > 60);
  CHECK_THAT(run_gradway({"help", "slow"}).errors, Contains("hint: did you mean 'diagnose'?"));
}

TEST_CASE("the manual page has every command and option, and roff understands it", "[cli][help]") {
  const auto page = run_gradway({"manual"});
  CHECK(page.status == 0);
  CHECK_THAT(page.output, StartsWith(".TH GRADWAY 1 "));
  for (const auto& command : completed({""})) {
    CAPTURE(command);
    CHECK_THAT(page.output, Contains("\n.SS gradway " + command + "\n"));
    for (auto option : completed({command, "--"})) {
      if (option == "--help") continue;
      for (std::size_t at = 0; (at = option.find('-', at)) != std::string::npos; at += 2)
        option.insert(at, "\\");
      CAPTURE(option);
      CHECK_THAT(page.output, Contains(option));
    }
  }
  if (!is_here("groff")) {
    WARN("skipped: there is no groff here to read the page");
    return;
  }
  const TemporaryFolder folder;
  folder.write("gradway.1", page.output);
  const auto file = (folder.path() / "gradway.1").string();
  const auto read =
      "groff -man -Tutf8 -ww -rLL=100n '" + file + "' > '" + file + ".txt' 2> '" + file + ".err'";
  CHECK(std::system(read.c_str()) == 0);
  CHECK(content_of(file + ".err").empty());
  CHECK_THAT(content_of(file + ".txt"), Contains("predict how long a distributed training step takes"));
}

TEST_CASE("completions are the words that can follow", "[cli][completion]") {
  CHECK(completed({"sh"}) == Words{"show"});
  CHECK(completed({"run", "article/g6"}) == Words{"article/g6e"});
  CHECK(completed({"run", "article/g6e", "--eng"}) == Words{"--engine"});
  CHECK(completed({"run", "article/g6e", "--engine", "fl"}) == Words{"fluid"});
  CHECK(completed({"run", "article/g6e", "--engine=fl"}) == Words{"--engine=fluid"});
  CHECK(completed({"run", "--json", "article/g6"}) == Words{"article/g6e"});  // a flag takes no value
  CHECK(completed({"run", "--out", "x", "article/g6"}) == Words{"article/g6e"});
  CHECK(completed({"run", "--platform", "aws-p4d."}) == Words{"aws-p4d.24xlarge"});
  CHECK(completed({"run", "x", "--set", "job.gp"}) == Words{"job.gpus="});
  CHECK(completed({"run", "x", "--set", "job.precision=b"}) == Words{"job.precision=bf16"});
  CHECK(completed({"run", "x", "--set", "model=llama3_8"}) == Words{"model=llama3_8b"});
  CHECK(completed({"sweep", "x", "--vary", "strategy.comm_hook=none,b"}) ==
        Words{"strategy.comm_hook=none,bf16"});
  CHECK(completed({"compare", "x", "--platforms", "dgx-h100,dgx-h2"}) == Words{"dgx-h100,dgx-h200"});
  CHECK(completed({"show", "model", "vit_l_1"}) == Words{"vit_l_16", "vit_l_16_bf16"});
  CHECK(completed({"show", "platform", "vit_l"}).empty());
  CHECK(has(completed({"list", ""}), "calibrations"));
  CHECK(completed({"import", "top"}) == Words{"topo"});
  CHECK(completed({"import", "topo", "x", "--gpu", "h100-p"}) == Words{"h100-pcie"});
  CHECK(completed({"init", "--strategy", "fsdp"}) == Words{"fsdp", "fsdp1"});
  CHECK(has(completed({"run", "article/g6e", "-"}), "--help"));
  CHECK(completed({"validate", "x"}).empty());  // a file
  CHECK(completed({"nothing", "x"}).empty());
  CHECK(completed({}).empty());
}

TEST_CASE("bash completes what is typed", "[cli][completion]") {
  using Row = std::tuple<std::string, std::string>;
  const auto [typed, expected] = GENERATE(values<Row>({
      {"gradway expl", "explain\n"},
      {"gradway run article/g6", "article/g6e\n"},
      {"gradway run article/g6e --platform aws-p4d.", "aws-p4d.24xlarge\n"},
      {"gradway import topo x --gpu h100-", "h100-nvl\nh100-pcie\nh100-sxm\nh100-sxm-96gb\n"},
      {"gradway show model llama3_8", "llama3_8b\n"},
      {"gradway run x --set job.gp", "job.gpus=\n"},
      {"gradway run x --set job.precision=b", "bf16\n"},  // readline replaces what stands behind '='
      {"gradway run x --engine=fl", "fluid\n"},
  }));
  CAPTURE(typed);
  const auto script =
      "source <('" GRADWAY_PROGRAM "' completion bash)\ncompopt() { :; }\nCOMP_LINE='" + typed +
      "'\nCOMP_POINT=${#COMP_LINE}\n_gradway '" GRADWAY_PROGRAM "'\nprintf '%s\\n' \"${COMPREPLY[@]}\"\n";
  CHECK(said_by("bash --norc -u", script) == expected);
}

TEST_CASE("zsh and fish understand their completions", "[cli][completion]") {
  const auto shell = GENERATE(as<std::string>{}, "zsh", "fish");
  if (!is_here(shell)) {
    WARN("skipped: there is no " << shell << " here");
    return;
  }
  CHECK(said_by(shell + " -n", run_gradway({"completion", shell}).output).empty());
  if (shell == "fish") {
    const auto script = "'" GRADWAY_PROGRAM
                        "' completion fish | source\n"
                        "set PATH (path dirname '" GRADWAY_PROGRAM
                        "') $PATH\n"
                        "complete -C 'gradway show model llama3_8'\n";
    CHECK_THAT(said_by("env HOME=/nowhere fish --no-config", script), Contains("llama3_8b"));
  }
}
