// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "tests/readers/trace_builder.hpp"

using namespace gradway;
using namespace gradway::testing;
using enum ProfiledPhase;

namespace {

std::vector<ProfiledPhase> phases_of(const Profile& profile) {
  std::vector<ProfiledPhase> phases;
  for (const auto& launch : profile.launches) phases.push_back(launch.phase);
  return phases;
}

void check_times(const Profile& profile, const std::vector<Made>& step) {
  REQUIRE(profile.launches.size() == step.size());
  for (std::size_t i = 0; i < step.size(); ++i) {
    CAPTURE(i);
    CHECK(profile.launches[i].cpu.value() == Approx(step[i].cpu * 1e-6).epsilon(1e-9));
    CHECK(profile.launches[i].gpu.value() == Approx(step[i].gpu * 1e-6).epsilon(1e-9));
  }
}

}  // namespace

TEST_CASE("launches of steps are in order with their times and phases", "[import]") {
  const auto step = small_step();
  const auto marks_steps = GENERATE(false, true);

  const auto imported = import_loop(step, {.marks_steps = marks_steps});

  const auto& profile = imported.profile;
  check_times(profile, step);
  CHECK(phases_of(profile) == std::vector{forward, forward, forward, backward, backward, optimizer});
  CHECK(profile.steps == 3);
  CHECK(imported.steps_found == 3);
  CHECK(imported.warnings.empty());
  CHECK(profile.gpu == "h200");
  CHECK(profile.precision == Precision::fp32);
  CHECK(profile.batch == 4);
  CHECK(profile.optimizer == Optimizer::sgd);
  CHECK(imported.notes.source == "PyTorch profiler trace trace.json, 3 steps");
  CHECK(imported.notes.input_per_sample == Bytes{32});
  // The GPU sets the pace: 387 us of work and six pauses of 1.5 us.
  CHECK(profile.traced_step.value() == Approx(396e-6).epsilon(1e-9));
  CHECK(profile.gap.value() == Approx(1.5e-6).epsilon(1e-9));
}

TEST_CASE("a trace that is cut is read up to its last whole event", "[import]") {
  const auto step = small_step();
  const auto text = trace_of(step).json();
  int imported_traces = 0;
  for (auto length = text.size() / 4; length + 2 < text.size(); length += 97) {
    CAPTURE(length);
    try {
      const auto imported = import_text(text.substr(0, length));
      ++imported_traces;
      REQUIRE(imported.profile.launches.size() == step.size());
      for (std::size_t i = 0; i < step.size(); ++i)
        CHECK(imported.profile.launches[i].gpu.value() == Approx(step[i].gpu * 1e-6).epsilon(1e-9));
      CHECK(imported.profile.steps <= 3);
      REQUIRE(!imported.warnings.empty());
      CHECK_THAT(imported.warnings.front(),
                 Catch::Matchers::StartsWith("the file is cut in line ") &&
                     Catch::Matchers::EndsWith("in the middle of an event: the model is what comes before"));
    } catch (const ConfigError& error) {
      CHECK_THAT(error.what(),
                 Catch::Matchers::Contains("error: the file is cut here, before the end of the first"));
    }
  }
  CHECK(imported_traces > 10);
}

TEST_CASE("a gradient is ready after the launches before the end of its accumulation", "[import]") {
  auto step = small_step();
  step[3].gradient = "[16]";

  const auto gradients = import_loop(step).profile.gradients;

  REQUIRE(gradients.size() == 2);
  CHECK(gradients[0].shape == std::vector<std::int64_t>{16});
  CHECK(gradients[0].after == 4);
  CHECK(gradients[0].element_bytes == 4);
  CHECK(gradients[1].shape == std::vector<std::int64_t>{8, 16});
  CHECK(gradients[1].after == 5);
}

