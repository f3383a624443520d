// SPDX-License-Identifier: Apache-2.0
#include "sim/study/explain/explain.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <optional>

#include <fmt/format.h>

#include "sim/compute/compute_costs.hpp"
#include "sim/compute/memory_range.hpp"
#include "sim/plan/input/batch_cost.hpp"
#include "sim/platform/with_speeds.hpp"
#include "sim/scenario/shared_by_loaders.hpp"
#include "sim/study/explain/network_changes.hpp"
#include "sim/study/parallel.hpp"
#include "sim/study/search/sharding_settings.hpp"

namespace gradway {
namespace {

/// Parts of the hardware, by number.
using Parts = std::array<bool, all_parts.size()>;

bool has(const Parts& parts, HardwarePart part) {
  return parts[static_cast<std::size_t>(part)];
}

/// Parts that the job itself uses, without those of a neighbour's traffic.
Parts used_parts(const Run& run) {
  Parts used{};
  const auto parts = parts_of_resources(run.scenario.platform);
  for (const auto& op : run.ops.ops()) {
    if (op.origin.activity == Activity::launch && op.latency > Seconds{})
      used[static_cast<std::size_t>(HardwarePart::cpu)] = true;
    if (op.kind != OpKind::flow || op.is_endless() || op.amount == 0) continue;
    for (const auto resource : run.ops.path(op.path))
      used[static_cast<std::size_t>(parts[resource.index()])] = true;
  }
  return used;
}

change::FasterPart faster(HardwarePart part, const std::optional<ChannelLimit>& limit) {
  return {part, limit && limit->part == part ? std::string{limit->transport} : ""};
}

/// "1e9", "2": as users type a factor.
std::string factor_text(double factor) {
  auto text = fmt::format("{}", factor);
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  if (constexpr std::string_view billions = "000000000";
      text.size() > billions.size() && text.ends_with(billions))
    text.replace(text.size() - billions.size(), std::string::npos, "e9");
  return text;
}

/// One GPU of several is a straggler, for which all others wait.
std::optional<Counterfactual> with_slow_gpu(const Scenario& scenario, std::string_view engine) {
  if (scenario.job.gpus < 2 || scenario.job.slow_gpu > 1 || !trains(scenario.job.strategy))
    return std::nullopt;
  auto changed = scenario;
  changed.job.slow_gpu = slow_gpu_factor;
  return Counterfactual{.name = "slow_gpu",
                        .change = change::SlowGpu{scenario.job.gpus},
                        .set = {{"job.slow_gpu", factor_text(slow_gpu_factor)}},
                        .step_time = simulate(changed, engine).measured.metrics.step_time};
}

/// Mean steps with other settings of the exchanges between workers.
std::vector<Counterfactual> other_meetings(const Run& run, const LocalSgd& settings) {
  std::vector<Counterfactual> answers;
  const auto add = [&](std::string name, Change change, std::string key, std::string value,
                       const auto& apply) {
    auto changed = settings;
    apply(changed);
    const auto loop = outer_loop_of(run.scenario.model, changed, run.measured.metrics.step_time);
    answers.push_back({.name = std::move(name),
                       .change = std::move(change),
                       .set = {{std::move(key), std::move(value)}},
                       .step_time = loop.mean_step()});
  };
  add("inner_steps_2x", change::MoreInnerSteps{}, "strategy.inner_steps",
      fmt::format("{}", settings.inner_steps * 2), [](LocalSgd& changed) { changed.inner_steps *= 2; });
  if (exchanged_bytes[static_cast<std::size_t>(settings.exchanged)] > 1)
    add("exchanged_int8", change::Int8Updates{}, "strategy.exchanged", "int8",
        [](LocalSgd& changed) { changed.exchanged = Exchanged::int8; });
  const auto most = settings.inner_steps / settings.fragments;
  if (settings.overlap_steps < most)
    add("overlap_steps_most", change::LongestOverlap{}, "strategy.overlap_steps", fmt::format("{}", most),
        [&](LocalSgd& changed) { changed.overlap_steps = most; });
  add("wan_2x", change::FasterWan{}, "strategy.wan.rate",
      fmt::format("{} B/s", settings.wan->rate.value() * 2),
      [](LocalSgd& changed) { changed.wan->rate = changed.wan->rate * 2; });
  if (settings.wan->window || settings.wan->loss > 0)
    add("streams_2x", change::MoreConnections{}, "strategy.wan.streams",
        fmt::format("{}", settings.wan->streams * 2), [](LocalSgd& changed) { changed.wan->streams *= 2; });
  const bool slows_down =
      settings.wan->congestion == Congestion::reno || settings.wan->congestion == Congestion::cubic;
  if (slows_down && settings.wan->loss > 0 && settings.wan->loss < most_loss(Congestion::bbr))
    add("congestion_bbr", change::OtherCongestion{Congestion::bbr}, "strategy.wan.congestion", "bbr",
        [](LocalSgd& changed) { changed.wan->congestion = Congestion::bbr; });
  const auto step = outer_loop_of(run.scenario.model, settings, run.measured.metrics.step_time).mean_step();
  std::erase_if(answers, [&](const Counterfactual& answer) { return answer.step_time >= step; });
  std::ranges::stable_sort(answers, {}, &Counterfactual::step_time);
  return answers;
}

/// Counterfactuals of a run before they are simulated, each with its change of the scenario.
class Questions {
 public:
  Questions(const Run& run, const std::optional<ChannelLimit>& limit, const std::optional<StorageTier>& drive)
      : own_{run.scenario.platform.speeds}, used_{used_parts(run)} {
    for (const auto part : all_parts) {
      if (has(used_, part)) ask(fmt::format("{}_2x", key_of(part)), faster(part, limit), {part}, 2);
    }
    std::vector<HardwarePart> links;
    for (const auto part : {HardwarePart::host_memory, HardwarePart::pcie, HardwarePart::nvlink,
                            HardwarePart::inter_socket, HardwarePart::network})
      if (has(used_, part)) links.push_back(part);
    if (!links.empty()) ask("infinite_links", change::InfiniteLinks{}, links, practically_infinite);
    if (has(used_, HardwarePart::cpu))
      ask("no_launch_cost", change::FreeLaunches{}, {HardwarePart::cpu}, practically_infinite);
    for (const auto& setting : sharding_settings(run.scenario)) {
      for (const auto& value : setting.values)
        if (!value.words.empty()) ask(setting, value);
    }
    if (run.scenario.job.input.dataset) {
      const auto& platform = run.scenario.platform;
      ask_of_loaders(run.scenario.job.input, platform.gpu_models.front());
      ask_of_storage(run.scenario.job.input, drive,
                     std::min(run.scenario.job.gpus,
                              std::max(1, static_cast<int>(platform.gpus.size()) / platform.nodes)));
    }
    ask_of_program(run.scenario.job, run.scenario.model);
    for (auto& network_change : network_changes(run.scenario)) {
      answers_.push_back({.name = std::move(network_change.name),
                          .change = std::move(network_change.change),
                          .set = std::move(network_change.set)});
      changes_.push_back(std::move(network_change.apply));
    }
  }

