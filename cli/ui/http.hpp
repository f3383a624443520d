// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/base/module.hpp"

namespace gradway::cli {

/// What a client asks for.
struct HttpRequest {
  std::string method;                ///< "GET"
  std::string path;                  ///< "/TOKEN/", decoded, without the part after '?'
  std::vector<std::string> hosts;    ///< values of the header Host
  std::vector<std::string> origins;  ///< values of the header Origin
  std::string body;                  ///< empty while only the head has been read
};

/// Sends a part of a body. @return false if the client has gone
using SendPart = std::function<bool(std::string_view)>;

struct HttpAnswer {
  int status = 200;
  std::string type = "text/plain; charset=utf-8";
  std::string body{};
  /// Sends the body in parts while work goes on; empty: `body` is sent.
  std::function<void(const SendPart&)> stream{};
};

/// What a server does. Its functions are called by several threads at a time, and must not throw.
struct HttpSite {
  int port = 0;                   ///< 0: any free port
  std::size_t most_bytes = 0;     ///< of the body of a request; a larger one is answered with status 413
  std::size_t most_requests = 1;  ///< that are answered at a time; further ones wait
  std::vector<std::pair<std::string, std::string>> headers{};  ///< of every answer
  /// Called before the body is read. @return whether the request is answered by `answer` without its body
  std::function<bool(const HttpRequest&)> ends_at_head;
  std::function<HttpAnswer(const HttpRequest&)> answer;
};

/// A server on 127.0.0.1.
class HttpServer {
 public:
  HttpServer() = default;
  virtual ~HttpServer() = default;
  HttpServer(const HttpServer&) = delete;

  virtual int port() const = 0;
  /// Answers requests until `stop` is called by another thread and all of them are answered.
  virtual void serve() = 0;
  virtual void stop() = 0;
};

/// The function of the module: a server that has taken its port, or null with the reason in `errno`.
using OpenHttpServer = HttpServer*(HttpSite site);

inline constexpr LoadableModule http_module{.file = "libgradway_http.so",
                                            .function = "gradway_open_http_server",
                                            .purpose = "the server of 'gradway ui'",
                                            .library = "libcpp-httplib"};

/// @throws ConfigError if the port cannot be taken, SimulationError if the module cannot be loaded
std::unique_ptr<HttpServer> open_http_server(HttpSite site);

}  // namespace gradway::cli
