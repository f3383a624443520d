// SPDX-License-Identifier: Apache-2.0
#include "sim/config/find/document.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <sstream>
#include <utility>

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include "sim/base/printable.hpp"
#include "sim/config/yaml/literal_text.hpp"

namespace gradway::config {
namespace {

constexpr int most_values = 300'000;  // far above any valid file; bounds the memory for a wrong one

struct SyntaxText {
  std::string_view said;  ///< yaml-cpp's message
  std::string_view meaning;
  std::string_view hint;
};

constexpr std::array syntax_texts = {
    SyntaxText{"end of map not found", "this line does not fit the lines above it",
               "the keys of a map start in the same column and are followed by ': '"},
    SyntaxText{"end of sequence not found", "this line does not fit the list above it",
               "the items of a list start with '- ' in the same column"},
    SyntaxText{"end of map flow not found", "a '{' is not closed",
               "add the missing '}', and ',' between entries"},
    SyntaxText{"end of sequence flow not found", "a '[' is not closed",
               "add the missing ']', and ',' between items"},
    SyntaxText{"illegal map value", "unexpected ':'",
               "write one key per line, and put text with ': ' in quotes"},
    SyntaxText{"illegal map key", "unexpected key",
               "write one key per line, and put text with ': ' in quotes"},
    SyntaxText{"illegal block entry", "unexpected '- '", "start a list on its own line"},
    SyntaxText{"illegal flow end", "unmatched '}' or ']'", "remove it"},
    SyntaxText{"illegal EOF in scalar", "a quote is not closed", "add the missing quote"},
    SyntaxText{"illegal document indicator in scalar", "a quote is not closed", "add the missing quote"},
    SyntaxText{"bad file", "maps and lists are nested too deeply", "check that it is a file for gradway"},
    SyntaxText{"unknown token", "a value cannot start with this character", "put the text in quotes"},
    SyntaxText{"the referenced anchor is not defined", "aliases ('*name') are not allowed",
               "repeat the value; 'based_on' reuses a whole file"},
};

/// Builds nodes from the events of yaml-cpp's parser.
class Builder final : public YAML::EventHandler {
 public:
  Builder(const SourceText& source, const CutText& cut, Problems& problems)
      : source_{source}, cut_{cut}, problems_{problems} {}

  Node take() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    check_properties(mark, "", anchor);
    put(Node{.kind = Node::Kind::null, .where = at(mark, 1)});
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    problems_.add(at(mark, word_length(mark)), "aliases ('*name') are not allowed",
                  "repeat the value; 'based_on' reuses a whole file");
    put(Node{.kind = Node::Kind::broken, .where = at(mark, 1)});
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    check_properties(mark, tag, anchor);
    if (tag == "!" && !is_closed(mark)) {  // yaml-cpp accepts the end of the file instead of the quote
      throw YAML::ParserException{mark, "illegal EOF in scalar"};
    }
    if (!has_clean_text(mark, value)) return put(Node{.kind = Node::Kind::broken, .where = at(mark, 1)});
    const auto* literal = rest_of_line(mark).starts_with('|') ? cut_.find(mark.line) : nullptr;
    put(Node{.kind = Node::Kind::scalar,
             .text = literal != nullptr ? literal->text : value,
             .quoted = tag == "!",
             .where = at(mark, scalar_length(mark, value)),
             .block_indent = literal != nullptr ? literal->indent : -1});
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(Node::Kind::sequence, mark, tag, anchor);
  }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(Node::Kind::map, mark, tag, anchor);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapEnd() override { close(); }

 private:
  struct Frame {
    Node node;
    std::optional<Node> key;  // key of the entry whose value comes next
    std::map<std::string, Where> seen;
  };

  Where at(const YAML::Mark& mark, int bytes) const { return source_.place(mark.line, mark.column, bytes); }

  std::string_view rest_of_line(const YAML::Mark& mark) const {
    const std::string_view line = source_.line(mark.line);
    return line.substr(std::min(line.size(), static_cast<std::size_t>(std::max(0, mark.column))));
  }

  int word_length(const YAML::Mark& mark) const {
    const auto text = rest_of_line(mark);
    return static_cast<int>(std::min(text.size(), text.find_first_of(" ,]}#")));
  }

  int scalar_length(const YAML::Mark& mark, const std::string& value) const {
    const auto text = rest_of_line(mark);
    if (text.starts_with(value)) return static_cast<int>(value.size());
    if (text.starts_with('"') || text.starts_with('\'')) {
      const auto end = text.find(text.front(), 1);
      return static_cast<int>(end == std::string_view::npos ? text.size() : end + 1);
    }
    return static_cast<int>(text.size());
  }