  std::size_t count() const { return answers_.size(); }
  void change(Scenario& scenario, std::size_t i) const { changes_[i](scenario); }
  std::vector<Counterfactual>& answers() { return answers_; }

 private:
  void ask(std::string name, Change change, const std::vector<HardwarePart>& parts, double factor) {
    Counterfactual answer{.name = std::move(name), .change = std::move(change), .set = {}};
    auto speeds = own_;
    for (const auto part : parts) {
      speeds[part] = std::min(speeds[part] * factor, largest_speed);
      answer.set.emplace_back(fmt::format("faster.{}", key_of(part)), factor_text(speeds[part]));
    }
    answers_.push_back(std::move(answer));
    changes_.emplace_back([speeds](Scenario& scenario) {
      scenario.platform = with_speeds(std::move(scenario.platform), speeds);
    });
  }

  void ask(const ShardingSetting& setting, const SettingValue& value) {
    auto name = fmt::format("{}_{}", setting.name, value.text);
    std::ranges::replace(name, ' ', '_');
    answers_.push_back({.name = std::move(name),
                        .change = change::ShardingChoice{value.words},
                        .set = {{setting.key, value.text}}});
    changes_.emplace_back(
        [strategy = value.strategy](Scenario& scenario) { scenario.job.strategy = strategy; });
  }

  using Keys = std::vector<std::pair<std::string, std::string>>;

  /// Asks for a change of the input, after which loaders have other resources. @param set empty: a bound
  void ask_of_input(std::string name, Change change, Keys set, std::function<void(InputSettings&)> apply) {
    answers_.push_back({.name = std::move(name), .change = std::move(change), .set = std::move(set)});
    changes_.emplace_back([apply = std::move(apply)](Scenario& scenario) {
      apply(scenario.job.input);
      scenario.platform = with_loaders(std::move(scenario.platform), scenario.job);
    });
  }

