// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <ostream>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/report/format/fact_words.hpp"
#include "sim/report/format/fields.hpp"
#include "sim/report/format/table.hpp"
#include "sim/report/format/text.hpp"
#include "sim/report/format/training_text.hpp"
#include "sim/report/format/words.hpp"
#include "sim/report/search/optimize.hpp"
#include "sim/report/search/snippet.hpp"
#include "sim/scenario/lossy_steps.hpp"
#include "sim/scenario/strategy_facts.hpp"

namespace gradway::report {
namespace {

using enum Table::Align;

constexpr double no_effect = 1e-4;

bool is_ddp(const SettingsSearchReport& search) {
  return gradway::is_ddp(search.optimum().best.job.strategy);
}

std::string changes_in_words(const Answer& tried) {
  std::string words;
  for (const auto& [key, value] : tried.set) words += fmt::format(", {}={}", key, value);
  return words;
}

/// The last part of a key, for narrow tables: "loader_workers".
std::string_view last_part(std::string_view key) {
  return key.substr(key.rfind('.') + 1);
}

/// The other changes of a setting, after the one that is shown already.
std::string other_changes(const Answer& tried, std::string_view setting) {
  std::string words;
  for (const auto& [key, value] : tried.set)
    if (key != setting) words += fmt::format(", {}={}", last_part(key), value);
  return words;
}

std::string setting_in_words(const Answer& tried) {
  return describe(tried.job.strategy) + changes_in_words(tried);
}

std::string gain_text(const Optimum& optimum, const Answer& setting) {
  const auto gain = optimum.gain_over(setting);
  if (std::abs(gain) < no_effect) return "as fast";
  const auto probability = optimum.best_is_faster(setting);
  if (optimum.is_tied_with_best(setting))
    return fmt::format("tied ({}), {}", signed_percent_text(gain), probability_text(probability));
  const auto faster = fmt::format("{} faster", percent_text(gain));
  return probability < 0.95 ? fmt::format("{}, {}", faster, probability_text(probability)) : faster;
}

void write_times(std::ostream& out, const SettingsSearchReport& search, const Style& style) {
  const bool has_tokens = search.optimum().best.metrics.tokens_per_s.has_value();
  Table table{{{"", left},
               {"step time", right},
               {"90 % interval", right},
               {has_tokens ? "tokens/s/GPU" : "samples/s", right},
               {"gain of the best", right}}};
  const auto throughput = [&](const Answer& tried) {
    const auto& tokens = tried.metrics.tokens_per_s;
    return tokens ? *tokens / tried.gpus : tried.metrics.samples_per_s;
  };
  const auto add = [&](const std::string& name, const Answer& tried, const std::string& gain) {
    if (!tried.can_run()) {
      table.add({name, "-", "-", "-", tried.memory > 0_B ? "does not fit" : "cannot run"});
      return;
    }
    table.add({name, time_text(tried.metrics.step_time), range_text(tried.range.low, tried.range.high),
               fmt::format("{:.4g}", throughput(tried)), gain});
  };
  const auto& optimum = search.optimum();
  add("best", optimum.best, "");
  if (optimum.gain_over(optimum.fastest) < -no_effect)
    add("fastest tried", optimum.fastest, gain_text(optimum, optimum.fastest));
  add(fmt::format("{}'s defaults", framework_of(search)), optimum.defaults,
      gain_text(optimum, optimum.defaults));
  add("as written", optimum.as_written, gain_text(optimum, optimum.as_written));
  table.write(out, style, "  ");
}

/// How many steps a hook needs to the loss that training reaches without it.
std::string steps_in_words(CommHook hook) {
  const auto published = lossy_steps(hook);
  if (!published) return "";
  return published->is_general ? "lossy: as many" : "lossy: unknown";
}

void write_sources_of_steps(std::ostream& out, const std::vector<Answer>& hooks, const Style& style) {
  std::vector<std::string> items{
      "break-even: a hook shortens the training if it needs fewer times as many steps"};
  for (const auto& tried : hooks) {
    const auto hook = hook_of(tried.job.strategy);
    const auto published = lossy_steps(hook);
    if (!published) continue;
    items.push_back(fmt::format(
        "{}: as many steps{} ({})", name_of(hook),
        published->is_general ? "" : fmt::format(" for {}, unknown for others", published->holds_for),
        published->source));
  }
  if (items.size() == 1) return;
  Fields fields{out, style};
  out << '\n';
  fields.add("target", items);
}

void write_hooks(std::ostream& out, const SettingsSearchReport& search, const Style& style) {
  if (search.optimum().best_of_hooks.size() < 2) return;
  const auto& hooks = search.optimum().best_of_hooks;
  const auto plain = std::ranges::find_if(
      hooks, [](const Answer& tried) { return hook_of(tried.job.strategy) == CommHook::none; });
  Table table{{{"hook", left},
               {"buckets", right},
               {"bucket views", right},
               {"step time", right},
               {"steps to the same loss", left},
               {plain == hooks.end() ? "" : "break-even", right}}};
  for (const auto& tried : search.optimum().best_of_hooks) {
    const auto& strategy = std::get<Ddp>(tried.job.strategy);
    auto hook = std::string{name_of(strategy.comm_hook)};
    if (strategy.comm_hook == CommHook::powersgd) hook += fmt::format(", rank {}", strategy.powersgd_rank);
    hook += changes_in_words(tried);
    table.add({hook, strategy.bucket_cap ? exact_bytes_text(*strategy.bucket_cap) : "default",
               strategy.gradient_as_bucket_view ? "yes" : "no", time_text(tried.metrics.step_time),
               steps_in_words(strategy.comm_hook),
               plain != hooks.end() && is_lossy(strategy.comm_hook)
                   ? fmt::format("{:.2f}x", plain->metrics.step_time / tried.metrics.step_time)
                   : ""});
  }
  out << '\n';
  table.write(out, style, "  ");
  write_sources_of_steps(out, hooks, style);
}

std::string value_text(const std::string& value) {
  return value.empty() ? "default" : value;
}

/// Writes the best result with each searched value of a sharding setting or a key of the job.
void write_values(std::ostream& out, const SettingsSearchReport& search, const Style& style) {
  if (search.optimum().best_of_values.empty()) return;
  Table table{{{"setting", left},
               {"value", left},
               {"step time", right},
               {"memory", right},
               {"gain of the best", right}}};
  std::string_view before;
  for (const auto& [setting, value, tried] : search.optimum().best_of_values) {
    const auto name = setting == before ? std::string{} : std::string{last_part(setting)};
    before = setting;
    if (!tried) {
      table.add({name, value_text(value), "-", "-", "left out"});
    } else {
      table.add({name, value_text(value) + other_changes(*tried, setting),
                 time_text(tried->metrics.step_time), bytes_text(tried->memory),
                 gain_text(search.optimum(), *tried)});
    }
  }
  out << '\n';
  table.write(out, style, "  ");
}

std::string turned_back_in_words(const SettingsSearchReport& search, const RevertedSetting& reverted) {
  const auto& name = reverted.key;
  std::string words = name == "bucket_cap"                  ? "with PyTorch's default buckets"
                      : name == "comm_hook"                 ? "without the hook"
                      : name == "powersgd_rank"             ? "with rank 1"
                      : name.empty()                        ? "with the job as written"
                      : name.find('.') != std::string::npos ? fmt::format("with {} as written", name)
                      : is_ddp(search)                      ? fmt::format("without {}", name)
                                       : fmt::format("with {}'s {}", framework_of(search), name);
  if (!reverted.without.can_run()) return fmt::format("{}: {}", words, reverted.without.failure_reason);
  const auto cost = search.optimum().gain_over(reverted.without);
  if (std::abs(cost) < no_effect) return fmt::format("{}: as fast", words);
  return fmt::format("{}: {} {}", words, percent_text(std::abs(cost)), cost > 0 ? "longer" : "shorter");
}

void write_caps(std::ostream& out, const SettingsSearchReport& search, const Style& style) {
  const auto& curve = search.optimum().curve;
  if (curve.empty()) return;
  std::vector<double> times;
  for (const auto& point : curve) times.push_back(point.tried.metrics.step_time.value());
  const auto [least, most] = std::ranges::minmax(times);
  Fields fields{out, style};
  out << '\n';
  const auto last = fmt::format("{} MiB", thousands_text(curve.back().mib));
  fields.add("bucket caps", sparkline(times));
  const std::string first = "1 MiB";
  const auto gap = curve.size() > first.size() + last.size() ? curve.size() - first.size() - last.size() : 1;
  out << style.paint(Paint::dim, fmt::format("{:15}{}{:{}}{}", "", first, "", gap, last)) << '\n';
  const bool differ = time_text(Seconds{least}) != time_text(Seconds{most});
  fields.add("", fmt::format("steps of {}",
                             differ ? range_text(Seconds{least}, Seconds{most}) : time_text(Seconds{least})));
  const auto& flat = search.optimum().flat;
  if (!flat) {
    fields.add("flatness", "no other cap is within 1 % of the best");
  } else if (flat->first == 1 && search.optimum().is_flat_to_end) {
    fields.add("flatness", "every cap is within 1 % of the best");
  } else {
    fields.add(
        "flatness",
        fmt::format("caps from {} {} are within 1 % of the best", flat->first,
                    search.optimum().is_flat_to_end ? "MiB on" : fmt::format("to {} MiB", flat->last)));
  }
}

/// "hook powersgd of rank 1, gradient_as_bucket_view"
std::string hook_in_words(const Ddp& strategy) {
  auto words = strategy.comm_hook == CommHook::none ? std::string{"no hook"}
                                                    : fmt::format("hook {}", name_of(strategy.comm_hook));
  if (strategy.comm_hook == CommHook::powersgd) words += fmt::format(" of rank {}", strategy.powersgd_rank);
  if (strategy.gradient_as_bucket_view) words += ", gradient_as_bucket_view";
  return words;
}

std::vector<std::string> unfit_hooks(const SettingsSearchReport& search) {
  std::vector<std::string> items;
  for (const auto& tried : search.result.left_out) {
    std::string words = tried.memory > 0_B ? hook_in_words(std::get<Ddp>(tried.job.strategy)) : "";
    words += changes_in_words(tried);
    items.push_back(
        fmt::format("{}: {}", words.starts_with(", ") ? words.substr(2) : words, tried.failure_reason));
  }
  return items;
}

/// "replicate=4, job.recompute=full": the settings that matter most for memory.
std::string layout_in_words(const SettingsSearchReport& search, const Answer& tried) {
  std::vector<std::string> words;
  for (const auto& [name, value] : chosen_values(search.asked.space.settings, tried.job.strategy))
    if (name == "replicate" || name == "stage") words.push_back(fmt::format("{}={}", name, value));
  for (const auto& [key, value] : tried.set) words.push_back(fmt::format("{}={}", key, value));
  return words.empty() ? "as written" : fmt::format("{}", fmt::join(words, ", "));
}

/// Settings that cannot run, one line per layout.
std::vector<std::string> unfit_layouts(const SettingsSearchReport& search) {
  struct Layout {
    std::string words;
    int settings;
    const Answer* least;
  };
  std::vector<Layout> layouts;
  for (const auto& tried : search.result.left_out) {
    auto words = layout_in_words(search, tried);
    auto same = std::ranges::find(layouts, words, &Layout::words);
    if (same == layouts.end()) same = layouts.insert(same, {std::move(words), 0, &tried});
    ++same->settings;
    if (tried.memory < same->least->memory) same->least = &tried;
  }
  std::vector<std::string> items;
  for (const auto& [words, settings, least] : layouts) {
    items.push_back(fmt::format(
        "{}: {}{}", words, settings > 1 ? fmt::format("{} settings, of which the smallest  ", settings) : "",
        least->failure_reason));
  }
  return items;
}

std::string family_in_words(const SettingsSearchReport& search, const Answer& tried) {
  if (is_ddp(search)) return hook_in_words(std::get<Ddp>(tried.job.strategy)) + changes_in_words(tried);
  return describe(family_of(tried.job.strategy)) + changes_in_words(tried);
}

std::vector<std::string> left_out(const SettingsSearchReport& search) {
  std::vector<std::string> items;
  if (!search.asked.lossy_left_out.empty()) {
    std::vector<std::string_view> names;
    for (const auto hook : search.asked.lossy_left_out) names.push_back(name_of(hook));
    items.push_back(fmt::format("lossy hooks, which change gradient values: {} (--lossy searches them too)",
                                fmt::join(names, ", ")));
  }
  for (auto& item : is_ddp(search) ? unfit_hooks(search) : unfit_layouts(search))
    items.push_back(std::move(item));
  for (const auto& tried : search.result.missed) {
    items.push_back(
        fmt::format("{}: {}", family_in_words(search, tried),
                    missed_limits_in_words(training_of(*search.goal(), tried.metrics, tried.range))));
  }
  return items;
}

/// Settings of the job that often gain more than those that were searched.
std::vector<std::string> not_searched(const SettingsSearchReport& search) {
  const auto& job = search.written().job;
  std::vector<std::string> items;
  const auto add = [&](std::string_view key, bool can_gain, std::string_view words) {
    if (can_gain && std::ranges::find(search.asked.keys, key) == search.asked.keys.end())
      items.push_back(fmt::format("{}{}", key, words));
  };
  add("job.compile", !job.compiled, ": 'gradway sweep FILE --vary job.compile=false,true' tries it");
  add("job.batch_per_gpu", true,
      fmt::format(": a larger batch, if the training allows it: --over job.batch_per_gpu={},{}",
                  job.batch_per_gpu, 2 * job.batch_per_gpu));
  add("optimizer", job.optimizer == Optimizer::adamw, ": --over optimizer=adamw,adamw_fused");
  return items;
}

void write_remarks(std::ostream& out, const SettingsSearchReport& search, const Style& style) {
  Fields fields{out, style};
  std::vector<std::string> items;
  for (const auto& reverted : search.optimum().reverted)
    items.push_back(turned_back_in_words(search, reverted));
  if (std::ranges::find(search.asked.keys, "static_graph") != search.asked.keys.end())
    items.emplace_back("static_graph: its gain is not predicted; measurements show that it is negligible");
  out << '\n';
  fields.add("each setting", items);
  write_caps(out, search, style);
  out << '\n';
  const auto tried =
      fmt::format("{} simulated for {} settings", counted_text(search.result.simulated, "step"),
                  thousands_text(std::llround(search.result.settings)));
  fields.add("tried", tried + (is_ddp(search) ? "; caps that give the same buckets count as one"
                                              : "; prefetches only with settings within 5 % of the best"));
  fields.add("left out", left_out(search), Paint::yellow);
  fields.add("not searched", not_searched(search));
  fields.add("warning", with_codes(warnings_of(search)), Paint::yellow);
}

}  // namespace

void write_table(std::ostream& out, const SettingsSearchReport& search, const Style& style) {
  const auto& job = search.written().job;
  out << style.paint(Paint::bold, fit(search.written().name, style.width)) << '\n';
  const auto about = fmt::format("{} on {}, {}, batch {} per GPU, {}", search.written().model.name,
                                 search.written().platform.name, counted_text(job.gpus, "GPU"),
                                 job.batch_per_gpu, name_of(job.precision));
  write_wrapped(out, about, style, Paint::dim);
  out << '\n';
  Fields fields{out, style};
  fields.add("best", setting_in_words(search.optimum().best), Paint::bold);
  fields.add("", verdict(search));
  out << '\n';
  if (const auto& best = search.optimum().best; search.goal() && best.can_run()) {
    add_training(fields, *search.goal(), training_of(*search.goal(), best.metrics, best.range));
    out << '\n';
  }
  write_times(out, search, style);
  write_hooks(out, search, style);
  write_values(out, search, style);
  write_remarks(out, search, style);
  const auto snippet = snippet_of(search.optimum().best.job);
  out << '\n' << style.paint(Paint::dim, fmt::format("  in {}", framework_of(search))) << "\n\n";
  std::istringstream code{snippet.text};
  for (std::string line; std::getline(code, line);) out << (line.empty() ? "" : "    ") << line << '\n';
}

}  // namespace gradway::report