TEST_CASE("a disturbed step changes nothing", "[import]") {
  const auto step = small_step();
  const int disturbed = GENERATE(1, 2);
  const Loop loop{.edit = [&](int number, std::vector<Made>& launches) {
    if (number != disturbed) return;
    for (auto& launch : launches) {
      launch.cpu *= 3;
      launch.gpu *= 2;
    }
  }};

  check_times(import_loop(step, loop).profile, step);
}

TEST_CASE("times that vary add up to the median of the steps", "[import]") {
  // Two launches of 20 + 30 and 30 + 20 us: each has the lower median 20, but a step takes 50.
  auto step = small_step();
  const Loop loop{.steps = 2, .edit = [](int number, std::vector<Made>& launches) {
                    launches[2].gpu = number == 0 ? 20 : 30;
                    launches[3].gpu = number == 0 ? 30 : 20;
                  }};

  const auto profile = import_loop(step, loop).profile;

  CHECK(gpu_time(profile).value() == Approx((6 + 280 + 50 + 70 + 9) * 1e-6).epsilon(1e-9));
}

TEST_CASE("steps that launch other kernels are left out and named", "[import]") {
  const auto step = small_step();
  const auto other = [](std::vector<Made>& launches, const std::string& kernel) {
    launches[1].kernel.name = kernel;
    launches[1].gpu = 500;
  };

  const auto first = import_loop(step, {.edit = [&](int number, std::vector<Made>& launches) {
                                   if (number == 0) other(launches, "gemm_of_the_benchmark");
                                 }});
  const auto all = import_loop(step, {.edit = [&](int number, std::vector<Made>& launches) {
                                 other(launches, "gemm_" + std::to_string(number));
                               }});
  const auto one = import_loop(step, {.steps = 1});

  check_times(first.profile, step);
  CHECK(first.profile.steps == 2);
  CHECK(first.warnings ==
        std::vector<std::string>{
            "ignored steps that launch different kernels (such as a first step or an evaluation): 1 of 3"});
  CHECK(all.profile.steps == 1);
  CHECK(all.warnings.front() ==
        "no two of the 3 steps launch the same kernels: only the last one is used; "
        "record after a few steps of warm-up");
  CHECK(one.warnings.front() ==
        "the trace has only one complete step: record several to see whether it is typical");
}

TEST_CASE("of two equally frequent kinds of step the later one counts", "[import]") {
  const Loop loop{.steps = 4, .edit = [](int number, std::vector<Made>& launches) {
                    if (number >= 2) launches[1].kernel.name = "a_better_gemm";
                    if (number >= 2) launches[1].gpu = 200;
                  }};

  const auto profile = import_loop(small_step(), loop).profile;

  CHECK(profile.steps == 2);
  CHECK(profile.launches[1].gpu.value() == Approx(200e-6));
}

TEST_CASE("pauses count only where the CPU was ahead", "[import]") {
  // Four of six activities start when the CPU is ready for them.
  auto step = small_step();
  step[1].gpu = 300;
  for (const auto i : {3, 4, 5, 0}) step[i].cpu = 400;

  CHECK(import_loop(step).profile.gap.value() == Approx(1.5e-6).epsilon(1e-9));
}

TEST_CASE("a step that the trace begins or ends in is left out", "[import]") {
  auto half = small_step();
  half.erase(half.begin(), half.begin() + 3);  // no forward pass
  const Loop loop{.edit = [&](int number, std::vector<Made>& launches) {
    if (number == 0) launches = half;
  }};

  const auto imported = import_loop(small_step(), loop);

  CHECK(imported.profile.steps == 2);
  CHECK(imported.warnings == std::vector<std::string>{"ignored incomplete steps: 1"});
}

TEST_CASE("autograd is recognised by its operations, on any thread", "[import]") {
  const auto profile = import_loop(small_step(), {.threads = false}).profile;

  CHECK(phases_of(profile) == std::vector{forward, forward, forward, backward, backward, optimizer});
}

