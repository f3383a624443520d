// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "readers/nsys/nsys.hpp"
#include "sim/base/problem.hpp"
#include "tests/readers/trace_builder.hpp"

using namespace gradway;
using namespace gradway::testing;
using Catch::Matchers::Contains;
using Catch::Matchers::WithinRel;

namespace {

/// The export of a trace's records, which statements of SQL then change.
class NsysExport {
 public:
  explicit NsysExport(const std::string& trace, const std::string& statement = "") : trace_{trace} {
    const auto command = fmt::format("'{}/tests/readers/nsys_export' '{}' '{}' \"{}\"", GRADWAY_SOURCE_DIR,
                                     trace_.path().string(), path().string(), statement);
    REQUIRE(std::system(command.c_str()) == 0);
  }
  std::filesystem::path path() const { return trace_.path().parent_path() / "report.sqlite"; }

 private:
  TraceFile trace_;
};

ImportedProfile import_export(const NsysExport& file, ImportOptions options = {}) {
  options.known_gpus = {"h200", "l40s"};
  return import_nsys(file.path(), "report.sqlite", options);
}

std::string refusal_of(const std::string& statement) {
  const NsysExport file{trace_of(small_step()).json(), statement};
  try {
    static_cast<void>(import_export(file));
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("an export of Nsight Systems gives the profile that a trace of the same steps gives",
          "[import][nsys]") {
  const auto trace = trace_of(small_step(), {.steps = 4}).json();
  const auto expected = import_text(trace).profile;
  const auto imported = import_export(NsysExport{trace});
  const auto& profile = imported.profile;
  CHECK(imported.notes.source == "Nsight Systems export report.sqlite, 4 steps");
  CHECK(profile.gpu == expected.gpu);
  CHECK(profile.batch == expected.batch);
  CHECK(profile.precision == expected.precision);
  CHECK(profile.optimizer == expected.optimizer);
  CHECK(profile.traced_step == expected.traced_step);
  CHECK(profile.gap == expected.gap);
  REQUIRE(profile.launches.size() == expected.launches.size());
  for (std::size_t i = 0; i < expected.launches.size(); ++i) {
    CAPTURE(i);
    const auto& launch = profile.launches[i];
    const auto& other = expected.launches[i];
    CHECK(launch.phase == other.phase);
    CHECK(launch.kind == other.kind);
    CHECK(launch.cpu == other.cpu);
    CHECK(launch.gpu == other.gpu);
    CHECK(launch.blocks == other.blocks);
    CHECK(launch.blocks_per_sm == other.blocks_per_sm);
    CHECK(launch.precision == other.precision);
    CHECK(launch.flops == other.flops);
    CHECK(launch.bytes == other.bytes);
    CHECK(launch.grows == other.grows);
    CHECK(launch.name == other.name);
  }
  REQUIRE(profile.gradients.size() == expected.gradients.size());
  CHECK(profile.gradients[0].shape == expected.gradients[0].shape);
  CHECK(profile.gradients[0].after == expected.gradients[0].after);
}

TEST_CASE("the types of operands are those that kernels are named after", "[import][nsys]") {
  auto step = small_step();
  for (auto& made : step) {
    if (made.op.name == "aten::mm") made.kernel.name = "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n";
  }
  const auto under_autocast = import_export(NsysExport{trace_of(step).json()}).profile;
  CHECK(under_autocast.precision == Precision::bf16);
  CHECK(under_autocast.gradients[0].element_bytes == 4);  // the optimizer's kernels are in fp32
  // A product of (4, 8) and (8, 16): 32, 128 and 64 elements of two bytes.
  CHECK(under_autocast.launches[1].bytes == Bytes{2 * (32 + 128 + 64)});
  CHECK(under_autocast.launches[1].flops == Flops{2 * 4 * 8 * 16});

  step.back().kernel.name = "void at::native::vectorized_elementwise_kernel<4, add<c10::BFloat16>>(int)";
  CHECK(import_export(NsysExport{trace_of(step).json()}).profile.gradients[0].element_bytes == 2);

  CHECK(operand_type("cutlass_80_tensorop_f16_s16816gemm_f16_256x64_32x4_tn_align8") == "c10::Half");
  CHECK(operand_type("ampere_bf16_s16816gemm_bf16_128x64_sliced1x2_ldg8_f2f_tn") == "c10::BFloat16");
  CHECK(operand_type("ampere_sgemm_128x64_tn") == "float");
}

TEST_CASE("a range is an operation, its shapes, or a name given by the user", "[import][nsys]") {
  const auto product = nvtx_range(
      "aten::addmm, seq = 5, op_id = 7, sizes = [[16], [4, 8], [8, 16], [], []], input_op_ids = [[3, 0]]");
  CHECK(product.name == "aten::addmm");
  CHECK(product.shapes == "[[16],[4,8],[8,16],[],[]]");
  CHECK(product.is_operation);
  CHECK(operand_types(product.shapes, "float") == "float\nfloat\nfloat\nScalar\nScalar\n");
  CHECK(nvtx_range("autograd::engine::evaluate_function: MmBackward0").is_operation);
  const auto optimizer = nvtx_range("Optimizer.step#SGD.step, op_id = 9");
  CHECK(optimizer.name == "Optimizer.step#SGD.step");
  CHECK_FALSE(optimizer.is_operation);
  CHECK_FALSE(nvtx_range("forward").is_operation);
  for (const auto* damaged :
       {"aten::mm, sizes = [[4, 8], [8", "aten::mm, sizes = [[[4]]]", "aten::mm, sizes = x"})
    CHECK(nvtx_range(damaged).shapes.empty());
}

TEST_CASE("an export without required tables is refused with a hint", "[import][nsys]") {
  const std::string ranges =
      "  hint: run the steps inside 'with torch.autograd.profiler.emit_nvtx(record_shapes=True):' under "
      "'nsys "
      "profile --trace=cuda,nvtx'\n";
  const std::string record =
      "  hint: record with 'nsys profile --trace=cuda,nvtx', then 'nsys export --type sqlite'\n";
  CHECK(refusal_of("DROP TABLE NVTX_EVENTS") ==
        "report.sqlite: error: the export has no table 'NVTX_EVENTS'\n" + ranges);
  CHECK(refusal_of("DELETE FROM NVTX_EVENTS") ==
        "report.sqlite: error: no NVTX range has an operation of PyTorch with its shapes\n" + ranges);
  CHECK(refusal_of("UPDATE NVTX_EVENTS SET text = 'forward', textId = NULL") ==
        "report.sqlite: error: no NVTX range has an operation of PyTorch with its shapes\n" + ranges);
  CHECK(refusal_of("DROP TABLE CUPTI_ACTIVITY_KIND_KERNEL") ==
        "report.sqlite: error: the export has no table 'CUPTI_ACTIVITY_KIND_KERNEL'\n" + record);
  CHECK(refusal_of("ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL DROP COLUMN gridX") ==
        "report.sqlite: error: table 'CUPTI_ACTIVITY_KIND_KERNEL' has no column 'gridX'\n"
        "  hint: expected an export of Nsight Systems 2021 or later\n");
  CHECK_THAT(refusal_of("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET end = start - 1 WHERE rowid = 2"),
             Contains("the 'end' of the kernel") && Contains("is not a valid time"));
  CHECK_THAT(
      refusal_of(
          "DELETE FROM NVTX_EVENTS WHERE coalesce(text, (SELECT value FROM StringIds WHERE id = textId)) "
          "LIKE 'Optimizer%'"),
      Contains("has no step of an optimizer"));
  CHECK_THAT(refusal_of("UPDATE StringIds SET value = 'ncclDevKernel_AllReduce(x)' WHERE value LIKE 'sm90%'"),
             Contains("the trace is of distributed training: it has the kernel 'ncclDevKernel_AllReduce'"));
  // An endless view instead of a table is refused.
  CHECK(refusal_of(
            "DROP TABLE StringIds; CREATE VIEW StringIds AS WITH RECURSIVE n(id) AS (VALUES(1) UNION ALL "
            "SELECT id + 1 FROM n) SELECT id, 'x' AS value FROM n") ==
        "report.sqlite: error: the export has no table 'StringIds'\n" + record);
}

TEST_CASE("a file that is not an export is refused with the command that exports it", "[import][nsys]") {
  const TraceFile text{"NSight report, not exported\n", "report.sqlite"};
  const std::string expected =
      "report.sqlite: error: this is not a SQLite database, or it is damaged\n"
      "  hint: export the report: nsys export --type sqlite -o FILE.sqlite FILE.nsys-rep\n";
  const auto message = [](const std::filesystem::path& path) -> std::string {
    try {
      static_cast<void>(import_nsys(path, "report.sqlite", {}));
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "";
  };
  CHECK(message(text.path()) == expected);
  CHECK(message(text.path().parent_path() / "none.sqlite") ==
        "report.sqlite: error: there is no such file\n");
}

// CUDA C++ Programming Guide, technical specifications: threads of a multiprocessor, KiB of shared memory.
TEST_CASE("the limits of a multiprocessor follow from the compute capability", "[import][nsys]") {
  const auto h100 = limits_of_capability(9, 0);
  CHECK(h100.threads == 2048);
  CHECK(h100.registers == 65536);
  CHECK(h100.shared == 228 * 1024);
  CHECK(limits_of_capability(8, 9).threads == 1536);
  CHECK(limits_of_capability(3, 5).threads == 0);
}

TEST_CASE("long names that many events share are refused before they are copied", "[import][nsys]") {
  const auto message = refusal_of(
      "INSERT INTO StringIds VALUES(999999, printf('%.*c', 900000, 'x')); "
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<20000) INSERT INTO "
      "NVTX_EVENTS(start,end,eventType,textId,globalTid) SELECT i*10,i*10+5,59,999999,1 FROM n");
  CHECK_THAT(message, Contains("the names of its events are more than 200 times as large as the file"));
}

TEST_CASE("importing an export with a write-ahead log leaves no new file", "[import][nsys]") {
  const NsysExport file{trace_of(small_step()).json(), "PRAGMA journal_mode = WAL"};
  static_cast<void>(import_export(file));
  for (const auto* ending : {"-wal", "-shm"})
    CHECK_FALSE(std::filesystem::exists(file.path().string() + ending));
}

TEST_CASE("an export whose write-ahead log holds changes is refused", "[import][nsys]") {
  const NsysExport file{trace_of(small_step()).json(), "PRAGMA journal_mode = WAL"};
  std::ofstream{file.path().string() + "-wal"} << "changes";
  CHECK_THROWS_WITH(
      import_export(file),
      "report.sqlite: error: a write-ahead log has changes that are not yet in the database\n"
      "  hint: end the program that writes it, or run: sqlite3 FILE 'PRAGMA wal_checkpoint(TRUNCATE)'\n");
}
