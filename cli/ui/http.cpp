// SPDX-License-Identifier: Apache-2.0
#include "cli/ui/http.hpp"

#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include "cli/commands.hpp"

namespace gradway::cli {

std::unique_ptr<HttpServer> open_http_server(HttpSite site) {
  void* const function = function_of(http_module);
  const int port = site.port;
  errno = 0;
  std::unique_ptr<HttpServer> server{reinterpret_cast<OpenHttpServer*>(function)(std::move(site))};
  if (server) return server;
  refuse(fmt::format("the port {} cannot be used: {}", port, std::strerror(errno != 0 ? errno : EADDRINUSE)),
         "give another one with '--port', or leave it out for a free one");
}

}  // namespace gradway::cli