TEST_CASE("launches after the backward pass belong to the optimizer's phase", "[import]") {
  auto step = small_step();
  const Made clipping{.phase = forward, .op = {"aten::norm", "[[8,16]]"}};  // on the main thread
  step.insert(step.begin() + 5, clipping);
  const auto marks_steps = GENERATE(false, true);

  const auto profile = import_loop(step, {.marks_steps = marks_steps}).profile;

  CHECK(phases_of(profile) ==
        std::vector{forward, forward, forward, backward, backward, optimizer, optimizer});
}

TEST_CASE("several optimizers after one backward pass are one", "[import]") {
  auto step = small_step();
  step.push_back({.phase = optimizer, .op = {"aten::mul_", "[[8,16]]"}, .cpu = 20});
  const Loop loop{.annotates = false,
                  .beside = [](TraceBuilder& trace, int, std::size_t launch, double time) {
                    if (launch == 5) trace.annotation("Optimizer.step#SGD.step", time - 39, 38.5);
                    if (launch == 6) trace.annotation("Optimizer.step#Adagrad.step", time - 19, 19.5);
                  }};

  const auto profile = import_loop(step, loop).profile;

  CHECK(profile.steps == 3);
  CHECK(phases_of(profile) ==
        std::vector{forward, forward, forward, backward, backward, optimizer, optimizer});
}

TEST_CASE("a closure's passes are inside of the optimizer's step", "[import]") {
  const auto step = small_step();
  double length = 0;
  for (const auto& launch : step) length += launch.cpu;
  const Loop loop{.annotates = false,
                  .beside = [&](TraceBuilder& trace, int, std::size_t launch, double time) {
                    if (launch == 0)
                      trace.annotation("Optimizer.step#SGD.step", time - step.front().cpu + 1, length - 2);
                  }};

  const auto imported = import_loop(step, loop);

  CHECK(imported.steps_found == 3);
  CHECK(phases_of(imported.profile) == std::vector{forward, forward, forward, backward, backward, optimizer});
}

TEST_CASE("launches of a hook on autograd's thread are backward", "[import]") {
  const Loop loop{.beside = [](TraceBuilder& trace, int, std::size_t launch, double time) {
    if (launch == 3) trace.launch({.stream = 8}, time + 0.6, 0.2, time + 1000, 5, 0, autograd_thread);
  }};

  CHECK(phases_of(import_loop(small_step(), loop).profile) ==
        std::vector{forward, forward, forward, backward, backward, backward, optimizer});
}

TEST_CASE("other streams than the main one are numbered and named", "[import]") {
  auto step = small_step();
  step[0].kernel.stream = 20;
  step[2].kernel.stream = 13;

  const auto imported = import_loop(step);

  CHECK(imported.profile.launches[0].stream == 1);
  CHECK(imported.profile.launches[1].stream == 0);
  CHECK(imported.profile.launches[2].stream == 2);
  CHECK(imported.warnings ==
        std::vector<std::string>{"launches of a step on streams other than the main stream: 2"});
}

TEST_CASE("work that was launched before the trace began is left out", "[import]") {
  auto trace = trace_of(small_step());
  trace.raw(
      R"({"ph":"X","cat":"kernel","name":"old","ts":4377009848000.5,"dur":2,"args":{"correlation":5,"stream":7}})");

  const auto imported = import_text(trace.json());

  CHECK(imported.profile.launches.size() == 6);
  CHECK(imported.warnings ==
        std::vector<std::string>{"ignored GPU activities whose launches are not in the trace: 1"});
}

TEST_CASE("a long list that is copied to the GPU does not give the batch", "[import]") {
  auto step = small_step();
  auto list = step.front();
  list.op.shapes = "[[203300],[203300]]";
  list.kernel.bytes = 203300 * 8;
  step.insert(step.begin() + 1, list);
  CHECK(import_text(trace_of(step).json()).profile.batch == 4);
}

