// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "sim/config/check/check.hpp"
#include "sim/scenario/strategy_facts.hpp"
#include "sim/scenario/strategy_words.hpp"

namespace gradway::config {
namespace {

class CheckTables {
 public:
  CheckTables(const ScenarioSpec& scenario, const ModelSpec& model, Problems& problems)
      : scenario_{scenario}, model_{model}, problems_{problems} {}

  void run() {
    const auto& job = scenario_.job;
    const auto& name = model_.model.name;
    if (model_.model.tables.empty()) {
      if (scenario_.given.contains("parallel.tables"))
        add("parallel.tables",
            fmt::format("parallel.tables has no effect: the model '{}' has no embedding tables", name),
            "leave it out, or choose a recommendation model such as dlrm");
      return;
    }
    const bool has_strategy = is_ddp(job.strategy) || !facts_of(job.strategy).exchanges;
    if (trains(job.strategy) && !has_strategy)
      add("strategy.kind",
          fmt::format(
              "a model with embedding tables, such as '{}', is only simulated with strategy ddp, not {}",
              name, name_of(job.strategy)),
          "write 'kind: ddp': parallel.tables divides the tables, ddp reduces all other gradients");
    if (job.layout.tables != Layout{}.tables && job.gpus == 1)
      add("parallel.tables", "parallel.tables has no effect on one GPU, which has all tables",
          "leave it out, or set job.gpus to 2 or more");
    if (job.compiled)
      add("job.compile",
          fmt::format("torch.compile of a model with embedding tables, such as '{}', is not simulated", name),
          "leave it out");
  }

 private:
  void add(const char* key, std::string message, std::string hint) {
    problems_.add(scenario_.place(key), std::move(message), std::move(hint),
                  {{model_.kind, "the model is here"}});
  }

  const ScenarioSpec& scenario_;
  const ModelSpec& model_;
  Problems& problems_;
};

}  // namespace

void check_tables(const ScenarioSpec& scenario, const ModelSpec& model, Problems& problems) {
  CheckTables{scenario, model, problems}.run();
}

}  // namespace gradway::config
