// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "observe/diagnose/expectations.hpp"
#include "readers/samples/samples.hpp"
#include "sim/report/format/style.hpp"

namespace gradway {

/// What a part of a node must reach, as a share of what is expected of its kind.
struct AcceptanceLimit {
  std::string name{};
  double least = 0;
  bool is_required = false;  ///< a node on which it was not measured is not accepted
  std::string source{};
  std::string advice{};  ///< what to look at if it fails
};

/// Rates that others demand of a platform, in GB/s; 0: none.
struct AcceptanceDemand {
  std::string platform{};
  double all_reduce = 0;   ///< bus bandwidth of the largest all-reduce
  double to_gpu = 0;       ///< copies from pinned memory, and back
  double peer = 0;         ///< copies between two GPUs
  double host_memory = 0;  ///< copies by all cores, bytes read and written
  double disk_write = 0;
  double disk_read = 0;
  std::string source{};
};

struct AcceptanceTable {
  std::vector<AcceptanceLimit> limits;
  std::vector<AcceptanceDemand> demands;
};

/// The shipped table (acceptance.txt), with the user's rows in place of those of the same name.
/// @param own text of the user's file; "": none
/// @throws ConfigError with the place of a row that is none
AcceptanceTable acceptance_table(const std::string& own, const std::string& file);

enum class AcceptanceVerdict { pass, fail, unmeasured };

struct AcceptanceCheck {
  std::string name{};      ///< of its limit, or of who demands it
  std::string part{};      ///< the slowest part: "bf16 products"
  std::string measured{};  ///< "676 TFLOP/s"
  std::string expected{};
  double share = 0;  ///< of the expected speed
  double least = 0;
  AcceptanceVerdict verdict = AcceptanceVerdict::unmeasured;
  std::string source{};  ///< of the limit
  std::string advice{};  ///< what to look at if it fails
};

struct Acceptance {
  std::string node{};      ///< "4 x NVIDIA H200, driver 580.159.04"
  std::string date{};      ///< of the measurement; may be empty
  std::string platform{};  ///< that it is compared with
  std::vector<AcceptanceCheck> checks{};
  std::vector<std::string> remarks{};  ///< of the probe

  bool passes() const;
};

/// Compares what gradway-probe measured on a node with its kind: large products, memory-bound kernels,
/// copies and collectives, clocks and GPUs under load. Of several sizes the median counts, of several
/// operations, precisions and GPUs the slowest.
Acceptance accept(const Samples& samples, const DiagnosisBasis& basis, const AcceptanceTable& table);

namespace report {

void write_acceptance(std::ostream& out, const Acceptance& acceptance, const Style& style);
/// One page in Markdown for who sold the node.
void write_acceptance_markdown(std::ostream& out, const Acceptance& acceptance);
void write_acceptance_json(std::ostream& out, const Acceptance& acceptance);

}  // namespace report
}  // namespace gradway