TEST_CASE("of several micro-steps before an optimizer step, the last one is the model", "[import]") {
  const auto step = small_step();
  auto twice = step;
  twice.insert(twice.begin() + 5, step.begin(), step.begin() + 5);
  const auto once = import_loop(step).profile;

  ImportOptions options;
  options.step_time = Seconds{0.72e-3};
  const auto imported = import_loop(twice, {}, options);

  const auto& profile = imported.profile;
  check_times(profile, step);
  CHECK(phases_of(profile) == phases_of(once));
  CHECK(profile.gradients.size() == once.gradients.size());
  CHECK(profile.batch == 4);
  // The measured step has both micro-steps.
  CHECK(profile.step_time->value() > 0.36e-3);
  CHECK(profile.step_time->value() < 0.45e-3);
  REQUIRE(imported.warnings.size() == 1);
  CHECK(imported.warnings[0] ==
        "2 forward and backward passes come before one step of the optimizer: the model is the last of them "
        "with the optimizer; set 'job.accumulate: 2' in the scenario");
}

TEST_CASE("steps of the profiler that are micro-steps are one step of the optimizer", "[import]") {
  const Loop every_other{
      .steps = 6, .marks_steps = true, .edit = [](int number, std::vector<Made>& launches) {
        if (number % 2 == 0) launches.pop_back();
      }};

  const auto imported = import_loop(small_step(), every_other);

  check_times(imported.profile, small_step());
  REQUIRE(imported.warnings.size() == 1);
  CHECK_THAT(imported.warnings[0], Catch::Matchers::Contains("set 'job.accumulate: 2'"));
}

TEST_CASE("the hooks of FSDP are taken out of a trace, and its optimizer updates whole parameters",
          "[import]") {
  const auto step = small_step();
  auto sharded = step;
  auto gather = step[2];
  gather.op = {"c10d::_allgather_base_", "[[100,100],[50,100]]", R"(["float","float"])"};
  gather.kernel.name = "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)";
  gather.kernel.stream = 20;
  auto copy_out = step[2];
  copy_out.op = {"aten::split_with_sizes_copy", "[[100,100]]"};
  sharded.insert(sharded.begin() + 1, {gather, copy_out});
  Loop loop;
  // The hook ends where the copy's launch does.
  loop.beside = [](TraceBuilder& trace, int, std::size_t launch, double time) {
    if (launch == 2) trace.annotation("FSDP::pre_forward (h.0)", time - 29.5, 29.4);
  };
  auto trace = trace_of(sharded, loop);
  trace.raw(R"({"ph":"M","name":"none","pid":1,"tid":1,"args":{}})");
  auto text = trace.json();
  text.insert(text.find('{') + 1, R"("distributedInfo": {"rank": 0, "world_size": 4},)");

  const auto alone = import_loop(step).profile;
  const auto imported = import_text(text);

  CHECK(phases_of(imported.profile) == phases_of(alone));
  CHECK(imported.profile.gradients.size() == alone.gradients.size());
  for (std::size_t i = 0; i + 1 < alone.launches.size(); ++i)
    CHECK(imported.profile.launches[i].gpu == alone.launches[i].gpu);
  // 0.9 us of latency, and four times what follows it
  CHECK(imported.profile.launches.back().gpu.value() ==
        Approx(0.9e-6 + 4 * (alone.launches.back().gpu.value() - 0.9e-6)));
  CHECK(imported.profile.launches.back().bytes == alone.launches.back().bytes * 4.0);
  REQUIRE(!imported.warnings.empty());
  CHECK_THAT(imported.warnings.back(),
             Catch::Matchers::StartsWith("the trace is of FSDP on 4 ranks: its collectives are taken out") &&
                 Catch::Matchers::Contains("'strategy.kind: fsdp'"));
}

