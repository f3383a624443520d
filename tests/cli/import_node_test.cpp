// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "tests/cli/program.hpp"

using namespace gradway::testing;
using Catch::Matchers::Contains;

namespace {

const std::string matrix = "\tGPU0\tGPU1\nGPU0\t X \tPHB\nGPU1\tPHB\t X \n";
const std::string list = "GPU 0: NVIDIA L40S (UUID: 1)\nGPU 1: NVIDIA L40S (UUID: 2)\n";
const std::string data = std::string{GRADWAY_SOURCE_DIR} + "/tests/readers/data/";
const std::string table = "  100000000 25000000 float sum -1 500.0 200.00 350.00 0 490.0 204.08 357.14 0\n";

struct Desk {
  TemporaryFolder folder;

  Outcome run(const std::vector<std::string>& arguments) const {
    return run_gradway(arguments, {.folder = folder.path()});
  }
  Outcome import(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "import");
    return run(arguments);
  }
  std::string content(const std::string& file) const { return content_of(folder.path() / file); }
  std::ptrdiff_t files() const {
    return std::distance(std::filesystem::directory_iterator{folder.path()}, {});
  }
};

}  // namespace

TEST_CASE("a matrix becomes a platform that can be shown", "[cli][import]") {
  const Desk desk;
  desk.folder.write("topo.txt", list + matrix);
  const auto outcome = desk.import({"topo", "topo.txt", "-o", "platforms/mine.yaml"});
  CHECK(outcome.errors.empty());
  CHECK(outcome.status == 0);
  const auto shown =
      run_gradway({"show", "platform", "mine"}, {.folder = desk.folder.path(), .gradway_path = "."});
  CHECK_THAT(shown.output,
             Contains("2 x l40s on 1 node") && Contains("GPU0  X     PHB   cpu0\nGPU1  PHB   X     cpu0\n"));
  CHECK(outcome.output == "platforms/mine.yaml\n\n" + shown.output);
  CHECK_THAT(desk.content("platforms/mine.yaml"), Contains("# the text names 'NVIDIA L40S'.\ngpu: l40s\n"));
  CHECK(desk.import({"topo", "topo.txt"}).output == desk.content("platforms/mine.yaml"));
  CHECK(desk.import({"topo", "topo.txt", "--gpu", "h200", "-o", "x.yaml"}).status == 0);
}

TEST_CASE("a matrix with NICs is shown with them", "[cli][import]") {
  const Desk desk;
  CHECK(desk.import({"topo", data + "topo-8gpu-pcie-all-sys-2nic.txt", "--gpu", "l40s", "-o", "x.yaml"})
            .status == 0);
  CHECK_THAT(desk.run({"show", "platform", "x.yaml"}).output,
             Contains("GPU6  SYS   SYS   SYS   SYS   SYS   SYS   X     SYS   PHB   PHB   cpu1\n") &&
                 Contains("NIC1  SYS   SYS   SYS   SYS   SYS   SYS   PHB   SYS   PIX   X     cpu1\n") &&
                 Contains("  NIC1  mlx5_1\n"));
}

TEST_CASE("NCCL's topology becomes a platform, its graphs a table", "[cli][import]") {
  const Desk desk;
  const auto outcome = desk.import({"nccl-topo", data + "nccl-topo-4x-h200.xml", "-o", "mine.yaml"});
  CHECK(outcome.errors.empty());
  CHECK_THAT(outcome.output, Contains("4 x h200 on 1 node") && Contains("GPU0  X     NV18  NV18  NV18") &&
                                 Contains("NIC0  eth0"));
  const auto graphs = desk.import({"nccl-topo", data + "nccl-graph-4x-h200.xml"});
  CHECK(graphs.output ==
        "algorithm       pattern         channels  GB/s per channel  between nodes  longest path  path to a "
        "NIC  copies  order\n"
        "ring            ring                  12                30             30  NVL           PIX        "
        "        12  0 1 2 3\n"
        "tree            balanced tree         12                30             30  NVL           PIX        "
        "        12  0 1 2 3\n"
        "collnet direct  collnet direct      none\n"
        "collnet         tree                none\n"
        "nvls            nvls                none\n");
}

