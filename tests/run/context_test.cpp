// SPDX-License-Identifier: Apache-2.0
// Ranks that share the tokens of each sequence: what they compute, send and hold.
#include <catch2/catch.hpp>

#include <map>
#include <string>
#include <vector>

#include "sim/config/config.hpp"
#include "sim/plan/plan.hpp"
#include "sim/run/simulate.hpp"

using namespace gradway;

namespace {

/// Llama 3 8B, 8192 tokens, in bf16 as Megatron runs it: 32 blocks, 32 heads of 128, 8 of keys.
Scenario long_llama(std::vector<Override> more, const std::string& framework = "megatron") {
  std::vector<Override> set{{"model", "llama3_8b"},    {"platform", "dgx-h100"},
                            {"job.precision", "bf16"}, {"job.batch_per_gpu", "1"},
                            {"job.sequence", "8192"},  {"job.recompute", "none"},
                            {"job.gpus", "4"},         {"job.framework", framework}};
  set.insert(set.end(), more.begin(), more.end());
  return load_scenario("sharded/llama2_7b", set, DataPath{{GRADWAY_SOURCE_DIR}});
}

std::vector<Override> with_context(const std::string& method, const std::string& ranks = "4") {
  return {{"parallel.context", ranks}, {"parallel.context_method", method}, {"strategy", "{kind: ddp}"}};
}

struct Exchanged {
  int calls = 0;
  double megabytes = 0;
};

std::map<CollectiveKind, Exchanged> exchanged_by(const Workload& workload, Purpose purpose) {
  std::map<CollectiveKind, Exchanged> exchanged;
  const auto& actor = workload.actors.front();
  for (const auto& task : workload.first_program().tasks) {
    const auto* call = std::get_if<Call>(&task.work);
    if (!call || workload.groups[actor.groups[call->group.index].index()].purpose != purpose) continue;
    ++exchanged[call->kind].calls;
    exchanged[call->kind].megabytes += call->bytes.value() / 1e6;
  }
  return exchanged;
}

Workload plan_of(const Scenario& scenario) {
  auto workload = plan(scenario, compute_costs(scenario));
  check(workload);
  return workload;
}

constexpr int blocks = 32;
constexpr double kv = 2 * 8192.0 / 4 * 8 * 128 * 2 / 1e6;    // MB of keys and values of a rank's tokens
constexpr double queries = 8192.0 / 4 * 32 * 128 * 2 / 1e6;  // of queries, and of outputs

}  // namespace

// The table of TransformerEngine's context_parallel.py.
TEST_CASE("each method of context parallelism sends what its table says", "[layout][context]") {
  const auto ring = exchanged_by(plan_of(long_llama(with_context("ring"))), Purpose::context);
  REQUIRE(ring.size() == 1);
  CHECK(ring.at(CollectiveKind::send_recv).calls == blocks * (3 + 4));
  CHECK(ring.at(CollectiveKind::send_recv).megabytes == Approx(blocks * (3 + 2 * 3) * kv));

  const auto gathered = exchanged_by(plan_of(long_llama(with_context("all_gather"))), Purpose::context);
  CHECK(gathered.at(CollectiveKind::all_gather).calls == blocks * 4);
  CHECK(gathered.at(CollectiveKind::all_gather).megabytes == Approx(blocks * 2 * 4 * kv));
  CHECK(gathered.at(CollectiveKind::reduce_scatter).megabytes == Approx(blocks * 4 * kv));

  const auto swapped = exchanged_by(plan_of(long_llama(with_context("all_to_all"))), Purpose::context);
  REQUIRE(swapped.size() == 1);
  CHECK(swapped.at(CollectiveKind::all_to_all).calls == blocks * 2 * 4);
  CHECK(swapped.at(CollectiveKind::all_to_all).megabytes == Approx(blocks * 2 * (2 * queries + kv)));
}

