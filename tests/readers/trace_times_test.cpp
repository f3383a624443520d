// SPDX-License-Identifier: Apache-2.0
// An invalid time or a duplicate kernel would silently change the step, so it is refused.
#include <algorithm>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "sim/base/printable.hpp"
#include "tests/readers/trace_builder.hpp"

using namespace gradway;
using namespace gradway::testing;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

namespace {

const std::string again = "\n  hint: copy the trace again, or record it again\n";

std::string small_trace() {
  return trace_of(small_step()).json();
}

/// The trace with the last occurrence of `from` replaced.
std::string with(const std::string& from, const std::string& to) {
  auto text = small_trace();
  const auto at = text.rfind(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

/// An event of this category on stream 9 with the given times.
std::string with_event(const std::string& category, const std::string& times) {
  auto trace = trace_of(small_step());
  trace.raw(R"({"ph":"X","cat":")" + category + R"(","name":"it","pid":0,"tid":9,)" + times +
            R"("args":{"device":0,"stream":9,"correlation":77}})");
  return trace.json();
}

constexpr const char* good_start = R"("ts":4377009850000.5,)";

}  // namespace

TEST_CASE("an invalid time of a trace is refused with its place", "[import][errors]") {
  using Row = std::pair<std::string, std::string>;
  const auto [value, what] =
      GENERATE(values<Row>({{"-1", " is not a valid time: '-1'"},
                            {"-6800.0", " is not a valid time: '-6800.0'"},
                            {"1e30", " is not a valid time: '1e30'"},
                            {"9223372036854775807", " is not a valid time: '9223372036854775807'"},
                            {"86400000001", " is not a valid time: '86400000001'"},
                            {"\"abc\"", " is not a valid time: 'abc'"},
                            {"\"12\"", " is not a valid time: '12'"},
                            {"null", " is not a number"},
                            {"true", " is not a number"}}));
  const auto category = GENERATE(as<std::string>{}, "kernel", "gpu_memcpy", "gpu_memset", "cuda_runtime",
                                 "cuda_driver", "cpu_op", "user_annotation", "overhead");
  CAPTURE(category, value);
  const auto message = refusal(with_event(category, good_start + ("\"dur\":" + value + ",")));
  CHECK_THAT(message, Contains("error: the 'dur' of the ") && Contains(" 'it'" + what + again));
  CHECK_THAT(message, StartsWith("trace.json:69:"));
}

TEST_CASE("an event without a time, or that is not complete, is refused with its place", "[import][errors]") {
  CHECK(refusal(with_event("kernel", good_start)) ==
        "trace.json:69:1: error: the kernel 'it' has no 'dur'" + again);
  CHECK(refusal(with_event("gpu_memcpy", R"("dur":1,)")) ==
        "trace.json:69:1: error: the copy 'it' has no 'ts'" + again);
  CHECK_THAT(refusal(with_event("kernel", R"("ts":[],"dur":1,)")), Contains("the kernel 'it' has no 'ts'"));
  CHECK_THAT(refusal(with_event("kernel", R"("ts":-5,"dur":1,)")),
             Contains("the 'ts' of the kernel 'it' is not a valid time: '-5'"));
  CHECK_THAT(refusal(with_event("kernel", R"("ts":1,"dur":1,)")),
             Contains("the kernel 'it' begins more than a day from the first event"));
  CHECK_THAT(refusal(with(R"("ph":"X","cat":"kernel")", R"("ph":7,"cat":"kernel")")),
             Contains("is not complete: its 'ph' is not 'X'"));
  CHECK(refusal(with_event("something_else", R"("dur":-1,)")).empty());  // ignored
}

TEST_CASE("kernels without duration are refused", "[import][errors]") {
  auto step = small_step();
  for (auto& made : step) made.gpu = 0;
  CHECK_THAT(refusal(trace_of(step).json()),
             Contains("error: all kernels of the trace have a duration of zero\n"));
}

namespace {

/// Two kernels of one stream after the small steps.
struct Pair {
  double overlap = 0;  ///< microseconds
  double second_takes = 50;
  std::string call = "cudaLaunchKernel";
  Kernel second{.name = "second", .stream = 9};

  TraceBuilder trace() const {
    auto trace = trace_of(small_step());
    const auto id = trace.op({}, 900, 10);
    trace.launch({.name = "first", .stream = 9}, 901, 2, 1000, 50, id);
    trace.launch(second, 904, 2, 1050 - overlap, second_takes, id, main_thread, call);
    return trace;
  }
  std::string refused() const { return refusal(trace().json()); }
};

}  // namespace

TEST_CASE("overlapping kernels of a stream are refused beyond rounding errors", "[import][errors]") {
  CHECK(Pair{.overlap = 0}.refused().empty());
  CHECK(Pair{.overlap = 1}.refused().empty());  // whole microseconds
  CHECK(Pair{.overlap = 30}.refused() ==
        "trace.json:73:1: error: on stream 9, 'second' from 20.000 to 70.000 us overlaps with 'first' from "
        "0.000 to "
        "50.000 us\n"
        "  note: trace.json:71:1: the other kernel is here\n"
        "  hint: only a kernel that is launched programmatically (cudaLaunchKernelEx) can begin before its "
        "predecessor on the stream ends: check whether the trace is damaged or two traces were merged\n");
}

TEST_CASE("a kernel that was launched programmatically may begin before its predecessor ends", "[import]") {
  const auto call =
      GENERATE(as<std::string>{}, "cudaLaunchKernelExC", "cuLaunchKernelEx", "cudaLaunchKernelExC_ptsz");
  CAPTURE(call);
  CHECK(Pair{.overlap = 0.353, .call = call}.refused().empty());  // cuBLAS's split-k reductions
  CHECK(Pair{.overlap = 3.4, .call = call}.refused().empty());    // cuDNN's set-up of workspaces
  CHECK(Pair{.overlap = 49.9, .call = call}.refused().empty());
  CHECK(Pair{.overlap = 30, .second_takes = 10, .call = call}.refused().empty());  // wholly inside
  // Not before it begins, and copies never.
  CHECK_THAT((Pair{.overlap = 50, .call = call}.refused()), Contains("overlaps with"));
  CHECK_THAT(
      (Pair{.overlap = 30, .call = call, .second = {.name = "c", .category = "gpu_memcpy", .stream = 9}}
           .refused()),
      Contains("overlaps with"));
  // The next ordinary kernel waits for both.
  auto trace = Pair{.overlap = 3.4, .call = call}.trace();
  trace.launch({.name = "third", .stream = 9}, 907, 2, 1090, 50, 0);
  CHECK_THAT(refusal(trace.json()), Contains("'third' from 90.000 to 140.000 us overlaps with 'second'"));
}

TEST_CASE("a kernel whose launch precedes the trace may overlap, and is left out", "[import]") {
  auto trace = Pair{.overlap = 0}.trace();
  const auto whole = import_text(trace.json()).profile.launches.size();
  trace.raw(
      R"({"ph":"X","cat":"kernel","name":"early","pid":0,"tid":9,"ts":4377009849847.125,"dur":40.000,"args":{"device":0,"stream":9,"correlation":999999}})");
  const auto imported = import_text(trace.json());
  CHECK(imported.profile.launches.size() == whole);
  CHECK_THAT(imported.warnings, Catch::Matchers::VectorContains(std::string{
                                    "ignored GPU activities whose launches are not in the trace: 1"}));
}

TEST_CASE("the nodes of a graph may run concurrently on their stream", "[import]") {
  auto trace = trace_of(small_step());
  const auto id = trace.op({}, 900, 10);
  trace.launch({.name = "first", .stream = 9}, 901, 2, 1000, 50, id, main_thread, "cudaGraphLaunch");
  trace.kernel_of_last_call({.name = "branch", .stream = 9}, 1010, 60, id);
  CHECK(refusal(trace.json()).empty());
  trace.kernel_of_last_call({.name = "branch", .stream = 9}, 1010, 60, id);  // written twice
  CHECK_THAT(refusal(trace.json()), Contains("overlaps with"));
}

TEST_CASE("overlapping time counts once in the busy time of a stream", "[import]") {
  // relu after a product of 280 us; the other launches take 97 us
  const auto busy = [](double relu, double early) {
    auto step = small_step();
    step[2].gpu = relu;
    step[2].early = early;
    step[2].call_name = "cudaLaunchKernelExC";
    return gpu_time(import_loop(step).profile).value() * 1e6;
  };
  CHECK(busy(10, 0) == Approx(97 + 280 + 10));
  CHECK(busy(10, 3.4) == Approx(97 + 280 + 10 - 3.4));
  CHECK(busy(2, 3.4) == Approx(97 + 280).margin(2e-3));  // wholly inside
}

TEST_CASE("a trace with duplicate events is refused with one message", "[import][errors]") {
  auto text = small_trace();
  const auto start = text.find("[\n", text.find("traceEvents")) + 2;
  const auto events = text.substr(start, text.rfind("\n]") - start);
  const auto message = refusal(text.insert(start, events + ",\n"));
  CHECK_THAT(message, Contains("overlaps with"));
  CHECK(message.size() < 5000);
}

TEST_CASE("duplicate keys and text after the end are refused", "[import][errors]") {
  CHECK_THAT(refusal(with(R"("cat":"kernel",)", R"("cat":"kernel","dur":1,)")),
             Contains("error: duplicate key 'dur' in this event\n"));
  CHECK_THAT(refusal(with(R"("stream":7,)", R"("stream":7,"stream":8,)")),
             Contains("error: duplicate key 'stream' in this event\n"));
  CHECK_THAT(refusal(with("\n]}", "\n],\"traceEvents\":[]}")),
             Contains("error: duplicate key 'traceEvents' in the file\n"));
  CHECK_THAT(refusal(small_trace() + std::string(1, '\0')),
             Contains("error: a NUL byte follows the end of the JSON\n"));
  CHECK_THAT(refusal(small_trace() + std::string(1, '\0') + "{}"),
             Contains("error: a NUL byte follows the end of the JSON\n"));
  CHECK_THAT(refusal(small_trace() + "{}"), Contains("error: this is not JSON\n"));
  CHECK(refusal(small_trace() + " \n\t\n").empty());
}

TEST_CASE("control characters of a trace are refused, also as escapes", "[import][errors]") {
  CHECK_THAT(refusal(with("sm90_xmma", R"(\u001b[31m)")),
             Contains("error: the text has the control character U+001B\n"));
  CHECK_THAT(refusal(with("sm90_xmma", "\xe2\x80\xae")),
             Contains("error: the text has the control character U+202E\n"));
}

TEST_CASE("text at the seam of two parts of a file is read whole, and errors have their place",
          "[import][errors]") {
  constexpr std::size_t part = 1 << 16;
  const std::string event =
      R"({"ph":"X","cat":"kernel","name":"é\u00e9 \"\\\"","pid":0,"tid":9,"ts":4377009850000.125,"dur":"abc"})";
  auto trace = trace_of(small_step());
  trace.raw(event);
  const auto text = trace.json();
  const auto begin = text.find(event);
  const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(begin), '\n');
  for (auto seam = begin; seam < begin + event.size(); ++seam) {
    const auto padding = part - seam;
    REQUIRE(refusal(std::string(padding, '\n') + text) ==
            fmt::format(
                "trace.json:{}:{}: error: the 'dur' of the kernel 'éé \"\\\"' is not a valid time: 'abc'{}",
                line + static_cast<std::ptrdiff_t>(padding), characters(event) - 1, again));
  }
}

TEST_CASE("deep nesting and endless values are refused early", "[import][errors]") {
  const std::string deep(100, '[');
  CHECK(
      refusal("{\"traceEvents\": " + deep) ==
      "trace.json:1:80: error: lists and maps are nested deeper than 64 levels\n"
      "  hint: expected the output of torch.profiler's export_chrome_trace(), plain or compressed by gzip\n");
  for (const auto* start : {"{\"traceEvents\": [", "{\"traceEvents\": [{\"name\": \""}) {
    const char filler = std::string{start}.ends_with('[') ? ' ' : '1';
    CHECK_THAT(refusal(start + std::string(20'000'000, filler)),
               Contains("error: a single value is longer than 16 MB\n"));
  }
  CHECK_THAT(refusal("{\"traceEvents\": [{\"ts\": " + std::string(20'000'000, '1')),
             Contains("trace.json:1:334: error: the number is too large\n"));
}
