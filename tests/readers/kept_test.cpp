// SPDX-License-Identifier: Apache-2.0
// Tensors that autograd keeps of a forward pass, by mechanism: small steps with the operations, shapes and
// node numbers of traces of Hugging Face's and torchvision's programs.
#include <algorithm>

#include <catch2/catch.hpp>

#include "tests/readers/trace_builder.hpp"

using namespace gradway;
using namespace gradway::testing;

namespace {

const std::string one = R"(["float"])";
const std::string two = R"(["float","float"])";
const std::string half = R"(["c10::BFloat16"])";
const std::string halves = R"(["c10::BFloat16","c10::BFloat16"])";
constexpr int no_node = 1000;  ///< a number that no backward pass has

struct Forward {
  Op op;
  std::vector<Op> around{};
};

Op node(std::string name, std::string shapes, std::string types, int sequence, std::string values = "[]") {
  return {std::move(name), std::move(shapes), std::move(types), std::move(values), sequence};
}

/// A copy of 4 samples, these operations, and a backward pass of nodes 1 to `nodes`, then `backward`.
/// Weights: 8 x 16 and 16 x 16.
Profile profile_of(const std::vector<Forward>& operations, int nodes,
                   const std::vector<Forward>& backward = {}) {
  auto step = small_step();
  const auto optimizer = step.back();
  auto gradient = step[4];
  std::vector<Made> result{step.front()};
  for (const auto& [op, around] : operations)
    result.push_back({.op = op, .kernel = {.name = "a_kernel"}, .around = around});
  for (int number = std::max(2, nodes); number > 0; --number) {
    gradient.op.sequence = number <= nodes ? number : 0;
    gradient.gradient = number == 1 ? "[8,16]" : number == 2 ? "[16,16]" : "";
    result.push_back(gradient);
  }
  for (const auto& [op, around] : backward)
    result.push_back(
        {.phase = ProfiledPhase::backward, .op = op, .kernel = {.name = "a_kernel"}, .around = around});
  result.push_back(optimizer);
  return import_loop(result).profile;
}

/// Bytes that autograd keeps: the peak of the forward pass is a last operation that makes 4 MB of nothing.
double kept(std::vector<Forward> operations, int nodes, const std::vector<Forward>& backward = {}) {
  operations.push_back({node("aten::something_large", "[[1000,1000]]", one, no_node)});
  const auto profile = profile_of(operations, nodes, backward);
  CHECK(profile.memory_lacks.empty());
  double most = 0;
  for (const auto& moment : profile.memory) {
    if (moment.phase == ProfiledPhase::forward) most = std::max(most, (moment.grows + moment.fixed).value());
  }
  return most - 4e6;
}

constexpr double numbers = 4 * 16;  ///< of most tensors here

/// x W, as all of these programs begin.
const Forward first{node("aten::mm", "[[4,8],[8,16]]", two, 1)};
/// x W of what has 16 columns.
Forward product(int sequence) {
  return {node("aten::mm", "[[4,16],[16,16]]", two, sequence)};
}

}  // namespace

TEST_CASE("autograd keeps nothing of an operation without a node, even of an unknown one",
          "[import][memory]") {
  CHECK(kept({first, {node("aten::silu", "[[4,16]]", one, 2)}}, 2) == 4 * numbers);
  CHECK(kept({first, {node("aten::silu", "[[4,16]]", one, no_node)}}, 1) == 0);
  CHECK(kept({first,
              {node("aten::all", "[[4,8]]", R"(["bool"])", no_node)},
              {node("aten::cumsum", "[[4,8],[]]", R"(["bool","Scalar"])", no_node)},
              {node("aten::minimum", "[[4,8],[4,8]]", R"(["long int","long int"])", no_node)},
              {node("aten::roll", "[[4,8]]", one, no_node)},
              {node("mine::mask", "[[4,8]]", one, no_node)}},
             1) == 0);
  const auto unknown = profile_of({{node("mine::norm", "[[4,16]]", one, 1)}}, 1);
  CHECK(unknown.memory_lacks == std::vector<std::string>{"mine::norm"});
}

TEST_CASE("parts of an operation with its own node are not evidence", "[import][memory]") {
  const auto profile = profile_of(
      {first, {node("aten::relu", "[[4,16]]", one, 0), {node("MyFunction", "[[4,16]]", one, 2)}}}, 2);
  CHECK(profile.memory_lacks == std::vector<std::string>{"MyFunction"});
}

