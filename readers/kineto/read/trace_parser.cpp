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

/// A file as a stream of RapidJSON, to which a NUL character is the end.
class JsonStream {
 public:
  using Ch = char;

  explicit JsonStream(CompressedFile& file) : file_{file} {}

  Ch Peek() const { return character(file_.sgetc()); }
  Ch Take() { return character(file_.sbumpc()); }
  std::size_t Tell() const { return 0; }
  // Only streams that are parsed in place are written to.
  Ch* PutBegin() { return nullptr; }
  void Put(Ch) {}
  std::size_t PutEnd(Ch*) { return 0; }

 private:
  static Ch character(int c) {
    using Traits = CompressedFile::traits_type;
    return c == Traits::eof() ? '\0' : Traits::to_char_type(c);
  }

  CompressedFile& file_;
};

/// The number without its fraction; zero beyond the range of the type.
std::int64_t whole_part(std::string_view text) {
  constexpr double most = 9e18;
  const auto* const end = text.data() + text.size();
  std::int64_t number = 0;
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error == std::errc{} && (rest == end || text.find_first_of("eE") == std::string_view::npos))
    return number;
  if (std::uint64_t large = 0; std::from_chars(text.data(), end, large).ptr == end)
    return static_cast<std::int64_t>(large);
  double value = 0;
  read_number(text.data(), end, value);
  return value > -most && value < most ? static_cast<std::int64_t>(value) : 0;
}

/// @pre the file is read up to what is wrong; if that is no UTF-8, past it
[[noreturn]] void refuse_damaged(CompressedFile& file, rapidjson::ParseErrorCode error) {
  if (error != rapidjson::kParseErrorStringInvalidEncoding || file.sgetc() < ' ') file.sbumpc();
  const auto where = file.last_place();
  const bool is_truncated = file.at_end();
  file.read_to_end();  // Damage of a compressed file shows at its end.
  file.check();
  if (file.size() == 0) refuse_at(file.whole(), "the file is empty", expected_format);
  if (is_truncated) refuse_at(where, "the JSON is truncated", damaged_hint);
  if (error == rapidjson::kParseErrorNumberTooBig) refuse_at(where, "the number is too large", damaged_hint);
  refuse_at(where, "this is not JSON", expected_format);
}

/// Follows the nesting and passes the records of the two lists that matter to their builders.
class Handler final : public rapidjson::BaseReaderHandler<rapidjson::UTF8<>, Handler> {
 public:
  Handler(CompressedFile& file, TraceSink& sink) : file_{file}, sink_{sink} {}

  bool has_events() const { return has_events_; }

  // NOLINTBEGIN(readability-identifier-naming): names of RapidJSON
  bool Null() { return value({}); }
  bool Bool(bool is_true) { return value({.number = is_true ? 1 : 0}); }
  bool RawNumber(const char* characters, rapidjson::SizeType length, bool) {
    const std::string_view text{characters, length};
    const bool is_whole = text.find_first_of(".eE") == std::string_view::npos;
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
    file_.begin_value();
    return true;
  }
  bool StartArray() {
    enter_level();
    if (depth_ == 1)
      refuse_at(file_.whole(),
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
    file_.begin_value();
    return true;
  }
  bool Key(const char* characters, rapidjson::SizeType length, bool) {
    const std::string_view name{characters, length};
    check_characters(name);
    file_.begin_value();
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
  constexpr auto flags = rapidjson::kParseNumbersAsStringsFlag | rapidjson::kParseValidateEncodingFlag;
  Handler handler{file, sink};
  JsonStream stream{file};
  file.begin_value();
  for (const auto c : byte_order_mark)
    if (stream.Peek() == c) stream.Take();
  rapidjson::Reader reader;
  if (!reader.Parse<flags>(stream, handler)) {
    const bool is_cut = file.sgetc() == CompressedFile::traits_type::eof() && handler.has_events();
    if (!is_cut || !sink.cut(file.last_place())) refuse_damaged(file, reader.GetParseErrorCode());
    return file.check(true);
  }
  file.check();
  if (!file.at_end()) {
    stream.Take();
    refuse_at(file.last_place(), "a NUL byte follows the end of the JSON", damaged_hint);
  }
  if (!handler.has_events())
    refuse_at(file.whole(), "this JSON is not a trace: it has no list 'traceEvents'", expected_format);
}

}  // namespace gradway