  void ask_of_loaders(const InputSettings& input, const Gpu& gpu) {
    const auto workers = [&](int count, Change change) {
      ask_of_input(fmt::format("loader_workers_{}", count), std::move(change),
                   {{"input.loader_workers", fmt::format("{}", count)}},
                   [count](InputSettings& changed) { changed.loader_workers = count; });
    };
    if (input.loader == LoaderKind::pytorch) {
      workers(input.loader_workers + 1, change::MoreWorkers{false});
      if (input.loader_workers > 1) workers(2 * input.loader_workers, change::MoreWorkers{true});
    } else if (!input.tunes_threads) {
      workers(2 * input.loader_workers, change::MoreThreads{});
    }
    ask_of_decoders(input, gpu);
    ask_of_reads(input);
    ask_of_input("ready_samples", change::ReadySamples{}, {},
                 [](InputSettings& changed) { changed.dataset.reset(); });
  }

  void ask_of_decoders(const InputSettings& input, const Gpu& gpu) {
    const bool by_dali = input.loader == LoaderKind::dali;
    const bool gpu_can = by_dali
                             ? input.dataset->pixels > 0
                             : input.loader == LoaderKind::pytorch && input.dataset->gpu_decode > Seconds{};
    if (!input.decode_on_gpu && gpu_can)
      ask_of_input("decode_gpu", change::DecodingOnGpu{}, {{"input.decode", "gpu"}},
                   [](InputSettings& changed) { changed.decode_on_gpu = true; });
    if (input.decode_on_gpu && !input.hw_decoder_load)
      ask_of_input("decode_cpu", change::DecodingOnCpu{}, {{"input.decode", "cpu"}},
                   [](InputSettings& changed) { changed.decode_on_gpu = false; });
    if (by_dali && input.decode_on_gpu && gpu.jpeg_decoder > 0 && hw_decoder_load_of(input, gpu) < 1)
      ask_of_input("hw_decoder_load_1", change::HardwareDecoder{}, {{"input.hw_decoder_load", "1"}},
                   [](InputSettings& changed) { changed.hw_decoder_load = 1; });
  }

  void ask_of_reads(const InputSettings& input) {
    const auto format = input.dataset->format;
    if (format == SampleFormat::csv && input.csv_parser != CsvParser::pyarrow)
      ask_of_input("csv_parser_pyarrow", change::FasterParser{}, {{"input.csv_parser", "pyarrow"}},
                   [](InputSettings& changed) { changed.csv_parser = CsvParser::pyarrow; });
    if (format == SampleFormat::mapped && input.access == AccessOrder::random) {
      ask_of_input("access_sequential", change::SequentialAccess{}, {{"input.access", "sequential"}},
                   [](InputSettings& changed) {
                     changed.access = AccessOrder::sequential;
                     if (changed.read_ahead == 0_B) changed.read_ahead = InputSettings{}.read_ahead;
                   });
      // Single pages in the order of the file would wait as often.
      if (input.read_ahead == 0_B) answers_.back().set.emplace_back("input.read_ahead", "128 KiB");
      if (input.read_ahead > 0_B)
        ask_of_input("read_ahead_0", change::PagesOnly{}, {{"input.read_ahead", "0 B"}},
                     [](InputSettings& changed) { changed.read_ahead = 0_B; });
    }
    if (!input.predicate) return;
    const auto ask = [&](std::string name, Change change, Keys set, auto apply) {
      ask_of_input(std::move(name), std::move(change), std::move(set), [apply](InputSettings& changed) {
        apply(*changed.predicate);
        changed.dataset = with_predicate(std::move(*changed.dataset), *changed.predicate);
      });
    };
    if (input.predicate->rows == MatchingRows::random)
      ask("predicate_rows_clustered", change::ClusteredRows{}, {{"input.predicate.rows", "clustered"}},
          [](Predicate& changed) { changed.rows = MatchingRows::clustered; });
    if (input.predicate->false_positives > 0)
      ask("predicate_false_positives_0", change::ExactStatistics{},
          {{"input.predicate.false_positives", "0"}},
          [](Predicate& changed) { changed.false_positives = 0; });
  }