TEST_CASE("a norm that is written out keeps its input once, and not its squares", "[import][memory]") {
  // x pow(2).mean(), rsqrt, x times that: x (by pow and the product), a number a row, what the next product
  // takes
  CHECK(kept({first,
              {node("aten::pow", "[[4,16],[]]", R"(["float","Scalar"])", 2)},
              {node("aten::mean", "[[4,16],[],[],[]]", R"(["float","ScalarList","Scalar",""])", 3,
                    R"(["","[-1]","True",""])")},
              {node("aten::rsqrt", "[[4,1]]", one, 4)},
              {node("aten::mul", "[[4,16],[4,1]]", two, 5)},
              product(6)},
             6) == 4 * (numbers + 4 + numbers));
}

TEST_CASE("several products of one tensor keep it once, although their results have its shape",
          "[import][memory]") {
  const Forward relu{node("aten::relu", "[[4,16]]", one, 2)};
  CHECK(kept({first, relu, product(3), product(4), product(5)}, 5) == 4 * numbers);
}

TEST_CASE("a product keeps a factor only if the other needs a gradient", "[import][memory]") {
  // noise of stochastic depth, a number a sample, does not
  CHECK(kept({first,
              {node("aten::empty", "[[],[]]", R"(["ScalarList","Scalar"])", 0, R"(["[4, 1]","6"])")},
              {node("aten::bernoulli_", "[[4,1],[]]", R"(["float","Scalar"])", no_node)},
              {node("aten::mul", "[[4,16],[4,1]]", two, 2)}},
             2) == 4 * 4);
  // a gate does
  CHECK(kept({first,
              {node("aten::mm", "[[4,8],[8,16]]", two, 2)},
              {node("aten::mul", "[[4,16],[4,16]]", two, 3)}},
             3) == 2 * 4 * numbers);
}

TEST_CASE("masks and indices are kept in their own types", "[import][memory]") {
  CHECK(kept({first, {node("aten::native_dropout", "[[4,16],[],[]]", R"(["float","Scalar","Scalar"])", 2)}},
             2) == numbers);
  CHECK(kept({first,
              {node("aten::lt", "[[4,16],[]]", R"(["float","Scalar"])", no_node)},
              {node("aten::masked_fill", "[[4,16],[4,16],[]]", R"(["float","bool","Scalar"])", 2)}},
             2) == numbers);
  // gather() also keeps what it selects from, index_select() its sizes only.
  const Forward indices{node("aten::add", "[[4,3],[]]", R"(["long int","Scalar"])", no_node)};
  CHECK(kept({first,
              indices,
              {node("aten::gather", "[[4,16],[],[4,3]]", R"(["float","Scalar","long int"])", 2)}},
             2) == 8 * 12 + 4 * numbers);
}

TEST_CASE("products of batches keep all factors of the same shape", "[import][memory]") {
  // Queries, keys and values are 4 x 2 x 8.
  const auto factor = [](int sequence) {
    return std::vector<Forward>{{node("aten::mm", "[[4,8],[8,16]]", two, sequence)},
                                {node("aten::gelu", "[[4,16]]", one, sequence + 1)},
                                {node("aten::view", "[[4,16],[]]", R"(["float","ScalarList"])", sequence + 2,
                                      R"(["","[4, 2, 8]"])")}};
  };
  std::vector<Forward> attention;
  for (const int sequence : {1, 4, 7}) std::ranges::copy(factor(sequence), std::back_inserter(attention));
  attention.push_back({node("aten::bmm", "[[4,2,8],[4,8,2]]", two, 10)});
  attention.push_back({node("aten::_softmax", "[[4,2,2],[],[]]", R"(["float","Scalar","Scalar"])", 11,
                            R"(["","-1","False"])")});
  attention.push_back({node("aten::bmm", "[[4,2,2],[4,2,8]]", two, 12)});
  // Of each factor what gelu takes and what it makes, and the softmax.
  CHECK(kept(attention, 12) == 4 * numbers * 3 * 2 + 4 * (4 * 2 * 2));
}

TEST_CASE("routing of tokens keeps indices", "[import][memory]") {
  CHECK(
      kept({first,
            {node("aten::topk", "[[4,16],[],[]]", R"(["float","Scalar","Scalar"])", 2, R"(["","2","-1"])")}},
           2) == 8 * 4 * 2);
  CHECK(kept({first,
              {node("aten::add", "[[4],[]]", R"(["long int","Scalar"])", no_node)},
              {node("aten::index_add_", "[[4,16],[],[4],[4,16]]", R"(["float","Scalar","long int","float"])",
                    2)}},
             2) == 8 * 4);
  CHECK(
      kept(
          {first, {node("aten::glu", "[[4,16],[]]", R"(["float","Scalar"])", 2, R"(["","-1"])")}, product(3)},
          2) == 4 * numbers);
}

