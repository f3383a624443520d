// SPDX-License-Identifier: Apache-2.0
// What a change of a program costs: `gradway compare OLD NEW`.
#include <catch2/catch.hpp>

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "tests/cli/program.hpp"

using namespace gradway::testing;
using Catch::Matchers::Contains;
using Json = nlohmann::json;

namespace {

const std::string captures = "tests/validation/data/captures/models/";
const std::string llama = captures + "llama3_2_1b_8_2048_bf16_fused.yaml";
const std::string checkpointed = captures + "llama3_2_1b_8_2048_bf16_fused_ckpt.yaml";

Outcome compare(const std::string& before, const std::string& after, std::vector<std::string> more = {}) {
  more.insert(more.begin(), {"compare", before, after});
  return run_gradway(more);
}

Json change_of(const std::string& before, const std::string& after, std::vector<std::string> more = {}) {
  more.insert(more.end(), {"--platforms", "h200-1x", "--json"});
  const auto outcome = compare(before, after, more);
  REQUIRE(outcome.status == 0);
  return Json::parse(outcome.output).at("changes").at(0);
}

double sum(const Json& rows, const char* key, const char* figure) {
  double total = 0;
  for (const auto& row : rows) total += row.at(key).at(figure).get<double>();
  return total;
}

}  // namespace

TEST_CASE("a program that does not change costs the same, without doubt", "[cli][compare]") {
  const auto change = change_of(llama, llama);
  CHECK(change.at("time_ratio") == 1);
  CHECK(change.at("interval") == Json({1.0, 1.0}));
  CHECK(change.at("sign") == "equal");
  CHECK(change.at("modules").empty());
  CHECK(change.at("kernels").empty());
}

TEST_CASE("the cost of a change is as measured, and its sign is certain", "[cli][compare]") {
  // Own measurements on one H200 (tests/validation/data/captures/cases.yaml): 319.83 ms, with checkpointing
  // 388.97 ms.
  const double measured = 388.9677 / 319.8314;
  const auto change = change_of(llama, checkpointed);
  CHECK(change.at("sign") == "slower");
  CHECK(change.at("time_ratio").get<double>() == Approx(measured).epsilon(0.01));
  CHECK(change.at("interval").at(0).get<double>() < measured);
  CHECK(change.at("interval").at(1).get<double>() > measured);
  // All errors of the program are shared but those of what is recomputed: 24 % of 21 %.
  CHECK(change.at("interval").at(1).get<double>() - change.at("time_ratio").get<double>() < 0.06);
  CHECK(change.at("after").at("memory_needed_bytes") < change.at("before").at("memory_needed_bytes"));
  CHECK(change.at("no_longer_fits") == false);
  const auto back = change_of(checkpointed, llama);
  CHECK(back.at("sign") == "faster");
  CHECK(back.at("time_ratio").get<double>() ==
        Approx(1 / change.at("time_ratio").get<double>()).epsilon(1e-12));
}

TEST_CASE("a change that is smaller than its error is tied", "[cli][compare]") {
  // Another attention and pure bf16 instead of autocast: 127.49 and 137.88 ms measured.
  const double measured = 137.8812 / 127.4916;
  const auto change = change_of(captures + "gpt2_medium_8_1024_amp.yaml",
                                captures + "gpt2_medium_8_1024_bf16_fused_eager.yaml");
  CHECK(change.at("interval").at(0).get<double>() < measured);
  CHECK(change.at("interval").at(1).get<double>() > measured);
  CHECK(change.at("sign") == "tied");
}

TEST_CASE("the changes of modules are the change of all kernels", "[cli][compare]") {
  const auto change = change_of(llama, checkpointed);
  const auto& modules = change.at("modules");
  const auto difference = sum(modules, "after", "kernels_s") - sum(modules, "before", "kernels_s");
  const auto of_step =
      change.at("after").at("compute_s").get<double>() - change.at("before").at("compute_s").get<double>();
  CHECK(difference == Approx(of_step).epsilon(0.02));  // A step also has pauses between its kernels.
  for (const auto& module : modules)
    CHECK(module.at("before").at("parameters") == module.at("after").at("parameters"));
}