TEST_CASE("logs of nccl-tests become samples that a calibration is fitted to", "[cli][import]") {
  const Desk desk;
  const auto outcome =
      desk.import({"nccl-tests", data + "nccl-tests-all_reduce-8x-nvswitch.txt",
                   data + "nccl-tests-sendrecv-8x.txt", "--transport", "p2p", "-o", "samples.json"});
  CHECK(outcome.errors.find("error") == std::string::npos);
  CHECK(outcome.output ==
        "samples.json\n\n"
        "operation   ranks  nodes  transport  rows   from     to\n"
        "all_reduce      8      1  p2p          28    8 B  1 GiB\n"
        "send_recv       8      1  p2p          18  8 KiB  1 GiB\n");
  const auto fitted = desk.run({"calibrate", "fit", "samples.json", "-o", "calibration.yaml"});
  CHECK(fitted.status == 0);
  CHECK_THAT(fitted.output, Contains("P2P all-reduce") && Contains("date unknown"));
  CHECK_THAT(fitted.errors, !Contains("to use it"));
  // Which line the platform needs is said until the platform has it.
  const std::string box = "schema: 1\nsource: mine\nbased_on: dgx-h100\n";
  desk.folder.write("platforms/box.yaml", box);
  const auto fit = [&](const std::string& platform) {
    return desk.run({"calibrate", "fit", "samples.json", "-o", "calibration/results/box/calibration.yaml",
                     "--platform", platform, "--force"});
  };
  CHECK_THAT(fit("box").errors, Contains("to use it, write 'calibration: box' into platforms/box.yaml\n"));
  CHECK_THAT(fit("dgx-h100").errors, Contains("to use it, write 'calibration: box' into a platform of yours "
                                              "with 'based_on: dgx-h100'\n"));
  desk.folder.write("platforms/box.yaml", box + "calibration: box\n");
  CHECK_THAT(fit("box").errors, !Contains("to use it"));
  const auto other =
      desk.import({"nccl-tests", data + "nccl-tests-sendrecv-8x.txt", "--operation", "hypercube"});
  CHECK_THAT(other.errors,
             Contains("warning: gradway does not model hypercube: its 18 rows are kept, but not used"));
}

TEST_CASE("a log of NCCL is compared with a platform", "[cli][import]") {
  const Desk desk;
  const auto outcome = desk.import({"nccl-log", data + "nccl-log-2x-h100-shm.txt", "--platform", "dgx-h100"});
  CHECK(outcome.errors.empty());
  CHECK(outcome.status == 0);
  CHECK_THAT(outcome.output,
             Contains("transport inside nodes  P2P       SHM    differs for 1 of 1 pair\n") &&
                 Contains("  transport inside nodes: SHM where P2P was expected, such as from rank 0 to 1;\n"
                          "  NCCL_P2P_DISABLE=1 is set: leave it out\n"));
  const auto healthy = desk.import({"nccl-log", data + "nccl-log-2x-h100-p2p.txt", "--platform", "dgx-h100"});
  CHECK(healthy.status == 0);
  CHECK_THAT(healthy.output, !Contains("differs") && Contains("transport inside nodes  P2P       P2P\n"));
}

TEST_CASE("logs of NCCL that cannot be compared are refused", "[cli][import][errors]") {
  const Desk desk;
  const auto log = data + "nccl-log-2x-h100-shm.txt";
  CHECK(desk.import({"nccl-log", log, "--platform", "h200-1x"}).errors ==
        "--platform: error: the log has 2 ranks on a node, but a node of 'h200-1x' has 1 GPU\n"
        "  hint: choose the platform that the job ran on: gradway list platforms\n");
  CHECK(desk.import({"nccl-log", log, "-o", "x.json"}).errors ==
        "error: 'gradway import nccl-log' does not write a file\n"
        "  hint: use --json and redirect the output\n");
  desk.folder.write("empty.log", "epoch 0\n");
  const auto empty = desk.import({"nccl-log", "empty.log"});
  CHECK(empty.status == 2);
  CHECK(empty.errors ==
        "empty.log: error: the file has no line of NCCL's\n"
        "  hint: run the job with NCCL_DEBUG=INFO, and keep what it prints\n");
}

