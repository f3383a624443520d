// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "observe/diagnose/diagnose.hpp"
#include "sim/report/format/style.hpp"

namespace gradway::report {

/// Prints what a run is, how it compares with the expectation, and the verdict.
void write_diagnosis(std::ostream& out, const JobRun& run, const DiagnosisBasis& basis,
                     const Diagnosis& diagnosis, const Style& style);

/// The same as JSON: docs/files.md describes it.
void write_json(std::ostream& out, const JobRun& run, const DiagnosisBasis& basis,
                const Diagnosis& diagnosis);

/// More text of a report: what else was measured on the node.
struct DiagnosisSection {
  std::string title;
  std::string text;  ///< in lines, for a fixed-width font
};

/// Writes diagnosis.html: the verdict, the causes, and what each GPU did as measured and as expected. The
/// file opens without a network.
void write_page(std::ostream& out, const JobRun& run, const DiagnosisBasis& basis, const Diagnosis& diagnosis,
                const std::vector<DiagnosisSection>& sections);

/// "batch 8 per GPU, bf16, adamw, DDP, 37 reductions of gradients per step"
std::string training_text(const JobRun& run, const Diagnosis& diagnosis);
/// What the files do not say, each once, and what that leaves open.
std::vector<std::string> unknown_facts(const JobRun& run);
std::string verdict_text(const JobRun& run, const DiagnosisBasis& basis, const Diagnosis& diagnosis);

}  // namespace gradway::report
