// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/shell/serve.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstddef>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "sim/cli/shell/command_context.hpp"
#include "sim/cli/shell/failure.hpp"
#include "sim/cli/shell/usage.hpp"
#include "sim/report/format/json_document.hpp"

namespace gradway::cli {
namespace {

struct Question {
  std::vector<std::string> arguments{"gradway"};
  std::map<std::string, std::string> texts;
};

std::string next_word(std::istream& questions) {
  std::string word;
  std::getline(questions, word, '\0');
  return word;
}

/// @return nothing at the end
std::optional<Question> next_question(std::istream& questions) {
  std::size_t arguments = 0;
  std::size_t texts = 0;
  questions >> arguments >> texts;
  questions.ignore();  // the end of the line
  Question question;
  for (; arguments > 0 && questions; --arguments) question.arguments.push_back(next_word(questions));
  for (; texts > 0 && questions; --texts) {
    auto name = next_word(questions);
    question.texts[std::move(name)] = next_word(questions);
  }
  return questions ? std::optional{std::move(question)} : std::nullopt;
}

void answer(const Question& question, const DataPath& files, std::ostream& answers) {
  std::vector<const char*> arguments;
  for (const auto& argument : question.arguments) arguments.push_back(argument.c_str());
  std::ostringstream results;
  std::ostringstream messages;
  const auto failure = failure_of([&] {
    CommandContext context{results, messages, report::Style{}, 0, data_path(messages)};
    context.data.texts = question.texts;
    context.data.read = files.read;
    return parse_command_line(static_cast<int>(arguments.size()), arguments.data())(context);
  });
  messages << failure.text;
  if (!failure.text.empty()) results.str("");
  std::ostringstream problems;
  report::write_json(problems, failure.problems);
  answers << fmt::format("{} {} {} {}\n", static_cast<int>(failure.status), results.view().size(),
                         messages.view().size(), problems.view().size())
          << results.view() << messages.view() << problems.view() << std::flush;
}

/// The name of a standard stream; its number leads nowhere from now on, so that no command reads or writes
/// there.
std::string taken_away(int stream) {
  const int kept = ::dup(stream);
  const int nowhere = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  ::dup2(nowhere, stream);
  ::close(nowhere);
  return fmt::format("/dev/fd/{}", kept);
}

}  // namespace

void serve() {
  std::ifstream questions{taken_away(STDIN_FILENO)};
  std::ofstream answers{taken_away(STDOUT_FILENO)};
  const auto files = each_file_until_it_changes({});
  while (const auto question = next_question(questions)) answer(*question, files, answers);
}

}  // namespace gradway::cli