TEST_CASE("a softmax in fp32 of a 16-bit input keeps fp32", "[import][memory]") {
  const auto softmax = [](const std::string& to_float) {
    return kept({{node("aten::mm", "[[4,8],[8,16]]", halves, 1)},
                 {node("aten::_softmax", "[[4,16],[],[]]", R"(["c10::BFloat16","Scalar","Scalar"])", 2,
                       R"(["","-1",")" + to_float + R"("])")}},
                2);
  };
  CHECK(softmax("True") == 4 * numbers);
  CHECK(softmax("False") == 2 * numbers);
}

TEST_CASE("autocast's call of an operation keeps nothing", "[import][memory]") {
  const Forward cast{node("aten::copy_", "[[4,16],[4,16]]", R"(["c10::BFloat16","float"])", 0),
                     {node("aten::_to_copy", "[[4,16]]", one, 2)}};
  const Forward call{node("aten::mm", "[[4,16],[16,16]]", halves, 3),
                     {node("aten::mm", "[[4,16],[16,16]]", two, 3)}};
  CHECK(kept({first, cast, call}, 3) == 2 * numbers);
}

TEST_CASE("a view has the memory of its tensor", "[import][memory]") {
  // a later tensor of the same size is not mistaken for it
  CHECK(kept({first,
              {node("aten::view", "[[4,16],[]]", R"(["float","ScalarList"])", 2, R"(["","[2, 2, -1]"])")},
              {node("aten::mm", "[[4,8],[8,16]]", two, 3)},
              {node("aten::silu", "[[2,2,16]]", one, 4)},
              {node("aten::silu", "[[4,16]]", one, 5)}},
             5) == 2 * 4 * numbers);
}

TEST_CASE("a convolution keeps its input", "[import][memory]") {
  const std::string shapes = "[[4,4,2,2],[8,4,1,1],[],[],[],[]]";
  const std::string types = R"(["float","float","ScalarList","ScalarList","ScalarList","Scalar"])";
  CHECK(kept({first,
              {node("aten::view", "[[4,16],[]]", R"(["float","ScalarList"])", 2, R"(["","[4, 4, 2, 2]"])")},
              {node("aten::cudnn_convolution", shapes, types, 0, R"(["","","[0, 0]","[1, 1]","[1, 1]","1"])"),
               {node("aten::convolution", shapes, types, 3)}}},
             3) == 4 * numbers);
}

TEST_CASE("the loss of a model of text in fp32 holds logits three times", "[import][memory]") {
  const std::vector<Forward> forward{
      {node("aten::mm", "[[4,8],[8,16]]", halves, 1)},
      {node("aten::copy_", "[[4,16],[4,16]]", R"(["float","c10::BFloat16"])", 0),
       {node("aten::_to_copy", "[[4,16]]", half, 2)}},
      {node("aten::_log_softmax", "[[4,16],[],[]]", R"(["float","Scalar","Scalar"])", 3,
            R"(["","1","False"])")},
      {node("aten::nll_loss_forward", "[[4,16],[4]]", R"(["float","long int"])", 4)}};
  CHECK(kept(forward, 4) ==
        4 * numbers + 2 * numbers);  // the logarithms; the model's output until the loss is there
  double most = 0;
  for (const auto& moment : profile_of(forward, 4).memory) {
    if (moment.phase == ProfiledPhase::backward) most = std::max(most, moment.grows.value());
  }
  CHECK(most == 3 * 4 * numbers);  // their gradient and that of the logits
}

TEST_CASE("a model that computes its loss itself does not keep its logits after the loss",
          "[import][memory]") {
  const auto output = [](const std::string& filled_with) {
    const auto profile =
        profile_of({{node("aten::mm", "[[4,8],[8,16]]", two, 1)},
                    {node("aten::constant_pad_nd", "[[4,8],[],[]]", R"(["long int","ScalarList","Scalar"])",
                          no_node, R"(["","[0, 1]",")" + filled_with + R"("])")},
                    {node("aten::_log_softmax", "[[4,16],[],[]]", R"(["float","Scalar","Scalar"])", 2,
                          R"(["","1","False"])")},
                    {node("aten::nll_loss_forward", "[[4,16],[4]]", R"(["float","long int"])", 3)}},
                   3);
    double most = 0;
    for (const auto& moment : profile.memory) most = std::max(most, moment.output.value());
    return most;
  };
  CHECK(output("0.") == 4 * numbers);
  CHECK(output("-100.") == 0);  // labels that Hugging Face's decoders shift
}

