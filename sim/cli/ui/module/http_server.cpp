// SPDX-License-Identifier: Apache-2.0
// The module that contains cpp-httplib.
#include <httplib.h>

#include <atomic>
#include <cerrno>
#include <memory>
#include <thread>

#include "sim/cli/ui/http.hpp"

namespace gradway::cli {
namespace {

std::vector<std::string> values_of(const httplib::Request& request, const char* header) {
  std::vector<std::string> values;
  for (std::size_t i = 0; i < request.get_header_value_count(header); ++i)
    values.push_back(request.get_header_value(header, i));
  return values;
}

HttpRequest request_of(const httplib::Request& request) {
  return {request.method, request.path, values_of(request, "Host"), values_of(request, "Origin"),
          request.body};
}

class LoopbackServer final : public HttpServer {
 public:
  explicit LoopbackServer(HttpSite site) : site_{std::move(site)} {
    server_.new_task_queue = [this] { return new httplib::ThreadPool{site_.most_requests}; };
    server_.set_default_headers({site_.headers.begin(), site_.headers.end()});
    server_.set_payload_max_length(site_.most_bytes);
    // A connection that waits for its next request would occupy a thread.
    server_.set_keep_alive_max_count(1);
    server_.set_tcp_nodelay(true);
    // The library's own options let a second program take the same port without an error.
    server_.set_socket_options([](int socket) {
      const int yes = 1;
      ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    });
    // Whatever needs no body is answered here, because routes are regular expressions, whose stack grows
    // with the path.
    server_.set_pre_routing_handler([this](const httplib::Request& request, httplib::Response& response) {
      if (!site_.ends_at_head(request_of(request))) return httplib::Server::HandlerResponse::Unhandled;
      send(site_.answer(request_of(request)), response);
      return httplib::Server::HandlerResponse::Handled;
    });
    server_.Post(".*", [this](const httplib::Request& request, httplib::Response& response) {
      send(site_.answer(request_of(request)), response);
    });
  }

  bool open() {
    constexpr auto address = "127.0.0.1";
    if (site_.port != 0) {
      port_ = site_.port;
      return server_.bind_to_port(address, port_);
    }
    port_ = server_.bind_to_any_port(address);
    return port_ > 0;
  }

  int port() const override { return port_; }
  void serve() override {
    server_.listen_after_bind();
    has_ended_ = true;
  }
  void stop() override {
    // The library ignores a stop before it listens.
    while (!server_.is_running() && !has_ended_) std::this_thread::yield();
    server_.stop();
  }

 private:
  static void send(HttpAnswer answer, httplib::Response& response) {
    response.status = answer.status;
    if (!answer.stream) return response.set_content(answer.body, answer.type);
    const auto send_all = [stream = std::move(answer.stream)](std::size_t, httplib::DataSink& sink) {
      stream([&](std::string_view part) { return sink.write(part.data(), part.size()); });
      sink.done();
      return true;
    };
    response.set_chunked_content_provider(answer.type, send_all);
  }

  HttpSite site_;
  httplib::Server server_;
  int port_ = 0;
  std::atomic<bool> has_ended_ = false;
};

}  // namespace
}  // namespace gradway::cli

extern "C" [[gnu::visibility("default")]] gradway::cli::HttpServer* gradway_open_http_server(
    gradway::cli::HttpSite site) {
  auto server = std::make_unique<gradway::cli::LoopbackServer>(std::move(site));
  if (server->open()) return server.release();
  const int reason = errno;
  server.reset();
  errno = reason;
  return nullptr;
}
