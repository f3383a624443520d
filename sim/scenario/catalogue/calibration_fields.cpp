// SPDX-License-Identifier: Apache-2.0
// The keys of a calibration's file.
#include "sim/cost/calibration_words.hpp"
#include "sim/scenario/catalogue/catalogue_fields.hpp"
#include "sim/scenario/catalogue/catalogue_values.hpp"
#include "sim/scenario/field_rows.hpp"

namespace gradway {
namespace {

using namespace catalogue;
namespace words = calibration_words;
constexpr value::Words a_transport{"a transport", std::span{words::transports}.subspan(1), 1};
constexpr value::Words an_operation{"an operation", words::operations};
constexpr value::Words a_precision{"a precision", words::arithmetics};
constexpr value::Whole sample_count{0, 1 << 30};
constexpr value::Whole rank_count{2, 1 << 20};
constexpr value::Whole gpu_count{1, 1 << 20};
constexpr std::string_view of_peak = "share of the datasheet's rate";
constexpr std::string_view base_time = "part of the time that does not depend on the size";
constexpr std::string_view half_width = "half width that holds 90 % of times";

constexpr value::TextRows sized_times{"size and time, such as: 64 KiB  33.2 us"};
std::optional<NumberRows> rows_of(const std::vector<SizedTime>& points) {
  NumberRows rows;
  for (const auto& [point_size, point_time] : points)
    rows.push_back({point_size.value(), point_time.value()});
  return rows.empty() ? std::nullopt : std::optional{rows};
}

}  // namespace

FieldTable make_fields(std::type_identity<FitError>) {
  return {required(field("median", &FitError::median, error, "median error of predictions")),
          required(field("worst", &FitError::worst, error, "worst error of predictions"))};
}

FieldTable make_fields(std::type_identity<Fitted>) {
  return {field("samples", &Fitted::samples, sample_count, "number of fitted samples"),
          field("median_residual", &Fitted::residual, value::MedianAndWorst{"worst_residual"},
                "error of the samples")};
}

FieldTable make_fields(std::type_identity<CollectiveSample>) {
  using Sample = CollectiveSample;
  return {required(field("operation", &Sample::kind, an_operation, "collective")),
          required(field("transport", &Sample::transport, a_transport, "slowest transport")),
          required(field("ranks", &Sample::ranks, rank_count, "number of ranks")),
          required(field("size", &Sample::size, size, "size of the buffer on each rank")),
          required(field("time", &Sample::time, time, "measured time")),
          required(field("source", &Sample::source, text, a_source)),
          field("nominal", &Sample::nominal, bandwidth, "upper limit of NCCL's bandwidth between two GPUs"),
          field("measured_on", &Sample::measured_on, text, "platform, if it is another one")};
}

FieldTable make_fields(std::type_identity<CollectiveTable>) {
  using value::MedianAndWorst;
  using Rows = CollectiveTable;
  return {required(field("transport", &Rows::transport, a_transport, "slowest transport")),
          required(field("operation", &Rows::kind, an_operation, "collective")),
          required(field("algorithm", &Rows::algorithm,
                         value::WordsOrNone{"an algorithm", words::algorithms, words::any},
                         "forced algorithm; any: chosen by NCCL")),
          required(field("protocol", &Rows::protocol,
                         value::WordsOrNone{"a protocol", words::protocols, words::any},
                         "forced protocol; any: chosen by NCCL")),
          required(field("ranks", &Rows::ranks, rank_count, "number of ranks")),
          field("nodes", &Rows::nodes, gpu_count, "number of nodes of the ranks"),
          field("predicted_from", &Rows::predicted_from, text, "what it was predicted from"),
          field("samples", &Rows::samples, sample_count, "number of fitted samples"),
          required(field("latency", &Rows::latency, time, "time of the smallest sizes")),
          required(field("bandwidth", &Rows::bandwidth, bandwidth, "of the buffer, at the largest size")),
          field("median_residual", &Rows::residual, MedianAndWorst{"worst_residual"},
                "error of the samples without outliers"),
          field("median_residual_with_outliers", &Rows::residual_with_outliers,
                MedianAndWorst{"worst_residual_with_outliers"}, "error of all samples"),
          field("interpolation_error", &Rows::interpolation, MedianAndWorst{"worst_interpolation_error"},
                "error of each inner size, predicted from the others"),
          field("spread", &Rows::spread, MedianAndWorst{"worst_spread"}, "of repetitions"),
          renamed(field("uncertainty", &Rows::uncertainty, error, half_width), "doubt"),
          custom<Rows>("points", sized_times, "corrected times by size", {.is_required = true},
                       [](const Rows& table) { return rows_of(table.points); }),
          custom<Rows>("outliers", sized_times, "samples that the points ignore", {},
                       [](const Rows& table) { return rows_of(table.outliers); })};
}

FieldTable make_fields(std::type_identity<LinkRate>) {
  return joined(
      {{required(field("link", &LinkRate::role, value::Words{"a link", words::links}, "kind of copies")),
        required(field("gpus", &LinkRate::gpus, gpu_count, "GPUs that copied at the same time")),
        required(field("bandwidth", &LinkRate::bandwidth, bandwidth, "fitted rate")),
        field("least_bandwidth", &LinkRate::least, bandwidth, "least rate if one size is left out"),
        field("most_bandwidth", &LinkRate::most, bandwidth, "largest rate if one size is left out"),
        field("latency", &LinkRate::latency, latency_or_none, base_time),
        required(field("smallest", &LinkRate::smallest, size, "smallest measured size")),
        required(field("largest", &LinkRate::largest, size, "largest measured size"))},
       part(&LinkRate::fitted),
       {required(field("source", &LinkRate::source, text, a_source))}});
}

FieldTable make_fields(std::type_identity<MatrixRate>) {
  const value::Words a_size{"a size of products", words::product_shapes};
  return joined({{required(field("precision", &MatrixRate::arithmetic, a_precision, "number format")),
                  required(field("size", &MatrixRate::shape, a_size, "size class of products")),
                  required(field("rate", &MatrixRate::rate, compute_rate, "median rate")),
                  field("of_peak", &MatrixRate::of_peak, error, of_peak)},
                 part(&MatrixRate::fitted)});
}

FieldTable make_fields(std::type_identity<MemoryRate>) {
  const value::Words a_kernel{"a memory-bound kernel", words::memory_kernels};
  return joined({{required(field("kernel", &MemoryRate::kernel, a_kernel, "kind of kernel")),
                  field("latency", &MemoryRate::latency, latency_or_none, base_time),
                  required(field("bandwidth", &MemoryRate::bandwidth, bandwidth, "rate of its traffic")),
                  field("of_peak", &MemoryRate::of_peak, error, of_peak)},
                 part(&MemoryRate::fitted)});
}

FieldTable make_fields(std::type_identity<OptimizerRate>) {
  using Rate = OptimizerRate;
  const value::Words an_optimizer{"an optimizer", words::optimizers};
  return joined({{required(field("optimizer", &Rate::optimizer, an_optimizer, "kind of optimizer")),
                  required(field("tensors", &Rate::tensors, value::Whole{1, 1 << 30}, "parameter tensors")),
                  field("floor", &Rate::floor, latency_or_none, "least time of a step"),
                  required(field("bandwidth", &Rate::bandwidth, bandwidth, "rate of its traffic"))},
                 part(&Rate::fitted)});
}

FieldTable make_fields(std::type_identity<AttentionRate>) {
  using Rate = AttentionRate;
  return joined({{required(field("precision", &Rate::arithmetic, a_precision, "number format")),
                  required(field("causal", &Rate::causal, value::Boolean{}, "whether it has a mask")),
                  field("latency", &Rate::latency, latency_or_none, base_time),
                  required(field("rate", &Rate::rate, compute_rate, "rate of its operations")),
                  field("of_peak", &Rate::of_peak, error, of_peak)},
                 part(&Rate::fitted)});
}

FieldTable make_fields(std::type_identity<LaunchTime>) {
  const value::Words a_cost{"a cost of launches", words::launch_costs};
  return joined({{required(field("what", &LaunchTime::what, a_cost, "CPU cost of issuing work")),
                  required(field("time", &LaunchTime::time, latency, "median"))},
                 part(&LaunchTime::fitted)});
}

FieldTable make_fields(std::type_identity<KernelRates>) {
  return {section("matrix", &KernelRates::matrix, "matrix products", true),
          section("memory", &KernelRates::memory, "memory-bound kernels", true),
          section("optimizers", &KernelRates::optimizers, "steps of optimizers", true),
          section("attention", &KernelRates::attention, "forward passes of attention", true),
          section("launches", &KernelRates::launches, "CPU costs of issuing work", true),
          field("smallest_kernel", &KernelRates::smallest_kernel, latency, "a kernel with almost no work")};
}

FieldTable make_fields(std::type_identity<ContentionFactors>) {
  using Factors = ContentionFactors;
  return {required(field("transport", &Factors::transport, a_transport, "transport of the collectives")),
          required(field("precision", &Factors::precision, value::Words{"a precision", words::precisions},
                         "number format of the kernels")),
          field("ranks", &Factors::ranks, rank_count, "ranks of the measurement; default: unknown"),
          field("channels", &Factors::channels, value::Whole{1, 64},
                "multiprocessors that the collectives used; default: unknown"),
          required(field("kernel_slowdown", &Factors::kernel_slowdown, value::slowdown, "of kernels")),
          required(field("collective_slowdown", &Factors::collective_slowdown, value::slowdown,
                         "of what the collective's own multiprocessors can move")),
          field("measured_on", &Factors::measured_on, text, "node, if it is another one"),
          required(field("source", &Factors::source, text, a_source))};
}

FieldTable make_fields(std::type_identity<HoldoutError>) {
  return joined({{required(field("what", &HoldoutError::what, text, "group of samples")),
                  required(field("rows", &HoldoutError::rows, value::Whole{1, 1 << 30},
                                 "number of samples that were held out"))},
                 part(&HoldoutError::error)});
}

FieldTable make_fields(std::type_identity<AdaptedPart>) {
  using Part = AdaptedPart;
  return {required(field("what", &Part::what, text, "part of the calibration")),
          required(field("rows", &Part::rows, sample_count, "number of measurements")),
          required(field("fixed", &Part::fixed, value::time_scale, "factor on times of no size")),
          required(field("moving", &Part::moving, value::time_scale, "factor on the time per byte")),
          field("median_before", &Part::before, value::MedianAndWorst{"worst_before"},
                "error of the rows before adaptation"),
          field("median_after", &Part::after, value::MedianAndWorst{"worst_after"},
                "error of each row, predicted from the others"),
          renamed(field("uncertainty", &Part::uncertainty, error, half_width), "doubt")};
}

FieldTable make_fields(std::type_identity<Adaptation>) {
  return {required(field("from", &Adaptation::from, text, "name of the original calibration")),
          field("digest", &Adaptation::digest, text, "of its samples"),
          section("parts", &Adaptation::parts, "times that were scaled", true)};
}

FieldTable make_fields(std::type_identity<SampleOrigin>) {
  return {required(field("digest", &SampleOrigin::digest, text, "of the files' contents")),
          field("files", &SampleOrigin::files, value::Names{}, "names without folders")};
}

FieldTable make_fields(std::type_identity<KernelTimes>) {
  return {
      custom("gpu", value::Name{}, "GPU of the times: a file of platforms/gpus", {.is_required = true}),
      custom("rows", value::TextRows{"kernel, size and time in us, such as: product bf16 nt 64x64x64 5.1"},
             "times of kernels", {.is_required = true})};
}

FieldTable make_fields(std::type_identity<Calibration>) {
  return {required(field("source", &Calibration::source, text, a_source)),
          field("date", &Calibration::date, value::date, "of the measurements"),
          section("samples", &Calibration::samples, "samples that were fitted"),
          section("adapted", &Calibration::adapted, "calibration that was adapted to this machine"),
          section("held_back", &Calibration::holdout_errors, "errors of samples that were held out", true),
          group("tables", &Calibration::tables, "times of collectives by size"),
          section("links", &Calibration::links, "rates of copies"),
          group("kernels", &Calibration::kernels, "rates of single kernels"),
          renamed(group("contention", &Calibration::contention,
                        "slow-down of kernels and collectives that run at the same time"),
                  "side_by_side"),
          group("collectives", &Calibration::collectives, "single measured collectives"),
          group("kernel_times", &Calibration::kernel_times, "times of kernels of PyTorch on a GPU")};
}

}  // namespace gradway
