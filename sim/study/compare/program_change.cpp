// SPDX-License-Identifier: Apache-2.0
#include "sim/study/compare/program_change.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "sim/compute/compute_costs.hpp"

namespace gradway {
namespace {

/// "transformer.h.3.attn" is "transformer.h.*.attn": blocks are counted in the middle of a path.
std::string without_numbers(std::string_view path) {
  std::string name;
  while (!path.empty()) {
    const auto dot = path.find('.');
    const auto word = path.substr(0, dot);
    const bool is_number =
        !word.empty() && std::ranges::all_of(word, [](char c) { return c >= '0' && c <= '9'; });
    const bool is_last = dot == std::string_view::npos;
    name += is_number && !is_last ? "*" : word;
    if (is_last) break;
    name += '.';
    path.remove_prefix(dot + 1);
  }
  return name;
}

/// Operations of one kernel and size.
struct Issued {
  int number = 0;
  Seconds time{};   ///< of one of them
  double host = 0;  ///< of all, in that of the mean eager operation
};
using IssuedOperations = std::map<std::pair<std::string, std::array<double, most_sizes>>, Issued>;

/// The operations of a step and the costs of its modules.
struct StepOfProgram {
  IssuedOperations operations{};
  std::map<std::string, ModuleCost> modules{};
  Seconds kernels{};  ///< of all operations
  double host = 0;
};

StepOfProgram step_of(const Scenario& scenario) {
  StepOfProgram result;
  const auto& model = scenario.model;
  if (!model.run) return result;
  const auto& job = scenario.job;
  const auto costs = compute_costs(scenario);
  for (std::size_t i = 0; i < model.layers.size() && i < costs.forward.size(); ++i) {
    auto& module = result.modules[without_numbers(model.layers[i].name)];
    module.kernels += (costs.forward[i] + costs.backward[i]) * job.accumulate;
    module.launches += costs.operation * ((costs.forward_host[i] + costs.backward_host[i]) * job.accumulate);
    module.operations += (costs.forward_launches[i] + costs.backward_launches[i]) * job.accumulate;
    module.parameters += model.layers[i].parameter_count();
  }
  const auto step = model.run.step(eager_settings(scenario, job.batch_per_gpu));
  for (const auto& layer : step->layers)
    for (const auto* pass : {&layer.forward, &layer.backward})
      for (const auto& operation : *pass) {
        auto& issued = result.operations[{operation.kernel, operation.size}];
        if (issued.number == 0) issued.time = time_of_operation(scenario, operation);
        issued.number += job.accumulate;
        issued.host += operation.host * job.accumulate;
        result.kernels += issued.time * job.accumulate;
        result.host += operation.host * job.accumulate;
      }
  return result;
}

/// The part of a step's operations that the other program does not have.
struct OwnPart {
  Seconds kernels{};
  double host = 0;
};

/// Both own parts, and the kernels that only one of the steps has.
struct OwnParts {
  OwnPart before;
  OwnPart after;
  std::vector<KernelChange> kernels{};
};

OwnParts own_parts(const StepOfProgram& before, const StepOfProgram& after) {
  OwnParts parts;
  std::map<std::string, KernelChange> kernels;
  auto operations = before.operations;  // the names of both
  operations.insert(after.operations.begin(), after.operations.end());
  const auto issued_in = [](const StepOfProgram& step, const auto& key) {
    const auto known = step.operations.find(key);
    return known == step.operations.end() ? Issued{} : known->second;
  };
  for (const auto& [key, ignored] : operations) {
    const auto old_issued = issued_in(before, key);
    const auto new_issued = issued_in(after, key);
    if (old_issued.number == new_issued.number) continue;
    const int removed = std::max(0, old_issued.number - new_issued.number);
    const int added = std::max(0, new_issued.number - old_issued.number);
    parts.before.kernels += old_issued.time * removed;
    parts.after.kernels += new_issued.time * added;
    if (removed > 0) parts.before.host += old_issued.host * removed / old_issued.number;
    if (added > 0) parts.after.host += new_issued.host * added / new_issued.number;
    auto& kernel = kernels[key.first];
    kernel.kernel = key.first;
    kernel.removed += removed;
    kernel.added += added;
    kernel.time_removed += old_issued.time * removed;
    kernel.time_added += new_issued.time * added;
  }
  for (auto& [name, kernel] : kernels) parts.kernels.push_back(std::move(kernel));
  const auto size = [](const KernelChange& kernel) { return std::abs(kernel.difference().value()); };
  std::ranges::stable_sort(parts.kernels, [&](const auto& a, const auto& b) { return size(a) > size(b); });
  return parts;
}

std::vector<ModuleChange> changed_modules(const StepOfProgram& before, const StepOfProgram& after) {
  std::vector<ModuleChange> changes;
  auto names = before.modules;
  names.insert(after.modules.begin(), after.modules.end());
  const auto cost_in = [](const StepOfProgram& step, const std::string& name) {
    const auto known = step.modules.find(name);
    return known == step.modules.end() ? ModuleCost{} : known->second;
  };
  for (const auto& [name, ignored] : names) {
    ModuleChange change{name, cost_in(before, name), cost_in(after, name)};
    if (change.before != change.after) changes.push_back(std::move(change));
  }
  const auto size = [](const ModuleChange& change) {
    return std::pair{std::abs((change.after.kernels - change.before.kernels).value()),
                     std::abs((change.after.launches - change.before.launches).value())};
  };
  std::ranges::stable_sort(changes, [&](const auto& a, const auto& b) { return size(a) > size(b); });
  return changes;
}

/// The errors of a step: those of all its parts, and those of what the other program does not have. Single
/// kernels and launches are as uncertain as a step whose kernels were timed, however well other steps of the
/// program are known.
/// @param label distinguishes both programs
std::vector<PossibleError> errors_of(const Run& run, const StepOfProgram& step, const OwnPart& own,
                                     bool has_own_optimizer, std::string_view label) {
  auto errors = run.errors;
  const auto& basis = run.step_basis;
  const auto& metrics = run.measured.metrics;
  const auto of_kernels = uncertainty_of_compute(std::max(basis.compute, Basis::predicted), 1);
  const auto of_launches = uncertainty_of_launches(std::max(basis.launches, Basis::predicted));
  for (const auto& part : uncertain_parts(metrics, basis)) {
    const auto add = [&](Seconds time, double uncertainty) {
      if (time > Seconds{})
        errors.push_back({{part.part, std::string{label}},
                          "what only one of the programs has",
                          time,
                          uncertainty,
                          part.spare,
                          part.saves});
    };
    if (part.part == PartOfStep::compute) {
      auto time = step.kernels > Seconds{} ? metrics.compute * (own.kernels / step.kernels) : Seconds{};
      if (has_own_optimizer) time += metrics.optimizer;
      add(time, of_kernels);
    } else if (is_of_the_host(part.part) && step.host > 0) {
      add(part.time * (own.host / step.host), of_launches);
    }
  }
  return errors;
}

ProgramCost cost_of(std::string name, const Run& run, std::vector<PossibleError> errors) {
  ProgramCost cost{.name = std::move(name),
                   .job = run.scenario.job,
                   .answer = answer_of(run),
                   .memory = run.measured.memory,
                   .memory_range = memory_range(run.scenario, run.measured.memory)};
  cost.answer.errors = std::move(errors);
  return cost;
}

}  // namespace

bool ProgramChange::no_longer_fits() const {
  const auto fits = [](const ProgramCost& cost) {
    return cost.memory_range.verdict == MemoryVerdict::fits ||
           cost.memory_range.verdict == MemoryVerdict::tight;
  };
  return fits(before) && !fits(after);
}

ProgramChange program_change(Scenario before, Scenario after, const AskOptions& options) {
  auto name_before = before.name;
  auto name_after = after.name;
  // Causes of errors name the model, and both are states of one.
  after.model.name = before.model.name;
  const auto run_before = ask(std::move(before), options);
  const auto run_after = ask(std::move(after), options);
  const auto step_before = step_of(run_before.scenario);
  const auto step_after = step_of(run_after.scenario);
  auto own = own_parts(step_before, step_after);
  const bool optimizers_differ = run_before.scenario.job.optimizer != run_after.scenario.job.optimizer;
  ProgramChange change{
      .before = cost_of(std::move(name_before), run_before,
                        errors_of(run_before, step_before, own.before, optimizers_differ, "before")),
      .after = cost_of(std::move(name_after), run_after,
                       errors_of(run_after, step_after, own.after, optimizers_differ, "after")),
      .ratio = {},
      .modules = changed_modules(step_before, step_after),
      .kernels = std::move(own.kernels)};
  const auto choice_before = change.before.answer.sample_choice();
  const auto choice_after = change.after.answer.sample_choice();
  change.ratio = figure_ratio(choice_after, choice_before);
  change.sign = choice_before.figure == choice_after.figure ? ChangeSign::equal
                : are_tied(choice_before, choice_after)     ? ChangeSign::tied
                : change.ratio.value < 1                    ? ChangeSign::faster
                                                            : ChangeSign::slower;
  return change;
}

}  // namespace gradway