// _templated_ring_attention of PyTorch, with torchtitan's copies of keys and values for all heads: they are
// rotated or gathered once, and their gradients go around a ring in fp32.
TEST_CASE("PyTorch's context ranks send keys and values of all heads", "[layout][context]") {
  const bool gathers = GENERATE(false, true);
  auto set = with_context(gathers ? "all_gather" : "ring");
  set.push_back({"job.implementation", "fused"});
  const auto calls = exchanged_by(plan_of(long_llama(set, "pytorch")), Purpose::context);
  constexpr double of_all_heads = 2 * queries;
  const double gradients = 4 * 2 * of_all_heads;
  const double around = gathers ? 0 : 2 * 3 * of_all_heads;
  CHECK(calls.at(CollectiveKind::send_recv).calls == blocks * (4 + (gathers ? 0 : 2 * 3)));
  CHECK(calls.at(CollectiveKind::send_recv).megabytes == Approx(blocks * (gradients + around)));
  if (gathers) CHECK(calls.at(CollectiveKind::all_gather).megabytes == Approx(blocks * 2 * 4 * of_all_heads));
}

TEST_CASE("context ranks compute a share of the attention and of all else", "[layout][context]") {
  const auto* method = GENERATE("ring", "all_gather", "all_to_all");
  CAPTURE(method);
  const auto one = compute_costs(long_llama({{"job.gpus", "1"}, {"strategy", "{kind: none}"}}));
  const auto scenario = long_llama(with_context(method));
  const auto four = compute_costs(scenario);
  Seconds attention_of_one{};
  Seconds attention{};
  Seconds products_of_one{};
  Seconds products{};
  for (std::size_t i = 0; i < one.forward.size(); ++i) {
    const auto& name = scenario.model.layers[i].name;
    if (name.ends_with(".sdpa")) {
      attention_of_one += one.forward[i] + one.backward[i];
      attention += four.forward[i] + four.backward[i];
    } else if (name.ends_with(".fc2")) {
      products_of_one += one.forward[i] + one.backward[i];
      products += four.forward[i] + four.backward[i];
    }
  }
  // Smaller kernels reach less, and a ring joins the outputs of its steps.
  CHECK(attention / attention_of_one > 0.25);
  CHECK(attention / attention_of_one < 0.40);
  CHECK(products / products_of_one == Approx(0.25).margin(0.06));
}

TEST_CASE("gradients are added up over data and context, samples counted once", "[layout][context]") {
  const auto scenario = long_llama({{"job.gpus", "8"},
                                    {"parallel.context", "4"},
                                    {"parallel.context_method", "all_gather"},
                                    {"strategy", "{kind: ddp}"}});
  const auto workload = plan_of(scenario);
  CHECK(scenario.job.data_parallel() == 2);
  CHECK(scenario.job.samples() == 2);
  const auto& first = workload.groups[workload.actors.front().groups.front().index()];
  CHECK(first.purpose == Purpose::data);
  CHECK(first.members.size() == 8);
  const auto run = simulate(scenario);
  CHECK(run.measured.metrics.samples_per_s * run.measured.metrics.step_time.value() == Approx(2));
  CHECK(run.measured.metrics.exposed[static_cast<std::size_t>(Purpose::context)] > Seconds{});
}

TEST_CASE("context ranks hold activations of their tokens alone", "[layout][context]") {
  const auto* method = GENERATE("ring", "all_gather", "all_to_all");
  CAPTURE(method);
  const auto activations = [](const Scenario& scenario) {
    return plan_of(scenario).first_program().memory.activations.value();
  };
  // No 16-bit copies of weights, which all ranks have.
  const std::string halves = "{kind: distributed_optimizer}";
  auto set = with_context(method);
  set.push_back({"strategy", halves});
  const auto whole = activations(long_llama({{"strategy", halves}}));
  const auto share = activations(long_llama(set));
  CHECK(share / whole > 0.24);
  CHECK(share / whole < 0.30);
}

TEST_CASE("a ring hides its transfers behind attention, which gathers do not", "[layout][context]") {
  const auto exposed = [](const char* method) {
    return simulate(long_llama(with_context(method)))
        .measured.metrics.exposed[static_cast<std::size_t>(Purpose::context)]
        .value();
  };
  CHECK(exposed("ring") < 0.5 * exposed("all_gather"));
}
