// SPDX-License-Identifier: Apache-2.0
#include "readers/kineto/read/read_trace.hpp"

#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <rapidjson/reader.h>

#include "readers/kineto/read/record_builder.hpp"
#include "readers/kineto/read/trace_text.hpp"
#include "sim/base/number.hpp"
#include "sim/base/printable.hpp"
#include "sim/files/text_file.hpp"

namespace gradway {
namespace {

constexpr const char* expected_format =
    "expected the output of torch.profiler's export_chrome_trace(), plain or compressed by gzip";

constexpr const char* damaged_hint = "copy it again, or record it again";
// The deepest lists of a trace are the shapes of lists of tensors, with depth 7.
constexpr int max_depth = 64;

/// The encoding of strings, of which what stands for itself is copied as a whole.
struct Utf8InPlace : rapidjson::UTF8<> {
  using rapidjson::UTF8<>::Validate;
  static bool Validate(TraceText& text, TraceText& same) {  // NOLINT(readability-identifier-naming)
    return text.take_plain() || rapidjson::UTF8<>::Validate(text, same);
  }
};

/// The number without its fraction; zero beyond the range of the type.
std::int64_t whole_part(std::string_view text) {
  constexpr double most = 9e18;
  const auto* const end = text.data() + text.size();
  std::int64_t number = 0;
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error == std::errc{} && (rest == end || !has_exponent(text))) return number;
  if (std::uint64_t large = 0; std::from_chars(text.data(), end, large).ptr == end)
    return static_cast<std::int64_t>(large);
  double value = 0;
  read_number(text.data(), end, value);
  return value > -most && value < most ? static_cast<std::int64_t>(value) : 0;
}

/// @pre the file is read up to what is wrong; if that is no UTF-8, past it
[[noreturn]] void refuse_damaged(TraceText& text, rapidjson::ParseErrorCode error) {
  const auto next = static_cast<unsigned char>(text.Peek());
  if (error != rapidjson::kParseErrorStringInvalidEncoding || next < ' ') text.Take();
  const auto where = text.last_place();
  const bool is_truncated = text.at_end();
  text.read_to_end();  // Damage of a compressed file shows at its end.
  const auto& file = text.file();
  file.check();
  if (text.size() == 0) refuse_at(file.whole(), "the file is empty", expected_format);
  if (is_truncated) refuse_at(where, "the JSON is truncated", damaged_hint);
  if (error == rapidjson::kParseErrorNumberTooBig) refuse_at(where, "the number is too large", damaged_hint);
  refuse_at(where, "this is not JSON", expected_format);
}

/// Follows the nesting and passes the records of the two lists that matter to their builders.
class Handler final : public rapidjson::BaseReaderHandler<Utf8InPlace, Handler> {
 public:
  Handler(TraceText& text, TraceSink& sink) : text_{text}, sink_{sink} {}

  bool has_events() const { return has_events_; }

  // NOLINTBEGIN(readability-identifier-naming): names of RapidJSON
  bool Null() { return value({}); }
  bool Bool(bool is_true) { return value({.number = is_true ? 1 : 0}); }
  bool RawNumber(const char*, rapidjson::SizeType length, bool) {
    const auto text = text_.number(length);
    const bool is_whole = text.find('.') == std::string_view::npos && !has_exponent(text);
    return value({.text = is_whole ? "" : text, .number = whole_part(text), .is_number = true});
  }
  bool String(const char* characters, rapidjson::SizeType length, bool) {
    const std::string_view text{characters, length};
    check_characters(text);
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(characters, characters + length, number);
    const bool is_number = error == std::errc{} && end == characters + length;
    return value({.text = text, .number = is_number ? number : 0, .is_string = true});
  }

