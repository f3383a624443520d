// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <optional>
#include <string>

#include "cli/ui/child.hpp"
#include "cli/ui/http.hpp"
#include "cli/ui/question.hpp"

namespace gradway::cli {

/// What `gradway ui` answers. Its page is at "/TOKEN/"; a question is sent by POST to "/TOKEN/ask/KIND". The
/// answer to a question is a stream of lines "progress SHARE WORDS", then "answer STATUS" and the text: the
/// document, or the program's message if the status is not 0. Who closes the connection gives the question
/// up.
class Site {
 public:
  /// @param scenario of the command line; "": none @param command that starts the server again
  Site(DataPath data, std::string scenario, std::string command);

  /// The settings of its server. @param port 0: any free port
  HttpSite http(int port);
  /// The address of the page, once the server has its port.
  std::string open_at(int port);
  /// Gives up the questions that are being answered.
  void end() { ending_ = true; }

 private:
  /// Why a request is refused; nothing: it is answered.
  std::optional<HttpAnswer> refusal(const HttpRequest& request) const;
  HttpAnswer answer(const HttpRequest& request);
  HttpAnswer page() const;
  void answer_question(const QuestionKind& kind, const Question& question, const SendPart& send);

  DataPath data_;
  std::string scenario_;
  std::string command_;
  AllowedScenarios allowed_;
  std::string token_;
  int port_ = 0;
  Children children_;
  std::atomic<bool> ending_ = false;
};

}  // namespace gradway::cli
