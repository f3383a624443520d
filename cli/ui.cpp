// SPDX-License-Identifier: Apache-2.0
#include <csignal>
#include <memory>
#include <thread>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cli/commands.hpp"
#include "cli/ui/http.hpp"
#include "cli/ui/site.hpp"
#include "sim/base/text.hpp"
#include "sim/config/find/lookup.hpp"
#include "sim/config/yaml/source_file.hpp"
#include "sim/report/format/text.hpp"
#include "sim/report/page/page.hpp"

namespace gradway::cli {
namespace {

struct UiArguments {
  std::string scenario;
  int port = 0;
};

std::string command_of(const UiArguments& arguments) {
  std::string command = "gradway ui";
  if (!arguments.scenario.empty()) command += " " + shell_word(arguments.scenario);
  if (arguments.port != 0) command += fmt::format(" --port {}", arguments.port);
  return command;
}

/// Signals that end the server. They wait for `sigwait` instead of interrupting a thread.
sigset_t block_ends() {
  sigset_t ends;
  ::sigemptyset(&ends);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) ::sigaddset(&ends, number);
  ::pthread_sigmask(SIG_BLOCK, &ends, nullptr);
  return ends;
}

Status ui(const UiArguments& arguments, const CommandContext& context) {
  if (!report::has_page())
    refuse("gradway was built without the page that 'gradway ui' serves",
           "configure with -DGRADWAY_PAGE=ON, then build gradway again");
  if (!arguments.scenario.empty())
    config::find_file(DataKind::scenario, arguments.scenario, context.data,
                      config::in_file(arguments.scenario));
  const auto ends = block_ends();
  Site site{context.data, arguments.scenario, command_of(arguments)};
  const auto server = open_http_server(site.http(arguments.port));
  context.messages << fmt::format("gradway ui: open {} in a browser; Ctrl-C ends it",
                                  site.open_at(server->port()))
                   << std::endl;
  std::jthread serving{[&] { server->serve(); }};
  int received = 0;
  ::sigwait(&ends, &received);
  site.end();
  server->stop();
  return Status::done;
}

}  // namespace

Action add_ui(CLI::App& app) {
  const auto arguments = std::make_shared<UiArguments>();
  app.add_option("SCENARIO", arguments->scenario,
                 "scenario to open: a file, or a name from 'gradway list scenarios' (default: a list)");
  constexpr int highest_port = 65535;
  app.add_option("--port", arguments->port, "port of the address (default: a free one)")
      ->type_name("N")
      ->check(CLI::Range(1, highest_port));
  return [arguments](const CommandContext& context) { return ui(*arguments, context); };
}

}  // namespace gradway::cli