  /// Whether the quoted text that starts here ends with its quote. Block scalars ('|', '>') have none.
  bool is_closed(const YAML::Mark& mark) const {
    const auto first = rest_of_line(mark);
    if (!first.starts_with('"') && !first.starts_with('\'')) return true;
    const char quote = first.front();
    for (int number = mark.line; number < source_.line_count(); ++number) {
      const std::string_view line = source_.line(number);
      for (auto column = number == mark.line ? static_cast<std::size_t>(mark.column) + 1 : 0;
           column < line.size(); ++column) {
        const bool is_escape = quote == '"' ? line[column] == '\\' : line.substr(column, 2) == "''";
        if (is_escape) {
          ++column;
        } else if (line[column] == quote) {
          return true;
        }
      }
    }
    return false;
  }

  void check_properties(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) {
    if (anchor != YAML::NullAnchor) {
      problems_.add(at(mark, word_length(mark)), "anchors ('&name') are not allowed",
                    "repeat the value; 'based_on' reuses a whole file");
    }
    if (!tag.empty() && tag != "?" && tag != "!") {
      problems_.add(at(mark, word_length(mark)), "tags ('!name') are not allowed", "remove the tag");
    }
  }

  /// Escapes in double quotes can contain characters that are not allowed in the file itself.
  bool has_clean_text(const YAML::Mark& mark, const std::string& value) {
    const auto bad = first_control(value, "\t\n");
    if (bad == std::string::npos) return true;
    problems_.add(at(mark, scalar_length(mark, value)),
                  fmt::format("the text contains the control character {}", code_point(value, bad)),
                  "remove its escape sequence");
    return false;
  }

  void open(Node::Kind kind, const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) {
    check_properties(mark, tag, anchor);
    stack_.push_back(Frame{.node = Node{.kind = kind, .where = at(mark, 1)}, .key = {}, .seen = {}});
  }

  void close() {
    auto node = std::move(stack_.back().node);
    stack_.pop_back();
    put(std::move(node));
  }

  void put(Node node) {
    if (++values_ > most_values)
      fail(node.where, fmt::format("the file has more than {} values", most_values),
           "check that it is a file for gradway");
    if (stack_.empty()) {
      root_ = std::move(node);
      return;
    }
    auto& frame = stack_.back();
    if (frame.node.kind == Node::Kind::sequence) {
      frame.node.items.push_back(std::move(node));
    } else if (!frame.key) {
      frame.key = std::move(node);
    } else {
      const auto key = *std::exchange(frame.key, std::nullopt);
      put_entry(frame, key, std::move(node));
    }
  }

  void put_entry(Frame& frame, const Node& key, Node value) {
    if (key.kind == Node::Kind::broken) return;
    if (key.kind != Node::Kind::scalar) {
      problems_.add(key.where, "expected a plain word as key, found " + describe(key));
      return;
    }
    const auto [first, is_new] = frame.seen.emplace(key.text, key.where);
    if (!is_new) {
      problems_.add(key.where, fmt::format("duplicate key '{}'", key.text), "remove one of them",
                    {{first->second, "the first one is here"}});
      return;
    }
    if (value.kind == Node::Kind::null) value.where = key.where;
    frame.node.entries.push_back(Entry{key.text, key.where, std::move(value)});
  }

  const SourceText& source_;
  const CutText& cut_;
  Problems& problems_;
  std::vector<Frame> stack_;
  Node root_;
  int values_ = 0;
};

void add_syntax_problem(Problems& problems, const SourceText& source, const YAML::ParserException& error) {
  const auto where =
      error.mark.is_null() ? source.whole() : source.place(error.mark.line, error.mark.column, 1);
  for (const auto& [said, meaning, hint] : syntax_texts) {
    if (error.msg == said)
      return problems.add(where, fmt::format("invalid YAML: {}", meaning), std::string{hint});
  }
  problems.add(where, fmt::format("invalid YAML: {}", error.msg));
}

}  // namespace

Node parse_yaml(const SourceText& source, Problems& problems) {
  problems.add_to_digest(source.content());
  const auto cut = cut_literals(source);
  std::istringstream stream{cut.content};
  Builder builder{source, cut, problems};
  try {
    YAML::Parser parser{stream};
    if (!parser.HandleNextDocument(builder)) return Node{.where = source.whole()};
    auto first = builder.take();
    Problems ignored;
    Builder second{source, cut, ignored};
    if (parser.HandleNextDocument(second)) {
      problems.add(second.take().where, "a file must contain a single document", "remove the '---'");
    }
    return first;
  } catch (const YAML::ParserException& error) {
    add_syntax_problem(problems, source, error);
    return Node{.kind = Node::Kind::broken, .where = source.whole()};
  }
}

}  // namespace gradway::config
