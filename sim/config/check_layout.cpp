// SPDX-License-Identifier: Apache-2.0
#include "sim/config/check_layout.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "sim/plan/pipeline/schedule.hpp"
#include "sim/plan/pipeline/stages.hpp"
#include "sim/scenario/strategy_words.hpp"

namespace gradway::config {
namespace {

/// Up to `most`.
int largest_divisor(int of, int most) {
  while (of % most != 0) --most;
  return most;
}

class CheckLayout {
 public:
  CheckLayout(const ScenarioSpec& scenario, const ModelSpec& model, Problems& problems)
      : scenario_{scenario}, job_{scenario.job}, layout_{job_.layout}, model_{model}, problems_{problems} {}

  void run() {
    if (layout_.pipeline == 1) refuse_without_pipeline();
    if (layout_.sequence && layout_.tensor == 1) {
      add("parallel.sequence", "parallel.sequence would change nothing: parallel.tensor is 1",
          "leave it out, or set parallel.tensor");
    }
    if (layout_.ranks_of_model() == 1) return;
    check_ranks();
    check_model();
    if (layout_.pipeline > 1) check_pipeline();
  }

 private:
  void add(const char* key, std::string what, std::string hint, std::vector<Note> notes = {}) {
    problems_.add(Problem{scenario_.place(key), std::move(what), std::move(notes), std::move(hint)});
  }

  Note at(const char* key, std::string what) const { return {scenario_.place(key), std::move(what)}; }

  void refuse_without_pipeline() {
    const bool other_schedule = layout_.schedule != Layout{}.schedule;
    for (const auto& [key, counts] :
         {std::pair{"parallel.virtual", layout_.chunks > 1}, {"parallel.schedule", other_schedule}}) {
      if (counts && scenario_.given.contains(key))
        add(key, fmt::format("{} would change nothing: parallel.pipeline is 1", key),
            "leave it out, or set parallel.pipeline");
    }
  }

  void check_ranks() {
    const auto of_model = layout_.ranks_of_model();
    if (job_.gpus % of_model == 0) return;
    add(layout_.pipeline > 1 ? "parallel.pipeline" : "parallel.tensor",
        fmt::format("{} ranks hold the model, and do not divide {} GPUs", of_model, job_.gpus),
        fmt::format("job.gpus {} would fit", std::max(1, job_.gpus / of_model) * of_model),
        {at("job.gpus", "the GPUs are here")});
  }

  void check_model() {
    const auto* key = layout_.pipeline > 1 ? "parallel.pipeline" : "parallel.tensor";
    if (!trains(job_.strategy)) {
      add(key, "a collective alone has no model to cut", "leave it out");
    } else if (model_.model.profile) {
      add(key,
          fmt::format("the profile '{}' was taken of the whole model on one GPU: it cannot be cut",
                      model_.model.name),
          "take a model that is described by its architecture: gradway list models",
          {{model_.kind, "the profile is here"}});
    } else if (layout_.tensor > 1) {
      check_tensor();
    }
  }

  void check_tensor() {
    const Note here{model_.kind, "the model is here"};
    const auto t = layout_.tensor;
    const auto& shape = model_.model.tensor;
    if (!shape) {
      return add(
          "parallel.tensor",
          fmt::format("the layers of the model '{}' cannot be shared by ranks: only those of a decoder "
                      "without experts and latent attention can",
                      model_.model.name),
          "set parallel.pipeline, or take another model", {here});
    }
    for (const auto& [what, count] : {std::pair{"heads", shape->heads}, {"columns of its MLP", shape->mlp}}) {
      if (count % t == 0) continue;
      return add("parallel.tensor",
                 fmt::format("{} ranks do not divide the {} {} of the model '{}'", t, count, what,
                             model_.model.name),
                 fmt::format("parallel.tensor {} would fit", largest_divisor(count, t)), {here});
    }
    if (shape->kv_heads % t != 0 && t % shape->kv_heads != 0) {
      add("parallel.tensor",
          fmt::format("{} ranks and {} heads of keys do not divide each other in the model '{}'", t,
                      shape->kv_heads, model_.model.name),
          fmt::format("parallel.tensor {} would fit", largest_divisor(shape->kv_heads, t)), {here});
    }
  }

