// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "sim/workload/decoder.hpp"
#include "sim/workload/eager/eager.hpp"
#include "tests/support/models.hpp"

using namespace gradway;
using namespace gradway::test;

namespace {

DecoderShape small() {
  DecoderShape shape;
  shape.layers = 2;
  return shape;
}

}  // namespace

TEST_CASE("a model and its copies share the cached step of equal settings") {
  const auto model = model_of(decoder(small()));
  const auto copy = model;
  const EagerSettings settings{.batch = 4, .precision = Precision::bf16};

  const auto first = model.run.step(settings);

  CHECK(model.run.step(settings) == first);
  CHECK(copy.run.step(settings) == first);
  CHECK(model.run.step({.batch = 5, .precision = Precision::bf16}) != first);
}

TEST_CASE("a step that left the cache is computed again with the same result") {
  const auto model = model_of(decoder(small()));
  const auto kernels = [&](int batch) {
    std::vector<std::pair<std::string, std::array<double, most_sizes>>> all;
    for (const auto& layer : model.run.step({.batch = batch})->layers)
      for (const auto& operation : layer.forward) all.emplace_back(operation.kernel, operation.size);
    return all;
  };
  const auto first = kernels(1);

  for (int batch = 2; batch < 40; ++batch) CHECK(kernels(batch) != first);

  CHECK(kernels(1) == first);
  Eager eager{{.batch = 1}};
  model.run(eager);
  eager.finish();
  CHECK(eager.operations().size() == model.run.step({.batch = 1})->layers.size());
}