TEST_CASE("all-reduces of autograd without DDP average gradients, all-to-alls are left out", "[import]") {
  auto step = small_step();
  auto exchange = step[2];
  exchange.op = {"c10d::alltoall_base_", "[[100,100],[100,100]]", R"(["float","float"])"};
  exchange.kernel.name = "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)";
  exchange.kernel.stream = 20;
  auto reduce = step[4];
  reduce.gradient.clear();
  reduce.op = {"c10d::allreduce_", "[[100,100]]"};
  reduce.around = {{"autograd::engine::evaluate_function: AccumulateGrad"}};
  reduce.kernel.name = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)";
  reduce.kernel.stream = 20;
  auto of_job = step;
  of_job.insert(of_job.begin() + 5, reduce);
  of_job.insert(of_job.begin() + 2, exchange);

  const auto imported = import_loop(of_job);

  CHECK(phases_of(imported.profile) == phases_of(import_loop(step).profile));
  REQUIRE(!imported.warnings.empty());
  CHECK_THAT(imported.warnings.back(), Catch::Matchers::Contains("'strategy.kind: ddp'") &&
                                           Catch::Matchers::Contains("no strategy adds its all-to-alls"));
}

TEST_CASE("exchanges of embeddings are known by their kernels where no operation issues them", "[import]") {
  auto step = small_step();
  auto exchange = step[2];
  exchange.op = {"All2All_Pooled_Wait"};
  exchange.kernel.name = "ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclWorkElem)";
  exchange.kernel.stream = 20;
  auto lookup = step[2];
  lookup.op = {"fbgemm::permute_sparse_features"};
  auto reduce = step[4];
  reduce.gradient.clear();
  reduce.op = {"c10d::allreduce_", "[[100,100]]"};
  reduce.kernel.name = "ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)";
  reduce.kernel.stream = 20;
  auto with_tables = step;
  with_tables.insert(with_tables.begin() + 5, reduce);
  with_tables.insert(with_tables.begin() + 2, {lookup, exchange});
  auto without_tables = with_tables;
  without_tables[2].op = {"aten::relu"};
  const auto traced = [](const std::vector<Made>& launches) {
    auto trace = trace_of(launches);
    trace.annotation("DistributedDataParallel.forward", 1, 2);
    return trace.json();
  };

  CHECK_THAT(import_text(traced(with_tables)).warnings.back(),
             Catch::Matchers::EndsWith("no strategy adds its all-to-alls of embeddings or experts, whose "
                                       "parameters are those of a rank"));
  CHECK_THROWS_WITH(import_text(traced(without_tables)),
                    Catch::Matchers::Contains("the trace is of distributed training: it has "
                                              "'ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t'"));
}

TEST_CASE("without shapes, kernels are known by their names and gradients share the parameters", "[import]") {
  Loop loop;
  loop.has_shapes = false;
  ImportOptions options;
  options.batch = 4;
  options.parameters = 1001;

  const auto profile = import_loop(small_step(), loop, options).profile;
  const auto known = import_loop(small_step()).profile;

  REQUIRE(profile.launches.size() == known.launches.size());
  for (std::size_t i = 0; i < known.launches.size(); ++i) {
    CHECK(profile.launches[i].kind == known.launches[i].kind);
    CHECK(profile.launches[i].gpu == known.launches[i].gpu);
    CHECK(profile.launches[i].flops == Flops{});
  }
  REQUIRE(profile.gradients.size() == known.gradients.size());
  CHECK(profile.gradients.front().after == known.gradients.front().after);
  CHECK(profile.gradients.front().shape == std::vector<std::int64_t>{1001});
  CHECK(profile.memory_from == MemorySource::none);
}

TEST_CASE("the collectives of DDP are taken out of a trace", "[import]") {
  const auto step = small_step();
  auto reduced = step;
  auto all_reduce = step[4];
  all_reduce.gradient.clear();
  all_reduce.op = {"c10d::allreduce_"};
  all_reduce.kernel.name = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)";
  all_reduce.kernel.stream = 20;
  reduced.insert(reduced.begin() + 5, all_reduce);
  auto trace = trace_of(reduced);
  trace.annotation("DistributedDataParallel.forward", 1, 2);

  const auto imported = import_text(trace.json());

  CHECK(phases_of(imported.profile) == phases_of(import_loop(step).profile));
  REQUIRE(!imported.warnings.empty());
  CHECK_THAT(imported.warnings.back(),
             Catch::Matchers::StartsWith("the trace is of DDP: its collectives are taken out"));
}