  void check_pipeline() {
    const auto pipeline = pipeline_of(layout_);
    check_chunks();
    if (!model_.model.profile && trains(job_.strategy)) {
      if (const auto parts = parts_to_cut(model_.model); parts < pipeline.stages()) {
        add("parallel.pipeline",
            fmt::format("{} stages, but the model '{}' has {} block{} to put on them", pipeline.stages(),
                        model_.model.name, parts, parts == 1 ? "" : "s"),
            parts > 1 ? fmt::format("at most {} stages: parallel.pipeline times parallel.virtual", parts)
                      : "take a model that repeats blocks",
            {{model_.kind, "the model is here"}});
      }
    }
    check_micro_batches();
    const auto* zero = std::get_if<Zero>(&job_.strategy);
    const bool shards = std::holds_alternative<Fsdp>(job_.strategy) ||
                        std::holds_alternative<Fsdp1>(job_.strategy) || (zero && zero->stage > 1);
    if (shards) {
      add("parallel.pipeline",
          fmt::format("a pipeline under strategy {} is not simulated",
                      zero ? "zero of stage 2 or 3" : std::string{name_of(job_.strategy)}),
          "write 'kind: ddp', 'kind: distributed_optimizer' or 'kind: zero' of stage 1",
          {at("strategy.kind", "the strategy is here")});
    }
  }

  void check_chunks() {
    const auto schedule = layout_.schedule;
    const bool v_shaped = pipeline_of(layout_).is_v_shaped();
    const bool takes_many = schedule == Schedule::interleaved || schedule == Schedule::looped_bfs;
    if (v_shaped && layout_.chunks != 2) {
      add("parallel.virtual", fmt::format("schedule {} has 2 chunks on a rank", name_of(schedule)),
          "write 'virtual: 2', or leave it out", {at("parallel.schedule", "the schedule is here")});
    } else if (!v_shaped && !takes_many && layout_.chunks > 1) {
      add("parallel.virtual",
          fmt::format("schedule {} has 1 chunk on a rank, not {}", name_of(schedule), layout_.chunks),
          "write 'schedule: interleaved', or leave it out");
    } else if (takes_many && layout_.chunks == 1) {
      add("parallel.schedule", fmt::format("schedule {} needs several chunks on a rank", name_of(schedule)),
          "set parallel.virtual, or write 'schedule: 1f1b'");
    } else if (layout_.chunks > 1 && job_.framework == Framework::deepspeed) {
      add("parallel.schedule",
          fmt::format("schedule {} has {} chunks on a rank, DeepSpeed one", name_of(schedule), layout_.chunks),
          "write 'schedule: 1f1b', or 'framework: megatron'", {at("job.framework", "the framework is here")});
    }
  }

  void check_micro_batches() {
    const auto schedule = layout_.schedule;
    const auto p = layout_.pipeline;
    const auto m = job_.accumulate;
    const auto need = schedule == Schedule::dual_pipe_v ? 2 * p : schedule == Schedule::zb_v ? 2 * p - 1 : 1;
    if (m < need) {
      add("job.accumulate",
          fmt::format("schedule {} on {} ranks needs {} micro-batches at least, not {}", name_of(schedule), p,
                      need, m),
          fmt::format("set job.accumulate to {} or more", need));
    }
    if (schedule == Schedule::interleaved && m % p != 0) {
      add("job.accumulate",
          fmt::format("schedule interleaved runs micro-batches in groups of {}, which do not divide {}", p,
                      m),
          fmt::format("set job.accumulate to {}", (m / p + 1) * p));
    }
  }

  const ScenarioSpec& scenario_;
  const Job& job_;
  const Layout& layout_;
  const ModelSpec& model_;
  Problems& problems_;
};

}  // namespace

void check_layout(const ScenarioSpec& scenario, const ModelSpec& model, Problems& problems) {
  CheckLayout{scenario, model, problems}.run();
}

}  // namespace gradway::config