  bool StartObject() {
    enter_level();
    if (at_record() && section_ == Section::events) event_.begin();
    if (at_record() && section_ == Section::devices) device_.begin();
    if (depth_ == 2) in_job_ = top_key_ == "distributedInfo";
    return true;
  }
  bool EndObject(rapidjson::SizeType) {
    if (at_record() && section_ == Section::events) sink_.event(event_.event());
    if (at_record() && section_ == Section::devices) sink_.device(device_.device());
    if (depth_ == 2 && std::exchange(in_job_, false) && rank_ && ranks_) sink_.job(*rank_, *ranks_);
    --depth_;
    text_.begin_value();
    return true;
  }
  bool StartArray() {
    enter_level();
    if (depth_ == 1)
      refuse_at(text_.file().whole(),
                "this is a list of events without GPU kernels, as torch.autograd.profiler writes it",
                "record with torch.profiler of a PyTorch that was built with Kineto, as its wheels are");
    if (depth_ == 2) begin_section();
    if (section_ == Section::events) event_.begin_list(record_depth());
    return true;
  }
  bool EndArray(rapidjson::SizeType) {
    if (section_ == Section::events) event_.end_list(record_depth());
    if (depth_ == 2) section_ = Section::other;
    --depth_;
    text_.begin_value();
    return true;
  }
  bool Key(const char* characters, rapidjson::SizeType length, bool) {
    const std::string_view name{characters, length};
    check_characters(name);
    text_.begin_value();
    if (depth_ == 1) top_key_ = name;
    if (depth_ == 2) job_key_ = in_job_ ? name : std::string_view{};
    if (section_ == Section::events) event_.key(record_depth(), name);
    if (section_ == Section::devices) device_.key(record_depth(), name);
    return true;
  }
  // NOLINTEND(readability-identifier-naming)

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
        refuse_at(text_.last_place(), fmt::format("duplicate key '{}' in the file", key), damaged_hint);
      section_ = section;
    }
  }

  void enter_level() {
    text_.begin_value();
    if (++depth_ > max_depth)
      refuse_at(text_.last_place(), fmt::format("lists and maps are nested deeper than {} levels", max_depth),
                expected_format);
  }

  void check_characters(std::string_view text) {
    if (text_.is_plain()) return;
    if (const auto bad = first_control(text, "\t\n"); bad != std::string_view::npos)
      refuse_at(text_.last_place(),
                fmt::format("the text has the control character {}", code_point(text, bad)), damaged_hint);
  }

  bool value(const JsonValue& value) {
    text_.begin_value();
    if (depth_ == 2 && in_job_ && value.is_number) {
      if (job_key_ == "rank") rank_ = value.number;
      if (job_key_ == "world_size") ranks_ = value.number;
    }
    if (section_ == Section::events) event_.value(record_depth(), value);
    if (section_ == Section::devices) device_.value(record_depth(), value);
    return true;
  }

  TraceText& text_;
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
  EventBuilder event_{text_};
  DeviceBuilder device_;
};

}  // namespace

void parse_trace(CompressedFile& file, TraceSink& sink) {
  constexpr auto flags = rapidjson::kParseNumbersAsStringsFlag | rapidjson::kParseValidateEncodingFlag |
                         rapidjson::kParseInsituFlag;
  TraceText text{file};
  Handler handler{text, sink};
  for (const auto c : byte_order_mark)
    if (text.Peek() == c) text.Take();
  rapidjson::GenericReader<Utf8InPlace, Utf8InPlace> reader;
  if (!reader.Parse<flags>(text, handler)) {
    const bool is_cut = text.Peek() == '\0' && text.at_end() && handler.has_events();
    if (!is_cut || !sink.cut(text.last_place())) refuse_damaged(text, reader.GetParseErrorCode());
    return file.check(true);
  }
  file.check();
  if (!text.at_end()) {
    text.Take();
    refuse_at(text.last_place(), "a NUL byte follows the end of the JSON", damaged_hint);
  }
  if (!handler.has_events())
    refuse_at(file.whole(), "this JSON is not a trace: it has no list 'traceEvents'", expected_format);
}

}  // namespace gradway
