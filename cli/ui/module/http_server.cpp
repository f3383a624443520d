// SPDX-License-Identifier: Apache-2.0
// The module that contains cpp-httplib.
#include <httplib.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <functional>
#include <memory>
#include <thread>

#include "cli/ui/http.hpp"

namespace gradway::cli {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::size_t most_head_bytes = 16U << 10U;  ///< browsers send less than 2 KiB
constexpr seconds head_time{10};                     ///< until the whole head has arrived
constexpr seconds request_time{60};                  ///< until the whole body has arrived, too
constexpr seconds silence{5};                        ///< without a byte, in either direction
/// For the head, if other connections wait for a thread. Browsers send a head in one piece.
constexpr milliseconds head_time_if_others_wait{50};
constexpr milliseconds check_interval{20};

/// A connection whose request is limited in size and time: the library keeps all fields and bodies that it
/// can read.
class Connection final : public httplib::Stream {
 public:
  using EndsEarly = std::function<bool(Clock::duration since_start)>;

  /// @param ends_early asked several times a second
  Connection(int socket, std::size_t most_body_bytes, EndsEarly ends_early)
      : socket_{socket}, bytes_left_{most_head_bytes + most_body_bytes}, ends_early_{std::move(ends_early)} {}

  /// Waits for the head, up to its empty line. @return empty, or the status to refuse it with
  std::string_view receive_head() {
    for (;;) {
      const auto end = received_.find("\r\n\r\n");
      if (std::min(end, received_.size()) > most_head_bytes) return "431 Request Header Fields Too Large";
      if (end != std::string::npos) {
        head_.assign(received_, 0, end + 2);
        ends_early_ = {};
        return {};
      }
      if (receive(start_ + head_time) <= 0) return "408 Request Timeout";
    }
  }

  /// The values of a field of the head as they were sent. The library leaves out empty ones, and what follows
  /// a NUL.
  std::vector<std::string> values_of(std::string_view field) const {
    std::vector<std::string> values;
    for (std::string_view unread = head_; !unread.empty();) {
      const auto line = unread.substr(0, unread.find("\r\n"));
      unread.remove_prefix(line.size() + 2);
      const auto colon = line.find(':');
      if (colon == std::string_view::npos ||
          !std::ranges::equal(line.substr(0, colon), field, is_same_letter))
        continue;
      const auto value = line.substr(colon + 1);
      const auto begin = std::min(value.find_first_not_of(" \t"), value.size());
      values.emplace_back(value.substr(begin, value.find_last_not_of(" \t") + 1 - begin));
    }
    return values;
  }

  ssize_t read(char* bytes, std::size_t size) override {
    if (received_.empty()) {
      const auto result = receive(start_ + request_time);
      if (result <= 0) return result;
    }
    const auto count = received_.copy(bytes, size, given_);
    given_ += count;
    if (given_ == received_.size()) {
      received_.clear();
      given_ = 0;
    }
    return static_cast<ssize_t>(count);
  }
  ssize_t write(const char* bytes, std::size_t size) override {
    return is_writable() ? ::send(socket_, bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT) : -1;
  }
  bool is_readable() const override { return true; }
  bool is_writable() const override { return waits_for(POLLOUT, silence); }
  void get_remote_ip_and_port(std::string&, int&) const override {}
  void get_local_ip_and_port(std::string&, int&) const override {}
  socket_t socket() const override { return socket_; }

 private:
  static bool is_same_letter(unsigned char a, unsigned char b) { return std::tolower(a) == std::tolower(b); }

  /// @return false if it did not happen in time; true also if the connection is broken
  bool waits_for(short event, milliseconds most) const {
    pollfd file{socket_, event, 0};
    return ::poll(&file, 1, static_cast<int>(most.count())) > 0;
  }

  /// Appends what arrives next to `received_`. @return the number of bytes, 0 at the end, -1 for none in time
  ssize_t receive(Clock::time_point most) {
    most = std::min(most, Clock::now() + silence);
    do {
      const auto time = Clock::now();
      if (time >= most || (ends_early_ && ends_early_(time - start_))) return -1;
    } while (!waits_for(POLLIN, check_interval));
    std::array<char, 16384> bytes;
    const auto count = ::recv(socket_, bytes.data(), std::min(bytes.size(), bytes_left_), 0);
    if (count <= 0) return bytes_left_ == 0 ? -1 : count;
    received_.append(bytes.data(), static_cast<std::size_t>(count));
    bytes_left_ -= static_cast<std::size_t>(count);
    return count;
  }

