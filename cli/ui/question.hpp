// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/ui/child.hpp"
#include "sim/config/config.hpp"

namespace gradway::cli {

/// What a page asks. It sends the fields as pairs of a name and a value, each ended by NUL: "scenario", "set"
/// and "vary" (which may be repeated), "fit", "plan", and for each file that the user has chosen in the
/// browser "file" with its name, then "text" with its content.
struct Question {
  std::string scenario;
  std::vector<std::string> set;   ///< "KEY=VALUE"
  std::vector<std::string> vary;  ///< "KEY=V1,V2,..."
  bool fit = false;               ///< with the largest batch that fits
  std::string plan;               ///< a question of the planner: see shell/plan_answers.hpp
  std::map<std::string, std::string> files;
};

/// A row of the table of questions: the last part of the address that a page sends the question to, and the
/// command line that answers it.
struct QuestionKind {
  std::string_view name;
  std::vector<std::string> (*arguments)(const Question&);
};

/// Questions of pages: "run" and "sweep" are answered with the document of report.html (web/DATA.md), the
/// others with the program's JSON.
std::span<const QuestionKind> question_kinds();

/// The question that a page has sent. @throws ConfigError if it is damaged
Question parse_question(std::string_view body);

/// Decides which scenarios a page may name: files that the user has chosen in the browser, those below the
/// working folder or a data folder, and the one of the command line. Other files stay unread, whatever the
/// page asks for. Links are followed before a path is judged.
class AllowedScenarios {
 public:
  /// @param of_command_line scenario that the user has named when the server was started; "": none
  AllowedScenarios(const DataPath& data, std::string of_command_line);

  /// @throws ConfigError if the question names another one
  void check(const Question& question) const;

 private:
  bool is_inside(const std::filesystem::path& file) const;

  std::vector<std::filesystem::path> folders_;
  std::vector<std::filesystem::path> places_;  ///< in which a relative name can stand
  std::string of_command_line_;
};

}  // namespace gradway::cli
