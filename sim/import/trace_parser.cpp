// SPDX-License-Identifier: Apache-2.0
#include "sim/import/trace_parser.hpp"

#include <charconv>
#include <cmath>
#include <istream>

#include <nlohmann/json.hpp>

#include "sim/import/record_builder.hpp"

namespace gradway {
namespace {

using Json = nlohmann::json;

constexpr const char* what_is_read =
    "gradway reads what torch.profiler's export_chrome_trace() writes, also packed by gzip";

[[noreturn]] void refuse(const Where& where, std::string what, std::string hint) {
  throw ConfigError{Problem{where, std::move(what), {}, std::move(hint)}};
}

/// Follows the braces and hands the records of the two lists that matter to their builders.
class Handler final : public nlohmann::json_sax<Json> {
 public:
  Handler(CompressedFile& file, TraceSink& sink) : file_{file}, sink_{sink} {}

  bool has_events() const { return has_events_; }

  bool null() override { return value({}); }
  bool boolean(bool is_true) override { return value({.number = is_true ? 1 : 0}); }
  bool number_integer(std::int64_t number) override { return value({.number = number}); }
  bool number_unsigned(std::uint64_t number) override {
    return value({.number = static_cast<std::int64_t>(number)});
  }
  bool number_float(double number, const std::string& text) override {
    const bool fits = std::abs(number) < 9e18;  // false for NaN
    return value({.text = text, .number = fits ? static_cast<std::int64_t>(number) : 0});
  }
  bool string(std::string& text) override {
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    const bool is_number = error == std::errc{} && end == text.data() + text.size();
    return value({.text = text, .number = is_number ? number : 0, .is_string = true});
  }
  bool binary(Json::binary_t&) override { return true; }

  bool start_object(std::size_t) override {
    ++depth_;
    if (at_record() && section_ == Section::events) event_.begin();
    if (at_record() && section_ == Section::devices) device_.begin();
    return true;
  }
  bool end_object() override {
    if (at_record() && section_ == Section::events) sink_.event(event_.event());
    if (at_record() && section_ == Section::devices) sink_.device(device_.device());
    --depth_;
    return true;
  }
  bool start_array(std::size_t) override {
    ++depth_;
    if (depth_ == 2) begin_section();
    if (section_ == Section::events) event_.begin_list(record_depth());
    return true;
  }
  bool end_array() override {
    if (section_ == Section::events) event_.end_list(record_depth());
    if (depth_ == 2) section_ = Section::other;
    --depth_;
    return true;
  }
  bool key(std::string& name) override {
    if (depth_ == 1) top_key_ = name;
    if (section_ == Section::events) event_.key(record_depth(), name);
    if (section_ == Section::devices) device_.key(record_depth(), name);
    return true;
  }

  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override {
    const auto where = file_.last_place();
    const bool is_cut = file_.at_end();
    file_.read_to_end();  // what is damaged in a packed file shows at its end
    file_.check();
    if (file_.size() == 0) refuse(file_.whole(), "the file is empty", what_is_read);
    if (is_cut) refuse(where, "the JSON ends in the middle", "copy it again, or record it again");
    refuse(where, "this is not JSON", what_is_read);
  }

 private:
  /// The lists of the top level.
  enum class Section { other, events, devices };

  int record_depth() const { return depth_ - 3; }  // a record stands in { [ {
  bool at_record() const { return record_depth() == 0; }

  void begin_section() {
    if (top_key_ == "deviceProperties") section_ = Section::devices;
    if (top_key_ != "traceEvents") return;
    section_ = Section::events;
    has_events_ = true;
  }

  bool value(const JsonValue& value) {
    if (section_ == Section::events) event_.value(record_depth(), value);
    if (section_ == Section::devices) device_.value(record_depth(), value);
    return true;
  }

  CompressedFile& file_;
  TraceSink& sink_;
  int depth_ = 0;
  Section section_ = Section::other;
  bool has_events_ = false;
  std::string top_key_;
  EventBuilder event_;
  DeviceBuilder device_;
};

}  // namespace

void parse_trace(CompressedFile& file, TraceSink& sink) {
  Handler handler{file, sink};
  std::istream stream{&file};
  Json::sax_parse(stream, &handler);
  file.check();
  if (!handler.has_events())
    refuse(file.whole(), "this is JSON, but no trace: it has no list 'traceEvents'", what_is_read);
}

}  // namespace gradway