  /// Ways to read less, faster or earlier from storage.
  void ask_of_storage(const InputSettings& input, const std::optional<StorageTier>& drive,
                      int ranks_per_node) {
    if (!input.storage) return;
    const bool is_staged = cold_share(input) == 0;
    if (input.cache && !input.cache_prefetch && input.loader == LoaderKind::pytorch &&
        input.loader_workers > 0 && input.stage_in == StageIn::before) {
      // With as many requests in flight as workers have, and more while these decode.
      const auto streams = std::max(input.copy_streams, 2 * input.loader_workers * ranks_per_node);
      ask_of_input("cache_prefetch", change::ReadAhead{},
                   {{"input.cache_prefetch", "true"}, {"input.copy_streams", fmt::format("{}", streams)}},
                   [streams](InputSettings& changed) {
                     changed.cache_prefetch = true;
                     changed.copy_streams = streams;
                   });
    }
    if (!input.codec && input.dataset->compressible) {
      constexpr auto zstd = 2;
      const auto& codec = codecs()[zstd];
      ask_of_input("codec_zstd", change::Compression{std::string{codec.name}},
                   {{"input.codec", std::string{codec.name}}},
                   [&codec](InputSettings& changed) { changed.codec = codec; });
    }
    if (!drive || !is_staged || input.storage->is_local() || input.storage->name.empty()) return;
    Keys set{{"input.storage", drive->name}};
    if (!input.staged_from) set.emplace_back("input.staged_from", input.storage->name);
    ask_of_input("staged_to_drives", change::StagedToDrives{drive->name}, std::move(set),
                 [drive = *drive](InputSettings& changed) {
                   if (!changed.staged_from) changed.staged_from = changed.storage;
                   changed.storage = drive;
                 });
  }

  /// What the program does that makes ranks or the CPU wait.
  void ask_of_program(const Job& job, const Model& model) {
    const auto ask = [&](std::string name, Change change, std::string key, std::string value, auto apply) {
      answers_.push_back({.name = std::move(name),
                          .change = std::move(change),
                          .set = {{std::move(key), std::move(value)}}});
      changes_.emplace_back([apply](Scenario& scenario) { apply(scenario.job); });
    };
    if (job.host_reads > 0) {
      ask("no_host_reads", change::NoHostReads{}, "job.host_reads", "0", [](Job& changed) {
        changed.host_reads = 0;
        changed.reduced_metrics = 0;
      });
      // The keys that need it are left out, too.
      const Job plain;
      auto& set = answers_.back().set;
      if (job.reduced_metrics > 0) set.emplace_back("job.reduced_metrics", "0");
      if (job.host_reads_after != plain.host_reads_after)
        set.emplace_back("job.host_reads_after", std::string{name_of(plain.host_reads_after)});
      if (job.host_read_size != plain.host_read_size) set.emplace_back("job.host_read_size", "4 B");
    }
    if (job.sync_batch_norm)
      ask("local_batch_norm", change::LocalBatchNorm{}, "job.sync_batch_norm", "false",
          [](Job& changed) { changed.sync_batch_norm = false; });
    if (!model.tables.empty() && job.gpus > 1) {
      using enum TableSharding;
      const auto sharding = job.layout.tables == table_wise ? row_wise : table_wise;
      ask(fmt::format("tables_{}", name_of(sharding)), change::OtherTables{sharding}, "parallel.tables",
          std::string{name_of(sharding)}, [sharding](Job& changed) { changed.layout.tables = sharding; });
    }
    if (const auto* ddp = std::get_if<Ddp>(&job.strategy); ddp && ddp->searches_each_step())
      ask("static_graph", change::NoUnusedSearch{}, "strategy.static_graph", "true",
          [](Job& changed) { std::get<Ddp>(changed.strategy).static_graph = true; });
  }

