// SPDX-License-Identifier: Apache-2.0
#include "cli/shell/serve.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cstddef>
#include <fstream>
#include <iostream>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/shell/command_context.hpp"
#include "cli/shell/failure.hpp"
#include "cli/shell/usage.hpp"
#include "sim/engine/timeline_cache.hpp"
#include "sim/report/format/json_document.hpp"

namespace gradway::cli {
namespace {

struct Request {
  std::vector<std::string> arguments{"gradway"};
  std::map<std::string, std::string> texts;
};

std::string next_word(std::istream& requests) {
  std::string word;
  std::getline(requests, word, '\0');
  return word;
}

/// @return none at the end of the input
std::optional<Request> next_request(std::istream& requests) {
  std::size_t arguments = 0;
  std::size_t texts = 0;
  requests >> arguments >> texts;
  requests.ignore();  // the end of the line
  Request request;
  for (; arguments > 0 && requests; --arguments) request.arguments.push_back(next_word(requests));
  for (; texts > 0 && requests; --texts) {
    auto name = next_word(requests);
    request.texts[std::move(name)] = next_word(requests);
  }
  return requests ? std::optional{std::move(request)} : std::nullopt;
}

/// What is kept from one request to the next.
struct Kept {
  DataPath files = with_refreshing_file_cache({});
  TimelineCache timelines{};
};

void write_progress(std::string_view words, std::optional<double> share) {
  std::cerr << fmt::format("{} {} {}\n", progress_mark, share ? fmt::format("{:.4f}", *share) : "-", words)
            << std::flush;
}

void answer(const Request& request, Kept& kept, const ProgressCallback& on_progress, std::ostream& answers) {
  std::vector<const char*> arguments;
  for (const auto& argument : request.arguments) arguments.push_back(argument.c_str());
  std::ostringstream results;
  std::ostringstream messages;
  const auto failure = failure_of([&] {
    CommandContext context{results, messages, report::Style{}, 0, data_path(messages)};
    context.data.texts = request.texts;
    context.data.read = kept.files.read;
    context.timelines = &kept.timelines;
    context.on_progress = on_progress;
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

/// Moves a standard stream to another number and replaces it by /dev/null, so that no command reads or writes
/// it. @return that number
int detach_stream(int stream) {
  const int kept = ::dup(stream);
  const int nowhere = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  ::dup2(nowhere, stream);
  ::close(nowhere);
  return kept;
}

std::string file_of(int descriptor) {
  return fmt::format("/dev/fd/{}", descriptor);
}

/// Ends this program as soon as the reader of its answers is gone, also in the middle of one: a program that
/// was ended by force leaves no child at work.
void end_with_reader(int answers) {
  const auto watch = [answers] {
    pollfd file{answers, 0, 0};  // errors are reported without being asked for
    while (::poll(&file, 1, -1) < 0) {
    }
    if ((file.revents & (POLLERR | POLLHUP)) != 0) ::_exit(static_cast<int>(Status::unfinished));
  };
  try {
    std::thread{watch}.detach();
  } catch (const std::system_error&) {
    // No thread can be created: the end of the reader is noticed with the answer.
  }
}

}  // namespace

void serve(ServedProgress progress) {
  std::ifstream requests{file_of(detach_stream(STDIN_FILENO))};
  const int output = detach_stream(STDOUT_FILENO);
  std::ofstream answers{file_of(output)};
  end_with_reader(output);
  Kept kept;
  const auto on_progress =
      progress == ServedProgress::lines ? ProgressCallback{write_progress} : ProgressCallback{};
  while (const auto request = next_request(requests)) answer(*request, kept, on_progress, answers);
}

}  // namespace gradway::cli