TEST_CASE("two scenarios are compared with the platform that they name", "[cli][compare]") {
  const auto outcome = compare("article/p4d", "article/g6e", {"--json"});
  REQUIRE(outcome.status == 0);
  const auto change = Json::parse(outcome.output).at("changes").at(0);
  CHECK(change.at("sign") == "slower");
  CHECK(change.at("before").at("name") == "p4d");
  CHECK(change.at("after").at("name") == "g6e");
  CHECK_THAT(compare("article/p4d", "article/g6e").output,
             Contains("8 GPUs of aws-p4d.24xlarge (a100-sxm-40gb, 42.95 GB), then 8 GPUs of\n"
                      "aws-g6e.48xlarge (l40s, 48 GB)\n"));
  const auto here = compare("article/p4d", "article/g6e", {"--platforms", "dgx-a100", "--json"});
  CHECK(Json::parse(here.output).at("changes").at(0).at("platform") == "dgx-a100");
}

TEST_CASE("a limit sets the exit status if the step is longer with certainty", "[cli][compare]") {
  const auto at_limit = [](const std::string& before, const std::string& after, const std::string& limit) {
    return compare(before, after, {"--platforms", "h200-1x", "--limit", limit});
  };
  const auto passed = at_limit(llama, checkpointed, "2%");
  CHECK(passed.status == 4);
  CHECK_THAT(passed.errors, Contains("error: the step on h200-1x becomes 21.2") &&
                                Contains(" % longer, more than the limit of 2 %\n"));
  CHECK(at_limit(llama, checkpointed, "30%").status == 0);
  CHECK(at_limit(checkpointed, llama, "2%").status == 0);
  CHECK(at_limit(captures + "gpt2_medium_8_1024_amp.yaml",
                 captures + "gpt2_medium_8_1024_bf16_fused_eager.yaml", "2%")
            .status == 0);
}

TEST_CASE("a job that no longer fits passes any limit", "[cli][compare]") {
  const auto large = compare(checkpointed, llama, {"--platforms", "aws-g6e.xlarge", "--limit", "100%"});
  CHECK(large.status == 4);
  CHECK(large.errors == "error: the job no longer fits into the GPUs of aws-g6e.xlarge\n");
  CHECK_THAT(large.output, Contains("the job no longer fits"));
}

TEST_CASE("the text for a review is Markdown", "[cli][compare]") {
  const auto outcome = compare(llama, checkpointed, {"--platforms", "h200-1x", "--markdown"});
  CHECK(outcome.status == 0);
  CHECK_THAT(outcome.output,
             Catch::StartsWith("**Predicted step time: +21.2") && Contains("\n| step time | ") &&
                 Contains("\n| `model.layers.*.self_attn` | ") && Contains("\nMemory: activations -"));
}

TEST_CASE("comparisons of two files refuse what has no meaning for them", "[cli][compare][errors]") {
  CHECK_THAT(compare(llama, checkpointed).errors,
             Contains("is a model, and nothing names the platform on which it runs\n"
                      "  hint: add it, such as '--platforms aws-p5.48xlarge --gpus 8'"));
  CHECK(compare(llama, checkpointed, {"--platforms", "h200-1x", "--csv"}).status == 2);
  CHECK(compare(llama, checkpointed, {"--platforms", "h200-1x", "--json", "--markdown"}).status == 2);
  CHECK(run_gradway({"compare", "article/p4d", "--platforms", "dgx-a100", "--limit", "2%"}).status == 2);
  CHECK_THAT(compare("no-such-program.yaml", llama, {"--platforms", "h200-1x"}).errors,
             Contains("no-such-program.yaml: error: there is no such file"));
}
