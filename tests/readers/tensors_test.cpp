// SPDX-License-Identifier: Apache-2.0
// Facts from the shapes of a trace: the batch, operations that grow with it, gradients and buffers.
#include <catch2/catch.hpp>

#include "tests/readers/trace_builder.hpp"

using namespace gradway;
using namespace gradway::testing;

namespace {

const std::string two = R"(["float","float"])";

/// Whether the launch of this operation grows with the batch, in a step of a batch of 4 whose only parameter
/// is 8 x 16.
bool grows(const Op& op, const Kernel& kernel = {}) {
  auto step = small_step();
  step[2] = {.op = op, .kernel = kernel};
  return import_loop(step).profile.launches[2].grows;
}

}  // namespace

TEST_CASE("the batch is the leading dimension of the largest copy from the host", "[import]") {
  auto step = small_step();
  const Kernel copy{.name = "Memcpy HtoD (Pinned -> Device)", .category = "gpu_memcpy", .bytes = 56};
  step.insert(step.begin(), Made{.op = {"aten::copy_", "[[7],[7]]", two}, .kernel = copy});

  const auto imported = import_loop(step);

  CHECK(imported.profile.batch == 4);
  CHECK(imported.notes.input_per_sample == Bytes{(128 + 56) / 4.});
}

TEST_CASE("without a copy the batch is that of the first operation", "[import]") {
  auto step = small_step();
  step.erase(step.begin());
  SECTION("its leading dimension") {
    step[0].op.shapes = "[[6,8],[8,16]]";
    const auto imported = import_loop(step);
    CHECK(imported.profile.batch == 6);
    CHECK(imported.notes.input_per_sample == Bytes{});
  }
  SECTION("that of the indices of an embedding") {
    step.insert(step.begin(), Made{.op = {"aten::embedding", "[[50304,768],[3,1024]]", two}});
    CHECK(import_loop(step).profile.batch == 3);
  }
}

TEST_CASE("a batch given by the user takes precedence", "[import]") {
  ImportOptions options;
  options.batch = 2;

  const auto imported = import_loop(small_step(), {}, options);

  CHECK(imported.profile.batch == 2);
  CHECK(imported.notes.input_per_sample == Bytes{64});
}

TEST_CASE("operations on parameters do not grow with the batch", "[import]") {
  CHECK_FALSE(grows({"aten::copy_", "[[8,16],[8,16]]", R"(["c10::BFloat16","float"])"}));  // a weight's cast
  CHECK_FALSE(grows({"aten::fill_", "[[8,16]]"}));
  CHECK_FALSE(grows({"aten::add_", "[[8,16],[8,16]]", two}));                 // sums of gradients
  CHECK_FALSE(grows({"aten::add_", "[[],[]]", R"(["long int","Scalar"])"}));  // a count of batches
  CHECK_FALSE(grows({"aten::mul", "[[8,16],[]]", R"(["float","Scalar"])"}));
  CHECK(grows({"aten::copy_", "[[4,16],[4,16]]", two}));
  CHECK(grows({"aten::add", "[[4,8,16],[8,16]]", two}));
  CHECK(grows({"aten::arange", "[]", "[]"}));  // unknown operation
  CHECK(grows({"aten::mm", "[[8,16],[8,16]]", two}, {.name = "some_gemm"}));
  auto step = small_step();
  step[5].op = {"aten::relu", "[[4,8]]"};
  CHECK_FALSE(import_loop(step).profile.launches[5].grows);  // any launch of the optimizer
}

TEST_CASE("the operation decides when a parameter has a dimension of samples by coincidence", "[import]") {
  // A batch of 4 and an input of 4 x 8: 32 rows. The parameter is 32 x 16.
  auto step = small_step();
  step[4].gradient = "[32,16]";
  const auto grows_with = [&](const Op& op) {
    step[2].op = op;
    return import_loop(step).profile.launches[2].grows;
  };

  CHECK(grows_with({"aten::sum", "[[32,16]]"}));                       // over rows of samples
  CHECK_FALSE(grows_with({"aten::copy_", "[[32,16],[32,16]]", two}));  // autocast's
}

TEST_CASE("a gradient keeps its type, and a parameter may be a number", "[import]") {
  auto step = small_step();
  const Loop loop{.beside = [](TraceBuilder& trace, int, std::size_t launch, double time) {
    if (launch == 3)
      trace.op({"torch::autograd::AccumulateGrad", "[[]]", R"(["c10::BFloat16"])"}, time + 0.5, 0.2,
               autograd_thread);
  }};

  const auto gradients = import_loop(step, loop).profile.gradients;

  REQUIRE(gradients.size() == 2);
  CHECK(gradients[0].shape.empty());
  CHECK(gradients[0].element_bytes == 2);
}

TEST_CASE("a batch normalisation has three buffers, however deep its operations nest", "[import]") {
  const std::string shapes = "[[4,16,7,7],[16],[16],[16],[16],[],[],[],[]]";
  const std::string types = R"(["c10::Half","float","float","float","float","Scalar","","",""])";
  const Loop loop{.beside = [&](TraceBuilder& trace, int, std::size_t launch, double time) {
    if (launch != 1) return;
    trace.op({"aten::batch_norm", shapes, types}, time + 0.5, 0.4);
    trace.op({"aten::_batch_norm_impl_index", shapes, types}, time + 0.6, 0.3);
    trace.op({"aten::cudnn_batch_norm", shapes, types}, time + 0.7, 0.2);
  }};

  const auto buffers = import_loop(small_step(), loop).profile.buffers;

  REQUIRE(buffers.size() == 3);
  CHECK(buffers[0].shape == std::vector<std::int64_t>{16});
  CHECK(buffers[0].element_bytes == 4);
  CHECK(buffers[1].shape == std::vector<std::int64_t>{16});
  CHECK(buffers[2].shape.empty());
  CHECK(buffers[2].element_bytes == 8);
}

TEST_CASE("the optimizer is recognised by its annotation and its operations", "[import]") {
  const auto with = [](const std::string& name, const std::string& op = "aten::_foreach_add_") {
    auto step = small_step();
    step[5].op.name = op;
    return import_loop(step, {.optimizer = name});
  };

  CHECK(with("SGD").profile.optimizer == Optimizer::sgd);
  CHECK(with("SGD", "aten::_foreach_mul_").profile.optimizer == Optimizer::sgd_momentum);
  CHECK(with("AdamW").profile.optimizer == Optimizer::adamw);
  CHECK(with("AdamW", "aten::_fused_adamw_").profile.optimizer == Optimizer::adamw_fused);
  const auto unknown = with("Lion");
  CHECK(unknown.profile.optimizer == Optimizer::adamw);
  CHECK(unknown.profile.launches.size() == 6);
  CHECK(unknown.warnings ==
        std::vector<std::string>{
            "unknown optimizer 'Lion': the profile keeps its launches and names it adamw"});
}
