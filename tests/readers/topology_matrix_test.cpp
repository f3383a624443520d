// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "readers/topology/topology_matrix.hpp"
#include "tests/support/config_files.hpp"

using namespace gradway;
using namespace gradway::test;

namespace {

using Numa = std::vector<std::optional<int>>;

TopologyMatrix read(std::string_view text) {
  return read_topology_matrix(text, "topo.txt");
}

std::string message(std::string_view text) {
  return message_of([&] { return read(text); });
}

constexpr Connection self{PathType::self, 0};
constexpr Connection phb{PathType::phb, 0};
constexpr Connection sys{PathType::sys, 0};

}  // namespace

TEST_CASE("a matrix is read with tabs, blanks, escapes, legends and other output around it", "[import]") {
  using Row = std::pair<std::string, Numa>;
  const auto [text, numa] = GENERATE(values<Row>({
      {"\tGPU0\tGPU1\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\nGPU0\t X \tPHB\t0-31\t0\t\tN/A\n"
       "GPU1\tPHB\t X \t0-31\t1\t\tN/A\n\nLegend:\n\n  X    = Self\n  PHB  = Connection\n",
       {0, 1}},
      {"\t\x1b[4mGPU0\tGPU1\tCPU Affinity\tNUMA Affinity\x1b[0m\r\nGPU0\t X \tPHB\t\t0\r\nGPU1\tPHB\t "
       "X\t\t1\r\n",
       {0, 1}},
      {"        GPU0    GPU1    CPU Affinity    NUMA Affinity\nGPU0     X      PHB     0-31            N/A\n"
       "GPU1    PHB      X      0-31            0-1\n",
       {{}, {}}},
      {"$ nvidia-smi topo -m\nGPU0 GPU1 CPU Affinity\nGPU0 X PHB 0-31\nGPU1 PHB X 0-31\n$ exit\n", {{}, {}}},
      {"GPU0 GPU1\nGPU0 X PHB\nGPU1 PHB X", {{}, {}}},
      // Terminals that lost the escape characters, lists of GPUs before and after, a broken affinity.
      {"GPU 0: NVIDIA H200 (UUID: GPU-1)\nGPU 1: NVIDIA H200 (UUID: GPU-2)\n"
       "\t[4mGPU0\tGPU1\tCPU Affinity\tNUMA Affinity[0m\nGPU0\t X \tPHB\t0\t2\nGPU1\tPHB\t X \t1\t3\n"
       "GPU 0: NVIDIA H200 (UUID: GPU-1)\n",
       {2, 3}},
      {"GPU0 GPU1 CPU Affinity NUMA Affinity GPU NUMA ID\nGPU0 X PHB 0-31 1 N/A\nGPU1 PHB X 1 N/A\n", {1, 1}},
      {"GPU0 GPU1 CPU Affinity NUMA Affinity GPU NUMA ID\nGPU0 X PHB 0-31,6\n4-95 1 N/A\nGPU1 PHB X "
       "0-31,6\n4-95 2 "
       "N/A\n",
       {1, 2}},
      // Tables of Markdown and HTML, cells and names without blanks between them, lists of NUMA nodes.
      {"| | GPU0 | GPU1 | CPU Affinity | NUMA Affinity |\n| -- | -- | -- | -- | -- |\n"
       "| **GPU0** | X | PHB | 0-31 | 0 |\n| GPU1 | PHB | X | 0-31 | 1 |\n",
       {0, 1}},
      {"<pre><code>$ nvidia-smi topo -m\n&#9;GPU0&#9;GPU1&nbsp;&#160;CPU Affinity&#9;NUMA Affinity\n"
       "GPU0&#9; X &#9;PHB&#9;0-31&#9;0\nGPU1\xc2\xa0PHB X&#9;0-31&#9;1<br/>\n</code></pre>\n",
       {0, 1}},
      {"GPU0GPU1 CPU Affinity NUMA Affinity\nGPU0 XPHB 0-31 0,3-9\nGPU1 PHBX 0-31 1,10-17\n", {0, 1}},
      // Another matrix behind the first.
      {"GPU0 GPU1\nGPU0 X PHB\nGPU1 PHB X\n\nGPU0 GPU1\nGPU0 X NS\nGPU1 NS X\n", {{}, {}}},
  }));
  CAPTURE(text);

  const auto matrix = read(text);

  CHECK(matrix.gpus == 2);
  CHECK(matrix.nics.empty());
  CHECK(matrix.cells == std::vector<std::vector<Connection>>{{self, phb}, {phb, self}});
  CHECK(matrix.numa_nodes == numa);
}

TEST_CASE("NICs follow the GPUs, by the names of the legend or of their columns", "[import]") {
  const auto matrix = read(
      "\tGPU0\tNIC0\tmlx5_7\tCPU Affinity\tNUMA Affinity\n"
      "GPU0\t X \tSYS\tPHB\t0-3\t2\nNIC0\tSYS\t X \tSYS\t\t\nmlx5_7\tPHB\tSYS\t X\n\n"
      "NIC Legend:\n\n  NIC0: mlx5_0\n");
  CHECK(matrix.gpus == 1);
  CHECK(matrix.nics == std::vector<std::string>{"mlx5_0", "mlx5_7"});
  CHECK(matrix.cells[0] == std::vector<Connection>{self, sys, phb});
  CHECK(matrix.numa_nodes == Numa{2});
}