  int socket_;
  std::size_t bytes_left_;
  EndsEarly ends_early_;
  Clock::time_point start_ = Clock::now();
  std::string received_;   ///< bytes that the library has not read
  std::size_t given_ = 0;  ///< of them, but that it has
  std::string head_;       ///< of the request, with the end of its last line
};

/// The library's server, which reads each request through a `Connection`.
class BoundedServer final : public httplib::Server {
 public:
  explicit BoundedServer(const HttpSite& site) : most_bytes_{site.most_bytes} {
    new_task_queue = [this, threads = site.most_requests] { return new Queue{threads, waiting_}; };
    set_payload_max_length(most_bytes_);
  }

  /// Makes connections end whose head has not arrived.
  void drop_incomplete() { is_ending_ = true; }

 private:
  class Queue final : public httplib::ThreadPool {
   public:
    Queue(std::size_t threads, std::atomic<std::size_t>& waiting) : ThreadPool{threads}, waiting_{waiting} {}
    void enqueue(std::function<void()> work) override {
      ++waiting_;
      ThreadPool::enqueue([this, work = std::move(work)] {
        --waiting_;
        work();
      });
    }

   private:
    std::atomic<std::size_t>& waiting_;
  };

  bool process_and_close_socket(socket_t socket) override {
    Connection connection{socket, most_bytes_, [this](Clock::duration since_start) {
                            return is_ending_ || (waiting_ > 0 && since_start > head_time_if_others_wait);
                          }};
    const auto refusal = connection.receive_head();
    if (refusal.empty()) {
      bool closed = false;
      process_request(connection, true, closed, [&](httplib::Request& request) {
        for (const auto* field : {"Host", "Origin"}) {
          request.headers.erase(field);
          for (auto& value : connection.values_of(field)) request.headers.emplace(field, std::move(value));
        }
      });
    } else {
      const auto answer =
          "HTTP/1.1 " + std::string{refusal} + "\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
      connection.write(answer.data(), answer.size());
    }
    ::shutdown(socket, SHUT_RDWR);
    return ::close(socket) == 0;
  }

  std::size_t most_bytes_;
  std::atomic<std::size_t> waiting_ = 0;  ///< connections that no thread has taken
  std::atomic<bool> is_ending_ = false;
};

std::vector<std::string> values_of(const httplib::Request& request, const char* field) {
  std::vector<std::string> values;
  const auto [begin, end] = request.headers.equal_range(field);
  std::transform(begin, end, std::back_inserter(values), [](const auto& header) { return header.second; });
  return values;
}

HttpRequest request_of(const httplib::Request& request) {
  return {request.method, request.path, values_of(request, "Host"), values_of(request, "Origin"),
          request.body};
}

class LoopbackServer final : public HttpServer {
 public:
  explicit LoopbackServer(HttpSite site) : site_{std::move(site)}, server_{site_} {
    server_.set_default_headers({site_.headers.begin(), site_.headers.end()});
    server_.set_tcp_nodelay(true);
    // The library's own options let a second program take the same port without an error.
    server_.set_socket_options([](int socket) {
      const int yes = 1;
      ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    });
    // Whatever needs no body is answered here, because routes are regular expressions, whose stack grows
    // with the path.
    server_.set_pre_routing_handler([this](const httplib::Request& request, httplib::Response& response) {
      const bool is_packed = request.has_header("Content-Encoding");  // it may unpack to any size
      if (!site_.ends_at_head(request_of(request)) && !is_packed)
        return httplib::Server::HandlerResponse::Unhandled;
      auto answer = site_.answer(request_of(request));
      send(answer.stream ? HttpAnswer{.status = 415} : std::move(answer), response);
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
    server_.drop_incomplete();
    server_.stop();
  }

 private:
  static void send(HttpAnswer answer, httplib::Response& response) {
    response.status = answer.status;
    if (!answer.stream) return response.set_content(answer.body, answer.type);
    const auto send_all = [stream = std::move(answer.stream)](std::size_t, httplib::DataSink& sink) {
      stream([&](std::string_view chunk) { return sink.write(chunk.data(), chunk.size()); });
      sink.done();
      return true;
    };
    response.set_chunked_content_provider(answer.type, send_all);
  }

  HttpSite site_;
  BoundedServer server_;
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
