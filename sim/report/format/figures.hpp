// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "sim/metrics/metrics.hpp"
#include "sim/report/format/json_document.hpp"
#include "sim/study/ask/ask.hpp"

namespace gradway::report {

/// The figures of a step, in the order of their table: `metrics` in report.json.
nlohmann::ordered_json figures_json(const Metrics& metrics, int gpus);

/// Those of an answer that are named; also `interval`, `memory_needed_bytes` and `memory_verdict`.
nlohmann::ordered_json figures_json(const Answer& answer, std::initializer_list<std::string_view> names);

/// Those of them that are the parts of a step, which all but `communication_s` add up to.
nlohmann::ordered_json parts_json(const StepParts& parts);

/// JSON Schema of `figures_json`, with titles of columns and axes, and `better`: whether low or high values
/// are. The types of Python and TypeScript are made from it.
JsonDocument figures_schema();

}  // namespace gradway::report