TEST_CASE("rows and first lines that a narrow terminal broke between cells are whole again", "[import]") {
  const auto matrix = read(
      "        GPU0    GPU1    GPU2\n    NIC0    CPU Affinity    NUMA Affi\nnity\n"
      "GPU0     X      PHB     SYS\n    SYS     0-3     0\n"
      "GPU1    PHB      X      SYS\n    SYS     0-3     0\n"
      "GPU2    SYS     SYS      X \n    PIX     4-7     1\n"
      "NIC0    SYS     SYS     PIX\n     X \n\nLegend:\n");
  CHECK(matrix.gpus == 3);
  CHECK(matrix.nics == std::vector<std::string>{"NIC0"});
  CHECK(matrix.cells[3] == std::vector<Connection>{sys, sys, {PathType::pix, 0}, self});
  CHECK(matrix.numa_nodes == Numa{0, 0, 1});
}

TEST_CASE("old drivers name SYS otherwise", "[import]") {
  CHECK(read("GPU0 GPU1\nGPU0 X SOC\nGPU1 SOC X\n").cells[0][1] == sys);
}

TEST_CASE("NVLinks carry their number", "[import]") {
  const auto matrix = read("\tGPU0\tGPU1\nGPU0\t X \tNV18\nGPU1\tNV18\t X \n");
  CHECK(matrix.cells[0][1] == Connection{PathType::nvlink, 18});
}

TEST_CASE("text that is not a matrix is refused at its place", "[import][errors]") {
  using Row = std::pair<std::string, std::string>;
  const auto [text, expected] = GENERATE(values<Row>({
      {"",
       "topo.txt: error: there is no line 'GPU0 GPU1 ...'\n"
       "  hint: give the whole output of `nvidia-smi topo -m`, from its first line on\n"},
      {"GPU0\t X \tPHB\nGPU1\tPHB\t X \n",
       "topo.txt: error: there is no line 'GPU0 GPU1 ...'\n"
       "  hint: give the whole output of `nvidia-smi topo -m`, from its first line on\n"},
      {"============ Weight between two GPUs =============\n GPU0 GPU1\nGPU0 0 15\nGPU1 15 0\n",
       "topo.txt: error: this is the output of `rocm-smi --showtopo`, which gradway does not read\n"
       "  hint: import the topology that RCCL writes (NCCL_TOPO_DUMP_FILE) with 'gradway import "
       "nccl-topo'\n"},
      {"GPU0 GPU1\nGPU0 X PHB\n",
       "topo.txt:1:6: error: there is no row 'GPU1'\n    1 | GPU0 GPU1\n      |      ^~~~\n"
       "  hint: give the whole output of `nvidia-smi topo -m`, from its first line on\n"},
      {"GPU0 GPU1\nGPU0 X\nGPU1 PHB X\n",
       "topo.txt:2:6: error: the row of 'GPU0' has 1 cells instead of 2\n    2 | GPU0 X\n      |      ^\n"
       "  hint: check whether the row is truncated or broken in two\n"},
      {"GPU0 GPU1\nGPU0 X QPI\nGPU1 QPI X\n",
       "topo.txt:2:8: error: invalid connection 'QPI' between 'GPU0' and 'GPU1'\n    2 | GPU0 X QPI\n"
       "      |        ^~~\n  hint: expected NV#, PIX, PXB, PHB, NODE or SYS\n"},
      {"GPU0 GPU1\nGPU0 X NV4\nGPU1 NV5 X\n",
       "topo.txt:3:6: error: 'GPU1' to 'GPU0' is 'NV5', but 'NV4' in the other direction\n    3 | GPU1 NV5 "
       "X\n"
       "      |      ^~~\n  hint: check whether the matrix was edited by hand\n"},
      {"GPU0 GPU1\nGPU0 PHB PHB\nGPU1 PHB X\n",
       "topo.txt:2:6: error: invalid connection 'PHB' between 'GPU0' and 'GPU0'\n    2 | GPU0 PHB PHB\n"
       "      |      ^~~\n  hint: expected 'X' for a device itself\n"},
      {"GPU0 GPU2\n",
       "topo.txt:1:6: error: 'GPU2' is not the next GPU\n    1 | GPU0 GPU2\n      |      ^~~~\n"
       "  hint: GPUs come first, in order\n"},
      {"GPU0 GPU1\nGPU0 X NV1\n8\nGPU1 NV1\n8 X\n",
       "topo.txt:4:6: error: the row of 'GPU1' has 1 cells instead of 2\n    4 | GPU1 NV1\n      |      ^~~\n"
       "  hint: check whether the row is truncated or broken in two\n"},
      {"GPU0 GPU1 NIC\n0 CPU Affinity\nGPU0 X PHB SYS 0-3\nGPU1 PHB X SYS 0-3\nNIC0 SYS SYS X\n",
       "topo.txt:1:11: error: there is no row 'NIC'\n    1 | GPU0 GPU1 NIC\n      |           ^~~\n"
       "  hint: give the whole output of `nvidia-smi topo -m`, from its first line on\n"},
      {"GPU0 GPU1\nGPU0 X PHB SYS\nGPU1 PHB X SYS\nNIC0 SYS SYS X\n",
       "topo.txt:2:12: error: the row of 'GPU0' has more cells than the header has names\n"
       "    2 | GPU0 X PHB SYS\n      |            ^~~\n"
       "  hint: check whether the header is truncated or broken within a name\n"},
      {"GPU0\nGPU0 X\nGPU0 X\n",
       "topo.txt:3:1: error: duplicate row 'GPU0'\n    3 | GPU0 X\n      | ^~~~\n  hint: keep one "
       "matrix\n"},
  }));
  CHECK(message(text) == expected);
}
