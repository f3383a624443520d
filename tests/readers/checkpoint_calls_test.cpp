// SPDX-License-Identifier: Apache-2.0
// Activation checkpointing (torch.utils.checkpoint) in traces, reentrant and not.
#include <algorithm>
#include <functional>

#include <catch2/catch.hpp>

#include "tests/readers/trace_builder.hpp"

using namespace gradway;
using namespace gradway::testing;

namespace {

const std::string one = R"(["float"])";
const std::string two = R"(["float","float"])";

enum class Way { keeps_all, not_reentrant, reentrant };

/// Writes consecutive operations, each with a kernel.
class Writer {
 public:
  void run(const Op& op, int thread, const Kernel& kernel = {.name = "a_kernel"}) {
    const auto external = trace.op(op, cpu_, 10, thread);
    trace.launch(kernel, cpu_ + 4, 4, gpu_, 5, external, thread);
    cpu_ += 11;
    gpu_ = std::max(gpu_ + 6, cpu_);
  }
  void inside(const Op& outer, int thread, const std::function<void()>& parts) {
    const double begin = cpu_++;
    parts();
    trace.op(outer, begin, cpu_ - begin, thread);
    cpu_ += 1;
  }
  void optimizer() {
    const double begin = cpu_++;
    run({"aten::add_", "[[8,16],[8,16]]", two}, main_thread);
    trace.annotation("Optimizer.step#SGD.step", begin, cpu_ - begin);
    cpu_ += 1;
  }

  TraceBuilder trace;

 private:
  double cpu_ = 0;
  double gpu_ = 20;
};

Op node(std::string name, std::string shapes, std::string types, int sequence) {
  return {std::move(name), std::move(shapes), std::move(types), "[]", sequence};
}

/// a = x U, then the layer silu(silu(a) W), then a product with W of what it gave; all of 4 x 16 numbers.
/// PyTorch numbers nodes by thread, so that those of the layer have other numbers when it runs again.
Profile profile_of(Way way) {
  constexpr int again = 100;
  Writer writer;
  const auto layer = [&](int thread, int before) {
    const auto number = [&](int of) { return before < 0 ? 0 : before + of; };
    writer.run(node("aten::silu", "[[4,16]]", one, number(2)), thread);
    writer.run(node("aten::mm", "[[4,16],[16,16]]", two, number(3)), thread);
    writer.run(node("aten::silu", "[[4,16]]", one, number(4)), thread);
  };
  const auto back = [&](
                        int number, const std::function<void()>& first = [] {}) {
    const auto name = number % again == 3 || number == 1 || number == 5 ? "MmBackward0" : "SiluBackward0";
    writer.inside(node(std::string{"autograd::engine::evaluate_function: "} + name, "[]", "[]", number),
                  autograd_thread, [&] {
                    writer.inside(node(name, "[[4,16]]", one, number), autograd_thread, [&] {
                      first();
                      writer.run({"aten::a_backward", "[[4,16]]", one}, autograd_thread);
                    });
                  });
  };
  const auto gradient = [&](const std::string& shape) {
    writer.inside(
        {"autograd::engine::evaluate_function: torch::autograd::AccumulateGrad", "[]", "[]"}, autograd_thread,
        [&] {
          writer.inside({"torch::autograd::AccumulateGrad", "[" + shape + "]", one}, autograd_thread, [] {});
        });
  };
  for (int step = 0; step < 3; ++step) {
    writer.run({"aten::copy_", "[[4,8],[4,8]]", two}, main_thread,
               {.name = "Memcpy HtoD (Pinned -> Device)", .category = "gpu_memcpy", .bytes = 128});
    writer.run(node("aten::mm", "[[4,8],[8,16]]", two, 1), main_thread);
    if (way == Way::reentrant) {
      writer.inside(node("CheckpointFunction", "[[],[4,16]]", R"(["Scalar","float"])", 2), main_thread,
                    [&] { layer(main_thread, -1); });
    } else {
      layer(main_thread, 0);
    }
    writer.run(node("aten::mm", "[[4,16],[16,16]]", two, 5), main_thread);
    back(5);
    if (way == Way::reentrant) {
      const auto nodes = [&] {
        layer(autograd_thread, again);
        for (const int number : {4, 3}) back(again + number);
        gradient("[16,16]");
        back(again + 2);
        gradient("[4,16]");
      };
      writer.inside(node("autograd::engine::evaluate_function: CheckpointFunctionBackward", "[]", "[]", 2),
                    autograd_thread, [&] {
                      writer.inside(node("CheckpointFunctionBackward", "[[4,16]]", one, 2), autograd_thread,
                                    nodes);
                    });
    } else {
      back(4, [&] {
        if (way == Way::not_reentrant) layer(autograd_thread, again);
      });
      back(3);
      gradient("[16,16]");
      back(2);
    }
    back(1);
    gradient("[8,16]");
    writer.optimizer();
  }
  return import_text(writer.trace.json()).profile;
}

/// In tensors of 4 x 16 numbers.
double most(const Profile& profile, ProfiledPhase phase) {
  double bytes = 0;
  for (const auto& moment : profile.memory) {
    if (moment.phase == phase) bytes = std::max(bytes, (moment.grows + moment.fixed).value());
  }
  return bytes / (4.0 * 4 * 16);
}

}  // namespace

TEST_CASE("recomputed layers keep their input in the forward pass, and all tensors in their backward pass",
          "[import][memory]") {
  const auto way = GENERATE(Way::keeps_all, Way::not_reentrant, Way::reentrant);
  CAPTURE(static_cast<int>(way));
  const auto profile = profile_of(way);
  CHECK(profile.memory_from == MemorySource::shapes);
  CHECK(profile.memory_lacks.empty());
  CHECK(profile.launches.size() == (way == Way::keeps_all ? 12 : 15));
  // a, what silu gave twice and the product between, and the last product; or only the layer's ends
  CHECK(most(profile, ProfiledPhase::forward) == (way == Way::keeps_all ? 5 : 3));
  // When the last product's backward pass runs: the four that are kept, and the gradient of what it took.
  // Where the layer runs again: a, the two that it keeps, what it gives, and the gradient of that; a
  // reentrant one has these still when its own backward pass makes the next gradient.
  CHECK(most(profile, ProfiledPhase::backward) == (way == Way::reentrant ? 6 : 5));
}

TEST_CASE("the gradient of a detached input is not that of a parameter", "[import]") {
  const auto profile = profile_of(Way::reentrant);
  REQUIRE(profile.gradients.size() == 2);
  CHECK(profile.gradients[0].shape == std::vector<std::int64_t>{16, 16});
  CHECK(profile.gradients[1].shape == std::vector<std::int64_t>{8, 16});
}