TEST_CASE("a compiled graph keeps the inputs of its backward graph", "[import][memory]") {
  const std::vector<Op> graph{node("CompiledFunction", "[[4,8],[8,16]]", two, 1)};
  const std::vector<Op> backward_graph{node("CompiledFunctionBackward", "[[]]", one, 1)};
  const std::string three = R"(["float","float","float"])";
  const std::vector<Forward> forward{{node("aten::mm", "[[4,8],[8,16],[4,16]]", three, 0), graph},
                                     {node("triton_poi_fused_silu_0", "[[4,16],[4,16]]", two, 0), graph},
                                     {node("aten::mm", "[[4,16],[16,16],[4,16]]", three, 0), graph}};
  const Forward product_back{node("aten::mm", "[[4,16],[16,16],[4,16]]", three, 0), backward_graph};
  const auto with = [&](const std::string& shapes, const std::string& types) {
    return kept(forward, 1, {product_back, {node("triton_poi_fused_1", shapes, types, 0), backward_graph}});
  };
  // what the second product takes; and of the first what silu's backward pass needs
  CHECK(with("[[4,16],[4,16],[4,16]]", three) == 2 * 4 * numbers);
  // a backward kernel that takes the gradient alone
  CHECK(with("[[4,16],[4,16]]", two) == 4 * numbers);
  CHECK(profile_of(forward, 1, {product_back}).memory_from == MemorySource::compiled);
  // one that has the gradient's memory for its result, in the shape of that, and reads what it takes last
  CHECK(with("[[2,2,16],[4,16]]", two) == 2 * 4 * numbers);
}

TEST_CASE("a compiled kernel writes the operands after the last parameter", "[import][memory]") {
  const std::vector<Op> graph{node("CompiledFunction", "[[4,8],[8,16]]", two, 1)};
  const std::vector<Op> backward_graph{node("CompiledFunctionBackward", "[[]]", one, 1)};
  const std::string three = R"(["float","float","float"])";
  const std::string five = R"(["float","float","float","c10::BFloat16","float"])";
  const auto with = [&](const std::string& shapes) {
    const std::vector<Forward> forward{{node("aten::mm", "[[4,8],[8,16],[4,16]]", three, 0), graph},
                                       {node("triton_per_fused_norm_0", shapes, five, 0), graph}};
    return kept(forward, 1,
                {{node("aten::mm", "[[4,16],[16,16],[4,16]]", three, 0), backward_graph},
                 {node("triton_per_fused_norm_back_1", "[[4,16],[2,2,16],[4,16],[4,16]]",
                       R"(["float","float","float","float"])", 0),
                  backward_graph}});
  };
  // a weight of 16 x 16, then a normalised tensor of 2 x 2 x 16 in fp32, which the backward graph takes
  // beside the sum, a 16-bit copy and a number a row
  CHECK(with("[[4,16],[16,16],[2,2,16],[4,16],[4,1]]") == 2 * 4 * numbers);
}

TEST_CASE("tensors kept by a graph that recomputes layers are unknown", "[import][memory]") {
  const std::vector<Op> graph{node("CompiledFunction", "[[4,8],[8,16]]", two, 1)};
  const std::vector<Op> backward_graph{node("CompiledFunctionBackward", "[[]]", one, 1)};
  const std::string three = R"(["float","float","float"])";
  const std::vector<Forward> forward{{node("aten::mm", "[[4,8],[8,16],[4,16]]", three, 0), graph}};
  const auto unknown_operations = [&](int products, const std::string& last) {
    std::vector<Forward> backward(static_cast<std::size_t>(products),
                                  {node("aten::mm", "[[4,16],[16,16],[4,16]]", three, 0), backward_graph});
    backward.push_back({node(last, "[[4,16],[4,16]]", two, 0), backward_graph});
    return profile_of(forward, 1, backward).memory_lacks;
  };
  const std::vector<std::string> again{"layers that a compiled graph recomputes"};
  CHECK(unknown_operations(2, "triton_poi_fused_1").empty());
  CHECK(unknown_operations(3, "triton_poi_fused_1") == again);
  CHECK(unknown_operations(2, "aten::_scaled_dot_product_flash_attention_backward").empty());
  CHECK(unknown_operations(2, "aten::_scaled_dot_product_flash_attention") == again);
}
