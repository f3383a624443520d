// SPDX-License-Identifier: Apache-2.0
#include "sim/report/run/terminal.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <ostream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/compute/memory_range.hpp"
#include "sim/metrics/loading.hpp"
#include "sim/metrics/utilisation.hpp"
#include "sim/report/format/fact_words.hpp"
#include "sim/report/format/fields.hpp"
#include "sim/report/format/table.hpp"
#include "sim/report/format/text.hpp"
#include "sim/report/format/training_text.hpp"
#include "sim/report/format/words.hpp"
#include "sim/report/run/ways_in.hpp"
#include "sim/scenario/field_tables.hpp"
#include "sim/scenario/value_text.hpp"
#include "sim/trust/provenance_class.hpp"

namespace gradway::report {
namespace {

constexpr std::size_t most_links = 5;
constexpr std::size_t most_programs = 16;
constexpr std::array<std::string_view, 3> words_of_targets{
    "projections of queries and values", "attention's linear layers", "all linear layers of blocks"};

void add_variables(Fields& fields, const Job& job) {
  std::string variables;
  for (const auto& [name, value] : job.nccl)
    variables += fmt::format("{}{}={}", variables.empty() ? "" : " ", name, value);
  if (!variables.empty()) fields.add("nccl", variables);
  std::vector<std::string> network;
  const Record conditions{job.network};
  for (const auto& field : conditions.fields())
    if (const auto value = conditions.value(field); !is_empty(value))
      network.push_back(fmt::format("{} {}", field.key, value_text(field.kind, value)));
  if (!network.empty()) fields.add("network", fmt::format("{}", fmt::join(network, ", ")));
  std::vector<std::string> traffic;
  for (const auto& flow : job.traffic) {
    const auto wanted = flow.rate ? rate_text(*flow.rate) : percent_text(flow.load) + " of the slowest link";
    std::string times;
    if (flow.start > Seconds{}) times += fmt::format(", from {} on", time_text(flow.start));
    if (flow.end) times += fmt::format(", until {}", time_text(*flow.end));
    if (flow.period) times += fmt::format(", every {}", time_text(*flow.period));
    traffic.push_back(
        fmt::format("{} to {}: {}, weight {:.3g}{}", flow.from, flow.to, wanted, flow.weight, times));
  }
  if (!traffic.empty()) fields.add("traffic", traffic);
}

/// "8,030,261,248 parameters, 20,971,520 trained"
std::string parameters_in_words(const Model& model) {
  const auto frozen = model.frozen_count();
  const auto trained = thousands_text(model.parameter_count());
  if (const auto& tables = model.tables; !tables.empty())
    return fmt::format("{} parameters and {} of {}", trained,
                       counted_text(tables.tables.size(), "embedding table"), bytes_text(tables.size()));
  if (frozen == 0) return fmt::format("{} parameters", trained);
  return fmt::format("{} parameters, {} trained", thousands_text(frozen), trained);
}

void write_job(Fields& fields, const Run& run) {
  const auto& job = run.scenario.job;
  const auto& model = run.scenario.model;
  const bool has_model = trains(job.strategy);
  if (has_model) {
    fields.add("model", fmt::format("{}, {}", model.name, parameters_in_words(model)));
  }
  fields.add("platform", fmt::format("{}: {}", run.scenario.platform.name,
                                     hardware_in_words(run.scenario.platform, job.gpus)));
  if (const auto& speeds = run.scenario.platform.speeds; !speeds.as_built())
    fields.add("what if", gradway::in_words(speeds), Paint::yellow);
  if (!has_model) {
    fields.add("collective", describe(job.strategy));
    add_variables(fields, job);
    return;
  }
  const bool is_model_parallel = job.layout.is_model_parallel();
  const auto micro = job.accumulate > 1 ? fmt::format(" x {} {}", job.accumulate,
                                                      is_model_parallel ? "micro-batches" : "micro-steps")
                                        : "";
  fields.add("batch",
             fmt::format("{} per {}{}, {} per step", job.batch_per_gpu, is_model_parallel ? "replica" : "GPU",
                         micro, thousands_text(std::llround(job.samples()))));
  const auto fp8 = fp8_of(job);
  fields.add("precision",
             fp8 && fp8->recipe == Fp8Recipe::nvfp4 ? std::string{"nvfp4 by Transformer Engine"}
             : fp8 ? fmt::format("{}, {} scaling by {}", name_of(job.precision), name_of(fp8->recipe),
                                 fp8->by_transformer_engine ? "Transformer Engine" : "torchao")
                   : std::string{name_of(job.precision)});
  if (job.lora)
    fields.add("fine-tuning", fmt::format("{} of rank {} on {}; all other parameters are frozen in {}",
                                          job.lora->quantised ? "QLoRA" : "LoRA", job.lora->rank,
                                          words_of_targets[static_cast<std::size_t>(job.lora->targets)],
                                          job.lora->quantised ? "NF4 and 16 bits" : "16 bits"));
  if (is_model_parallel) fields.add("layout", describe(job.layout, job));
  fields.add("strategy", describe(job.strategy));
  if (job.local_sgd) fields.add("workers", describe(*job.local_sgd));
  fields.add("optimizer", name_of(job.optimizer));
  add_variables(fields, job);
}

/// "362.6", "16,210": all digits before the point.
std::string four_digits_at_least(double rate) {
  return rate >= 9999.5 && rate < 1e15 ? thousands_text(std::llround(rate)) : fmt::format("{:.4g}", rate);
}

void add_largest_batch(Fields& fields, const LargestBatch& largest, const Scenario& scenario) {
  const auto& gpu = scenario.platform.gpu_models.front();
  const bool has_room = largest.tight_batch > largest.batch;
  const auto of_one_more =
      has_room                 ? fmt::format("; up to {} would be tight", thousands_text(largest.tight_batch))
      : largest.one_more_needs ? fmt::format("; {} would need {}", thousands_text(largest.batch + 1),
                                             bytes_text(*largest.one_more_needs))
                               : "";
  fields.add("fits",
             fmt::format("largest batch per GPU: {}, which needs {} of {}{} (estimate)",
                         thousands_text(largest.batch), bytes_text(largest.needs), bytes_text(gpu.memory),
                         of_one_more),
             Paint::bold);
}

/// Changes that make the job fit, by the time that they add to its step.
void write_changes_to_fit(std::ostream& out, const RunQuestions& questions, const Style& style) {
  constexpr std::size_t most_changes = 6;
  if (questions.fit.changes.empty()) return;
  using enum Table::Align;
  Table table{
      {{"step", right}, {"", right}, {"memory", right}, {"", left}, {"what makes it fit as written", left}}};
  for (std::size_t i = 0; i < std::min(questions.fit.changes.size(), most_changes); ++i) {
    const auto& change = questions.fit.changes[i];
    std::string keys;
    for (const auto& [key, value] : change.set)
      keys += fmt::format("{}{}={}", keys.empty() ? "" : " ", key, value);
    table.add({time_text(change.step_time),
               fmt::format("{:+.0f} %", -100 * change.gain(questions.fit.step_as_written)),
               bytes_text(change.needs), std::string{name_of(change.verdict)}, keys});
  }
  out << '\n';
  table.write(out, style, "  ");
}

/// One phrase for each class of provenance, in the order of the enum.
constexpr std::array<std::string_view, 5> provenance_sentences{
    "measured on this GPU model, with such collectives",
    "a step was measured on this GPU model; collectives follow NCCL's own rates",
    "kernels were timed on this GPU model, but no step of the model was measured",
    "extrapolated from another GPU model by both datasheets",
    "datasheets; the largest parts of the step were not measured"};

/// The memory that a GPU needs, and whether it has that much.
std::string memory_in_words(const Run& run) {
  const auto& scenario = run.scenario;
  const auto needed = bytes_text(run.measured.metrics.peak_memory);
  if (!knows_memory(scenario)) return fmt::format("at least {} per GPU: activations are unknown", needed);
  if (scenario.platform.gpu_models.front().ideal) return fmt::format("{} per GPU (estimate)", needed);
  return verdict_in_words(scenario, run.measured.memory);
}

/// "1.054 for storage (0.01 to keep the dataset, 0.5 for requests, 0.544 for egress)"
std::string storage_cost_in_words(const StorageUsd& usd) {
  auto words = fmt::format("{:.4g} for storage", usd.sum());
  if (usd.requests + usd.egress > 0)
    words += fmt::format(" ({:.4g} to keep the dataset, {:.4g} for requests, {:.4g} for egress)", usd.keeping,
                         usd.requests, usd.egress);
  return words;
}

/// Empty if no price is known.
std::string cost_in_words(const Metrics& metrics, const std::optional<Price>& price) {
  const auto& storage =
      metrics.loading ? metrics.loading->usd_per_million_samples : std::optional<StorageUsd>{};
  if (!metrics.cost_per_hour)
    return storage ? "USD per million samples: " + storage_cost_in_words(*storage) : "";
  auto cost = price_text(metrics.cost_per_hour->value()) + " USD/h";
  if (price && price->terms != Terms::on_demand) cost += fmt::format(" ({})", name_of(price->terms));
  if (!metrics.cost_usd_per_million_samples) return cost;
  cost += fmt::format(", {:.4g} USD per million samples", *metrics.cost_usd_per_million_samples);
  if (storage) cost += ", of which " + storage_cost_in_words(*storage);
  if (metrics.idle_gpus > 0)
    cost += fmt::format("; {} {} paid and idle", counted_text(metrics.idle_gpus, "GPU"),
                        metrics.idle_gpus == 1 ? "is" : "are");
  return cost;
}

void add_throughput(Fields& fields, const Run& run) {
  const auto& metrics = run.measured.metrics;
  fields.add("throughput", fmt::format("{:.4g} steps/s, {} samples/s", metrics.steps_per_s,
                                       four_digits_at_least(metrics.samples_per_s)));
  if (!metrics.tokens_per_s) return;
  const auto gpus = run.scenario.job.gpus;
  const auto total =
      gpus == 1 ? "" : fmt::format(", {} tokens/s in total", digits_text(*metrics.tokens_per_s, 4));
  fields.add("", fmt::format("{} tokens/s per GPU{}", digits_text(*metrics.tokens_per_s / gpus, 4), total));
}

void add_loading(Fields& fields, const Metrics& metrics, const InputSettings& input) {
  if (!metrics.loading) return;
  const auto& loading = *metrics.loading;
  fields.add(
      "loading",
      fmt::format(
          "a batch takes {}, the first is ready after {}; {} read per step, accelerator utilisation {}",
          time_text(loading.batch), time_text(loading.first_batch), bytes_text(loading.read),
          percent_text(accelerator_utilisation(metrics))));
  fields.add("epoch", fmt::format("{} steps in {}, {} of which are its start",
                                  thousands_text(static_cast<std::int64_t>(loading.epoch_steps)),
                                  time_text(epoch_time(metrics, loading)), time_text(loading.epoch_start)));
  if (input.codec || input.cache || input.dedup != DedupPlace::none)
    fields.add("data", data_tiers_in_words(input));
}

/// How busy the GPU is, and what it sends.
void add_details(Fields& fields, const Metrics& metrics) {
  const auto flops =
      metrics.tflops_per_gpu > 0 ? fmt::format("{:.4g} TFLOP/s, ", metrics.tflops_per_gpu) : "";
  fields.add("each GPU", fmt::format("{}{} busy", flops, percent_text(metrics.gpu_busy_fraction)));
  if (metrics.collectives > 0) {
    fields.add("collectives",
               fmt::format("{} per step, {} sent by each GPU", thousands_text(metrics.collectives),
                           bytes_text(metrics.bytes_sent_per_gpu)));
  }
}

/// What PyTorch allocates at the worst moment of a run, if no step does, and what nvidia-smi shows.
void add_peak_of_run(Fields& fields, const Run& run) {
  constexpr std::array<std::string_view, run_part_words.size()> when{
      "while the model is loaded",
      "in the first step",
      "when DDP rebuilds its buckets beside the first",
      "",
      "while it evaluates",
      "while a checkpoint is written"};
  const auto peak = peak_of_run(run.scenario, run.measured.memory);
  if (peak.part != RunPart::step) {
    const auto in_step = peak.step > 1 ? fmt::format(" in step {},", peak.step) : "";
    fields.add("peak of run",
               fmt::format("{} allocated{} {}; {} in {}steps", bytes_text(peak.allocated), in_step,
                           when[static_cast<std::size_t>(peak.part)],
                           bytes_text(run.measured.metrics.peak_memory), peak.step > 0 ? "other " : ""));
  }
  if (peak.nvidia_smi() > 0_B)
    fields.add("nvidia-smi",
               fmt::format("{} ({} to {}), of which PyTorch reserves {}", bytes_text(peak.nvidia_smi()),
                           bytes_text(peak.reserved_low + peak.beside),
                           bytes_text(peak.reserved_high + peak.beside), bytes_text(peak.reserved)));
}

void write_results(Fields& fields, const Run& run, Detail detail) {
  const auto& metrics = run.measured.metrics;
  const auto interval =
      run.range.low < run.range.high
          ? fmt::format(" (90 % prediction interval: {})", range_text(run.range.low, run.range.high))
          : "";
  fields.add(surely_does_not_fit(run.scenario, run.measured.memory) ? "would take" : "step time",
             time_text(metrics.step_time) + interval, Paint::bold);
  if (metrics.bus_bandwidth) {
    fields.add("bandwidth", fmt::format("{} of bus bandwidth", rate_text(*metrics.bus_bandwidth)),
               Paint::bold);
    return;
  }
  add_throughput(fields, run);
  if (metrics.mfu) {
    fields.add("MFU", fmt::format("{:.3g} % of {}, the peak of {} in {}", *metrics.mfu * 100,
                                  count_text(peak_of(run.scenario)->value(), "FLOP/s"),
                                  run.scenario.platform.gpu_models.front().name,
                                  name_of(run.scenario.job.precision)));
  }
  fields.add("memory", memory_in_words(run));
  if (detail == Detail::full && knows_memory(run.scenario)) add_peak_of_run(fields, run);
  if (detail == Detail::full) add_details(fields, metrics);
  add_loading(fields, metrics, run.scenario.job.input);
  if (const auto& local = run.scenario.job.local_sgd; local && local->wan)
    fields.add("exchange", describe(outer_loop_of(run.scenario.model, *local, metrics.step_time), *local));
  if (const auto cost = cost_in_words(metrics, run.scenario.platform.price); !cost.empty())
    fields.add("cost", cost);
}

void write_links(std::ostream& out, const std::vector<ResourceUse>& links, const Style& style) {
  if (links.empty()) return;
  using enum Table::Align;
  Table table{{{"busiest links and memories", left}, {"busy", right}, {"carried per step", right}}};
  for (std::size_t i = 0; i < std::min(links.size(), most_links); ++i) {
    table.add({links[i].name, percent_text(links[i].busy_fraction), bytes_text(links[i].bytes)});
  }
  out << '\n';
  table.write(out, style, "  ");
}

/// Writes where the time of each pipeline stage goes, one row per stage. Omits the middle of long pipelines.
void write_programs(std::ostream& out, const Run& run, const Style& style) {
  const auto& programs = run.measured.by_program;
  if (programs.size() < 2) return;
  using enum Table::Align;
  Table table{{{"", left},
               {"compute", right},
               {"exposed", right},
               {"launch-bound", right},
               {"idle", right},
               {"memory", right}}};
  const auto of_step = [&](Seconds time) { return percent_text(time / run.measured.metrics.step_time); };
  for (std::size_t i = 0; i < programs.size(); ++i) {
    if (programs.size() > most_programs && i == most_programs / 2) {
      i = programs.size() - most_programs / 2;
      table.add({"...", "", "", "", "", ""});
    }
    const auto& [name, ranks, parts, memory] = programs[i];
    table.add({name, of_step(parts.compute + parts.optimizer), of_step(parts.exposed_communication),
               of_step(parts.launch_bound), of_step(parts.idle), bytes_text(memory.allocated())});
  }
  out << '\n';
  table.write(out, style, "  ");
}

/// ", 2 ranks stand for all 8"; empty if each rank was simulated.
std::string ranks_in_words(const Run& run) {
  const auto ranks = static_cast<std::size_t>(run.workload.ranks);
  const auto simulated = run.folding.simulated_ranks();
  if (simulated == ranks) return "";
  return fmt::format(", {} {} for all {}", counted_text(simulated, "rank"),
                     simulated == 1 ? "stands" : "stand", thousands_text(run.workload.ranks));
}

/// What the prediction is based on, in one sentence.
std::string provenance_in_words(const Run& run) {
  const auto& step_basis = run.step_basis;
  if (step_basis.compute == Basis::given && step_basis.communication == Basis::given)
    return "times given in the files of the model and the platform";
  auto words = std::string{provenance_sentences[static_cast<std::size_t>(provenance_class_of(step_basis))]};
  if (std::ranges::any_of(run.warnings, is_extrapolation))
    words += "; parts of the communication are extrapolated";
  return words;
}

/// `Detail::brief` omits the details of extrapolated communication: the provenance says that it is.
void write_warnings(std::ostream& out, Fields& fields, const Run& run, Detail detail) {
  auto warnings = run.warnings;
  if (detail == Detail::brief) std::erase_if(warnings, is_extrapolation);
  if (warnings.empty()) return;
  out << '\n';
  fields.add("warning", with_codes(warnings), Paint::yellow);
}

}  // namespace

void write_text(std::ostream& out, const Run& run, const Style& style, Detail detail,
                const RunQuestions& questions) {
  Fields fields{out, style};
  write_memory_verdict(out, run, style);
  out << style.paint(Paint::bold, fit(run.scenario.name, style.width)) << "\n\n";
  write_job(fields, run);
  out << '\n';
  if (questions.fit.largest_batch) add_largest_batch(fields, *questions.fit.largest_batch, run.scenario);
  write_results(fields, run, detail);
  out << '\n';
  if (questions.ways_in) {
    write_ways_in(out, fields, *questions.ways_in, run.scenario.job.input, style);
    out << '\n';
  }
  if (questions.goal) {
    add_training(fields, *questions.goal, training_of(*questions.goal, run.measured.metrics, run.range));
    out << '\n';
  }
  write_breakdown(out, run.measured.metrics, style, detail);
  write_changes_to_fit(out, questions, style);
  if (detail == Detail::full) write_programs(out, run, style);
  out << '\n';
  const auto bottleneck = describe(run.measured.bottleneck);
  fields.add("bottleneck", bottleneck.resource, Paint::bold);
  if (!bottleneck.why.empty()) fields.add("", bottleneck.why);
  if (detail == Detail::full) {
    write_links(out, run.measured.links, style);
    out << '\n';
    fields.add("engine", run.engine + ranks_in_words(run));
    fields.add("provenance", provenance_in_short(run.basis));
  } else {
    out << '\n';
    fields.add("provenance", provenance_in_words(run));
  }
  write_warnings(out, fields, run, detail);
  if (detail == Detail::brief) {
    fields.add("more", "details: --verbose; what would make it faster: gradway explain", Paint::dim);
  }
}

void write_memory_verdict(std::ostream& out, const Run& run, const Style& style) {
  if (!surely_does_not_fit(run.scenario, run.measured.memory)) return;
  write_wrapped(out, verdict_in_words(run.scenario, run.measured.memory), style, Paint::red);
  write_wrapped(out, "the results below assume enough memory", style, Paint::dim);
  out << '\n';
}

namespace {

constexpr double smallest_share = 5e-4;  ///< A smaller share of the step would read "0.0 %".

/// A part of the step. Fills differ, so that the bar is readable without colours.
struct BreakdownPart {
  std::string_view name;
  std::string_view fill;
  Paint paint;
  Seconds Metrics::*time;
};

constexpr std::array shown_parts{
    BreakdownPart{"compute", "█", Paint::green, &Metrics::compute},
    BreakdownPart{"exposed communication", "▒", Paint::red, &Metrics::exposed_communication},
    BreakdownPart{"input wait", "▓", Paint::yellow, &Metrics::input_wait},
    BreakdownPart{"optimizer", "▚", Paint::blue, &Metrics::optimizer},
    BreakdownPart{"launch-bound", "░", Paint::magenta, &Metrics::launch_bound},
    BreakdownPart{"idle", "·", Paint::dim, &Metrics::idle},
};

std::string repeat(std::string_view text, std::size_t times) {
  std::string repeated;
  for (std::size_t i = 0; i < times; ++i) repeated += text;
  return repeated;
}

/// The bar. Each part ends at the rounded cumulative sum, so that rounding errors do not accumulate.
std::string bar(const Metrics& metrics, std::size_t width, const Style& style) {
  std::string text;
  double sum = 0;
  std::size_t end = 0;
  for (const auto& part : shown_parts) {
    sum += metrics.*part.time / metrics.step_time;
    const auto next =
        static_cast<std::size_t>(std::round(std::clamp(sum, 0.0, 1.0) * static_cast<double>(width)));
    text += style.paint(part.paint, repeat(part.fill, next - std::min(end, next)));
    end = std::max(end, next);
  }
  return text;
}

/// Unit of all rows: that of the step, so that rows compare at a glance.
struct ColumnUnit {
  std::string_view name;
  double seconds;
};

ColumnUnit unit_for(Seconds step) {
  if (step.value() >= 10) return {"s", 1};
  return step.value() >= 1e-3 ? ColumnUnit{"ms", 1e-3} : ColumnUnit{"us", 1e-6};
}

std::string row(std::string_view mark, std::string_view name, Seconds time, Seconds step) {
  const auto unit = unit_for(step);
  const auto decimals = step.value() / unit.seconds < 100 ? 2 : 1;
  return fmt::format("  {} {:<24}{:>10.{}f} {:<2}{:>8.1f} %", mark, name, time.value() / unit.seconds,
                     decimals, unit.name, time / step * 100);
}

}  // namespace

void write_breakdown(std::ostream& out, const Metrics& metrics, const Style& style, Detail detail) {
  if (!(metrics.step_time.value() > 0)) return;
  out << "  " << bar(metrics, std::max<std::size_t>(style.width, 12) - 4, style) << "\n\n";
  const auto is_shown = [&](Seconds time) {
    return detail == Detail::full || time / metrics.step_time >= smallest_share;
  };
  for (const auto& part : shown_parts) {
    if (!is_shown(metrics.*part.time)) continue;
    out << row(style.paint(part.paint, part.fill), part.name, metrics.*part.time, metrics.step_time) << '\n';
  }
  const auto also = [&](std::string_view name, Seconds time, const char* note) {
    if (is_shown(time))
      out << style.paint(Paint::dim, row(" ", name, time, metrics.step_time) + "   " + note) << '\n';
  };
  if (metrics.is_of_parts) {
    for (std::size_t i = 0; i < purpose_words.size(); ++i) {
      if (metrics.exposed[i] > Seconds{})
        also(fmt::format("  exposed, {}", purpose_words[i]), metrics.exposed[i], "of exposed communication");
    }
  }
  if (metrics.bubble && *metrics.bubble > Seconds{})
    also("bubble", *metrics.bubble, "idle, mean of all stages");
  if (metrics.communication > Seconds{})
    also("overlapped communication", metrics.communication - metrics.exposed_communication, "with kernels");
}

}  // namespace gradway::report
