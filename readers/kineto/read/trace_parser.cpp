// SPDX-License-Identifier: Apache-2.0
#include "readers/kineto/read/read_trace.hpp"

#include <charconv>
#include <cmath>
#include <istream>
#include <optional>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "readers/kineto/read/record_builder.hpp"
#include "sim/base/printable.hpp"
#include "sim/files/text_file.hpp"

namespace gradway {
namespace {

using Json = nlohmann::json;

constexpr const char* expected_format =
    "expected the output of torch.profiler's export_chrome_trace(), plain or compressed by gzip";

constexpr const char* damaged_hint = "copy it again, or record it again";
// The deepest lists of a trace are the shapes of lists of tensors, with depth 7.
constexpr int max_depth = 64;

/// Follows the nesting and passes the records of the two lists that matter to their builders.
class Handler final : public nlohmann::json_sax<Json> {
 public:
  Handler(CompressedFile& file, TraceSink& sink) : file_{file}, sink_{sink} {}

  bool has_events() const { return has_events_; }

  bool null() override { return value({}); }
  bool boolean(bool is_true) override { return value({.number = is_true ? 1 : 0}); }
  bool number_integer(std::int64_t number) override { return value({.number = number, .is_number = true}); }
  bool number_unsigned(std::uint64_t number) override {
    return value({.number = static_cast<std::int64_t>(number), .is_number = true});
  }
  bool number_float(double number, const std::string& text) override {
    const bool fits = std::abs(number) < 9e18;  // false for NaN
    return value({.text = text, .number = fits ? static_cast<std::int64_t>(number) : 0, .is_number = true});
  }
  bool string(std::string& text) override {
    check_characters(text);
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    const bool is_number = error == std::errc{} && end == text.data() + text.size();
    return value({.text = text, .number = is_number ? number : 0, .is_string = true});
  }
  bool binary(Json::binary_t&) override { return true; }

  bool start_object(std::size_t) override {
    enter_level();
    if (at_record() && section_ == Section::events) event_.begin();
    if (at_record() && section_ == Section::devices) device_.begin();
    if (depth_ == 2) in_job_ = top_key_ == "distributedInfo";
    return true;
  }
  bool end_object() override {
    if (at_record() && section_ == Section::events) sink_.event(event_.event());
    if (at_record() && section_ == Section::devices) sink_.device(device_.device());
    if (depth_ == 2 && std::exchange(in_job_, false) && rank_ && ranks_) sink_.job(*rank_, *ranks_);
    --depth_;
    file_.begin_value();
    return true;
  }
  bool start_array(std::size_t) override {
    enter_level();
    if (depth_ == 1)
      refuse_at(file_.whole(),
                "this is a list of events without GPU kernels, as torch.autograd.profiler writes it",
                "record with torch.profiler of a PyTorch that was built with Kineto, as its wheels are");
    if (depth_ == 2) begin_section();
    if (section_ == Section::events) event_.begin_list(record_depth());
    return true;
  }
  bool end_array() override {
    if (section_ == Section::events) event_.end_list(record_depth());
    if (depth_ == 2) section_ = Section::other;
    --depth_;
    file_.begin_value();
    return true;
  }
  bool key(std::string& name) override {
    check_characters(name);
    file_.begin_value();
    if (depth_ == 1) top_key_ = name;
    if (depth_ == 2) job_key_ = in_job_ ? name : std::string{};
    if (section_ == Section::events) event_.key(record_depth(), name);
    if (section_ == Section::devices) device_.key(record_depth(), name);
    return true;
  }

  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override {
    const auto where = file_.last_place();
    const bool is_model_parallel = file_.at_end();
    file_.read_to_end();  // Damage of a compressed file shows at its end.
    file_.check();
    if (file_.size() == 0) refuse_at(file_.whole(), "the file is empty", expected_format);
    if (is_model_parallel) refuse_at(where, "the JSON is truncated", damaged_hint);
    refuse_at(where, "this is not JSON", expected_format);
  }

 private:
  /// The lists at the top level.
  enum class Section { other, events, devices };

  int record_depth() const { return depth_ - 3; }  // A record is inside of { [ {.
  bool at_record() const { return record_depth() == 0; }

  void begin_section() {
    for (const auto& [key, section, seen] : {std::tuple{"deviceProperties", Section::devices, &has_devices_},
                                             std::tuple{"traceEvents", Section::events, &has_events_}}) {
      if (top_key_ != key) continue;
      if (std::exchange(*seen, true))
        refuse_at(file_.last_place(), fmt::format("duplicate key '{}' in the file", key), damaged_hint);
      section_ = section;
    }
  }

  void enter_level() {
    file_.begin_value();
    if (++depth_ > max_depth)
      refuse_at(file_.last_place(), fmt::format("lists and maps are nested deeper than {} levels", max_depth),
                expected_format);
  }

  void check_characters(std::string_view text) {
    if (const auto bad = first_control(text, "\t\n"); bad != std::string_view::npos)
      refuse_at(file_.last_place(),
                fmt::format("the text has the control character {}", code_point(text, bad)), damaged_hint);
  }

  bool value(const JsonValue& value) {
    file_.begin_value();
    if (depth_ == 2 && in_job_ && value.is_number) {
      if (job_key_ == "rank") rank_ = value.number;
      if (job_key_ == "world_size") ranks_ = value.number;
    }
    if (section_ == Section::events) event_.value(record_depth(), value);
    if (section_ == Section::devices) device_.value(record_depth(), value);
    return true;
  }

  CompressedFile& file_;
  TraceSink& sink_;
  int depth_ = 0;
  Section section_ = Section::other;
  bool has_events_ = false;
  bool has_devices_ = false;
  std::string top_key_;
  bool in_job_ = false;  ///< Inside of "distributedInfo".
  std::string job_key_;
  std::optional<std::int64_t> rank_;
  std::optional<std::int64_t> ranks_;
  EventBuilder event_{file_};
  DeviceBuilder device_;
};

}  // namespace

void parse_trace(CompressedFile& file, TraceSink& sink) {
  Handler handler{file, sink};
  std::istream stream{&file};
  file.begin_value();
  Json::sax_parse(stream, &handler);
  file.check();
  if (!file.at_end())  // To the JSON library, a NUL byte is the end.
    refuse_at(file.last_place(), "a NUL byte follows the end of the JSON", damaged_hint);
  if (!handler.has_events())
    refuse_at(file.whole(), "this JSON is not a trace: it has no list 'traceEvents'", expected_format);
}

}  // namespace gradway