TEST_CASE("wrong properties of a node are refused and leave no file", "[cli][import][errors]") {
  const Desk desk;
  desk.folder.write("topo.txt", matrix);
  desk.folder.write("lists.txt", "GPU 0: NVIDIA L40S (UUID: 1)\n" + matrix);
  desk.folder.write("b9.txt", "GPU 0: NVIDIA B9 (UUID: 1)\nGPU0\nGPU0 X\n");
  desk.folder.write("cut.txt", "\tGPU0\tGPU1\nGPU0\t X \tPHB\n");
  desk.folder.write("cut.xml", "<system version=\"1\">\n  <cpu>\n");
  desk.folder.write("sm.xml",
                    "<system>\n<cpu><pci busid=\"a\"><gpu dev=\"0\" sm=\"90\"/></pci></cpu>\n</system>\n");
  desk.folder.write("graph.xml", "<graphs><graph id=\"0\" pattern=\"4\" nchannels=\"0\"/></graphs>\n");
  desk.folder.write("log.txt", table);
  desk.folder.write("nul.txt", std::string{"GPU0\0", 5});
  const auto before = desk.files();
  using Row = std::pair<std::vector<std::string>, std::string>;
  const auto [arguments, errors] = GENERATE(values<Row>({
      {{"tops", "topo.txt"}, "error: there is no import format 'tops'\n  hint: did you mean 'topo'?\n"},
      {{"topo", "nope.txt"}, "nope.txt: error: there is no such file\n"},
      {{"topo", "nul.txt"}, "nul.txt: error: this is not a text file: it contains NUL bytes\n"},
      {{"topo", "topo.txt", "-o", "x.yaml"},
       "topo.txt: error: the text does not name its GPU\n  hint: name one with --gpu: "},
      {{"topo", "lists.txt", "-o", "x.yaml"},
       "lists.txt:1:8: error: the list has 1 GPUs, but the matrix 2\n    1 | GPU 0: NVIDIA L40S (UUID: 1)\n"
       "      |        ^~~~~~~~~~~\n  hint: give the output of `nvidia-smi -L` and `nvidia-smi topo -m` on "
       "the same "
       "node\n"},
      {{"topo", "b9.txt", "-o", "x.yaml"},
       "b9.txt:1:8: error: no file in platforms/gpus describes the GPU of the text, 'NVIDIA B9'\n"
       "    1 | GPU 0: NVIDIA B9 (UUID: 1)\n      |        ^~~~~~~~~\n"
       "  hint: write platforms/gpus/b9.yaml, or name one with --gpu: "},
      {{"topo", "cut.txt", "-o", "x.yaml"},
       "cut.txt:1:7: error: there is no row 'GPU1'\n    1 | \tGPU0\tGPU1\n      | \t    \t^~~~\n"},
      {{"topo", "topo.txt", "--gpu", "h2000", "-o", "x.yaml"},
       "error: unknown GPU in '--gpu h2000'\n  hint: did you mean 'h200'?\n"},
      {{"topo", "topo.txt", "--gpus", "2"},
       "error: 'gradway import topo' does not have '--gpus'\n  hint: it is an option of nccl-topo, "
       "deepspeed, "
       "torchtitan, megatron, trainer\n"},
      {{"topo", "topo.txt", "--in-place"},
       "error: 'gradway import topo' does not have '--in-place'\n  hint: it is an option of nccl-tests and "
       "rccl-tests\n"},
      {{"topo", "topo.txt", "--gpu", "h200", "-o", "x.txt"},
       "error: '--out x.txt' does not end in .yaml\n  hint: platforms are YAML files\n"},
      {{"nccl-topo", "cut.xml", "-o", "x.yaml"},
       "cut.xml:2:8: error: this is not XML: start-end tags mismatch\n    2 |   <cpu>\n      |        ^\n"
       "  hint: check whether the file is truncated or was edited by hand\n"},
      {{"nccl-topo", "sm.xml", "-o", "x.yaml"},
       "sm.xml:1:2: error: the file contains the compute capability of the GPUs, 9.0, but not their name\n"
       "    1 | <system>\n      |  ^~~~~~\n  hint: give --gpu with one of: gh200, h100"},
      {{"nccl-topo", "graph.xml", "-o", "x.yaml"},
       "graph.xml:1:2: error: the file contains graphs, which do not describe a platform\n"
       "    1 | <graphs><graph id=\"0\" pattern=\"4\" nchannels=\"0\"/></graphs>\n      |  ^~~~~~\n"
       "  hint: import NCCL_TOPO_DUMP_FILE, or leave out --out to print the graphs\n"},
      {{"nccl-tests", "log.txt", "--operation", "all_reduse", "-o", "x.json"},
       "error: '--operation all_reduse' is not known\n  hint: did you mean 'all_reduce'?\n"},
      {{"nccl-tests", "log.txt", "--transport", "p2p", "--ranks", "many", "-o", "x.json"},
       "--ranks: error: 'many' is not a whole number\n"},
      {{"nccl-tests", "log.txt", "--transport", "p2p", "-o", "x.yaml"},
       "error: '--out x.yaml' does not end in .json\n  hint: samples are JSON files\n"},
      {{"nccl-tests", "log.txt", "topo.txt", "--transport", "p2p", "-o", "x.json"},
       "topo.txt: error: the file has no table of nccl-tests\n"},
      {{"nccl-tests", "log.txt", "--transport", "p2p", "-o", "topo.txt/x.json"},
       "error: cannot write to 'topo.txt': Not a directory\n"},
  }));
  CAPTURE(arguments);

  const auto outcome = desk.import(arguments);

  CHECK(outcome.status == 2);
  CHECK(outcome.output.empty());
  CHECK_THAT(outcome.errors, Catch::Matchers::StartsWith(errors));
  CHECK(desk.files() == before);
}