  SpeedFactors own_;
  Parts used_;
  std::vector<Counterfactual> answers_;
  std::vector<std::function<void(Scenario&)>> changes_;  ///< by answer
};

void answer(Questions& questions, const Scenario& scenario, std::string_view engine, int threads) {
  for_each_in_parallel(questions.count(), threads, [&](std::size_t i) {
    auto changed = scenario;
    questions.change(changed, i);
    const auto measured = simulate(changed, engine).measured;
    auto& counterfactual = questions.answers()[i];
    counterfactual.step_time = measured.metrics.step_time;
    if (!fits(changed, measured.memory))
      counterfactual.verdict = memory_range(changed, measured.memory).verdict;
  });
}

/// Exposed communication is the longest part of the step.
bool is_communication(const Metrics& metrics) {
  const auto components = {metrics.compute, metrics.optimizer, metrics.input_wait, metrics.launch_bound,
                           metrics.idle};
  return metrics.exposed_communication > std::max(components);
}

/// Classes of kernels by their share of the time of both passes, without those below 1 %.
std::vector<KernelShare> kernel_shares(const ComputeCosts& costs) {
  const auto sum = total({costs.by_class.begin(), costs.by_class.end()});
  std::vector<KernelShare> shares;
  for (std::size_t i = 0; i < costs.by_class.size(); ++i) {
    const auto share = costs.by_class[i] / sum;
    if (100 * share >= 1) shares.push_back({static_cast<OperationClass>(i), share});
  }
  std::ranges::stable_sort(shares, std::greater{}, &KernelShare::share);
  return shares;
}

}  // namespace

namespace {

/// Adds the ways of a staged dataset, and what would end its first epoch earlier.
void add_staging(Explanation& explanation, const Scenario& scenario, std::string_view engine, int threads) {
  const auto& input = scenario.job.input;
  explanation.ways_in = ways_in(scenario, engine, threads);
  if (!explanation.ways_in) return;
  const auto& staging = *explanation.ways_in;
  const auto first_epoch = staging.chosen(input.stage_in).time_of(1);
  const auto add = [&](std::string name, Change change, std::string key, std::string value, Seconds time) {
    Counterfactual counterfactual{.name = std::move(name),
                                  .change = std::move(change),
                                  .set = {{std::move(key), std::move(value)}},
                                  .step_time = time};
    if (counterfactual.gain(first_epoch) >= least_gain)
      explanation.staging.push_back(std::move(counterfactual));
  };
  const auto alternative = input.stage_in == StageIn::before ? StageIn::during : StageIn::before;
  const auto word = stage_in_words[static_cast<std::size_t>(alternative)];
  if (!input.cache_prefetch)
    add(fmt::format("stage_in_{}", word), change::OtherStaging{alternative}, "input.stage_in",
        std::string{word}, staging.chosen(alternative).time_of(1));
  if (staging.copy.limit == StageInLimit::streams) {
    auto changed = scenario;
    changed.job.input.copy_streams *= 2;
    add("copy_streams_2x", change::MoreStreams{}, "input.copy_streams",
        fmt::format("{}", changed.job.input.copy_streams),
        ways_in(changed, engine, threads)->chosen(input.stage_in).time_of(1));
  }
  std::ranges::stable_sort(explanation.staging, {}, &Counterfactual::step_time);
}

}  // namespace

Explanation explain(const Scenario& scenario, std::string_view engine, int threads,
                    const std::optional<StorageTier>& drive) {
  Explanation explanation{.run = simulate(scenario, engine, FoldRanks::yes, {}, FoldMicroBatches::no)};
  const auto& run = explanation.run;
  const auto step = run.measured.metrics.step_time;
  if (run.scenario.model.run) explanation.kernels = kernel_shares(compute_costs(run.scenario));
  const auto& overlap = explanation.overlap;
  if (run.measured.metrics.communication > Seconds{}) explanation.overlap = overlap_of(run, engine);
  explanation.mostly_communication = is_communication(run.measured.metrics);
  if (trains(scenario.job.strategy)) explanation.exposed = exposed_calls(run);
  if (step == Seconds{}) return explanation;
  explanation.slow_gpu = with_slow_gpu(scenario, engine);
  if (const auto& local = run.scenario.job.local_sgd; local && local->wan) {
    explanation.outer = outer_loop_of(run.scenario.model, *local, step);
    explanation.meeting = other_meetings(run, *local);
  }

  add_staging(explanation, scenario, engine, threads);
  Questions questions{run, overlap ? overlap->limit : std::nullopt, drive};
  answer(questions, scenario, engine, threads);
  auto answers = std::move(questions.answers());
  if (overlap && trains(run.scenario.job.strategy)) {
    answers.push_back({.name = "perfect_overlap",
                       .change = change::PerfectOverlap{},
                       .set = {},
                       .step_time = overlap->bound()});
  }
  std::ranges::stable_sort(answers, {}, &Counterfactual::step_time);
  for (auto& counterfactual : answers) {
    auto& list = std::abs(counterfactual.gain(step)) < least_gain ? explanation.no_help : explanation.helps;
    list.push_back(std::move(counterfactual));
  }
  return explanation;
}

}  // namespace gradway