TEST_CASE("tables of prices become a list that a run takes, and what is left out is said", "[cli][import]") {
  const Desk desk;
  const auto catalogue = desk.import({"prices", data + "vms.csv", "--date", "2026-10-07", "--platform",
                                      "hgx-8x-h100", "-o", "platforms/prices/cloud.yaml"});
  CHECK(catalogue.status == 0);
  CHECK(catalogue.output == "platforms/prices/cloud.yaml\n");
  CHECK_THAT(
      catalogue.errors,
      Contains("vms.csv: 1 price is left out: no platform stands for nodes with these GPUs: gh200 (1)\n") &&
          Contains("vms.csv: 1 price is left out: without an accelerator\n"));
  CHECK(desk.content("platforms/prices/cloud.yaml") ==
        "schema: 1\nsource: \"SkyPilot's catalogue, vms.csv\"\nprices:\n"
        "  - { platform: hgx-8x-h100, per_node_hour: 25.6 USD/h, region: \"here-1\", date: 2026-10-07 }\n"
        "  - { platform: hgx-8x-h100, per_node_hour: 12.4 USD/h, region: \"here-1\", date: 2026-10-07, "
        "terms: spot }\n"
        "  - { platform: hgx-8x-h100, per_node_hour: 26 USD/h, region: \"there-1\", date: 2026-10-07 }\n");
  const auto run = run_gradway(
      {"run", "article/p4d", "--set", "platform=hgx-8x-h100", "--prices", "cloud", "--terms", "spot"},
      {.folder = desk.folder.path(), .gradway_path = "."});
  CHECK_THAT(run.output, Contains("12.40 USD/h"));
  CHECK_THAT(desk.import({"prices", data + "vms.csv"}).errors, Contains("SkyPilot's catalogue has no dates"));
  CHECK_THAT(desk.import({"prices", data + "prices.csv", "--platform", "hgx"}).errors,
             Contains("'--platform hgx' is not known"));
  CHECK(desk.import({"prices", data + "prices.csv", "--date", "yesterday"}).status == 2);
  desk.folder.write("cpu.csv", "InstanceType,AcceleratorName,AcceleratorCount,Price,Region\nbox,,0,1,here\n");
  CHECK_THAT(desk.import({"prices", "cpu.csv", "--date", "2026-10-07"}).errors,
             Contains("no price in it is of nodes that a platform stands for"));
}
