// SPDX-License-Identifier: Apache-2.0
#include "calibration/harness/group.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace gradway::probe {
namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

/// Only detects hangs: a rank that computes may be late, and a rank that ends closes its socket at once.
constexpr timeval max_silence{.tv_sec = 120, .tv_usec = 0};

[[noreturn]] void fail(const std::string& what) {
  throw GroupError{fmt::format("{}: {}", what, std::strerror(errno))};
}

void tune(const Socket& socket) {
  const int on = 1;
  setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &max_silence, sizeof max_silence);
}

void send_all(const Socket& socket, const void* bytes, std::size_t count) {
  const auto* at = static_cast<const char*>(bytes);
  while (count > 0) {
    const auto sent = send(socket.get(), at, count, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) fail("a rank has ended");
    at += sent;
    count -= static_cast<std::size_t>(sent);
  }
}

void receive_all(const Socket& socket, void* bytes, std::size_t count) {
  auto* at = static_cast<char*>(bytes);
  while (count > 0) {
    const auto received = recv(socket.get(), at, count, 0);
    if (received < 0 && errno == EINTR) continue;
    if (received == 0) throw GroupError{"another rank has ended"};
    if (received < 0) fail("a rank does not answer");
    at += received;
    count -= static_cast<std::size_t>(received);
  }
}

sockaddr_in loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  return address;
}

Socket listen_on(sockaddr_in address) {
  Socket socket{::socket(AF_INET, SOCK_STREAM, 0)};
  if (socket.get() < 0) fail("no socket");
  const int on = 1;
  setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    fail(fmt::format("port {} cannot be opened", ntohs(address.sin_port)));
  if (listen(socket.get(), SOMAXCONN) != 0) fail("cannot listen");
  return socket;
}

/// Accepts the connections of all other ranks, which first send their number.
std::vector<Socket> accept_ranks(const Rendezvous& rendezvous) {
  std::vector<Socket> others(static_cast<std::size_t>(rendezvous.ranks - 1));
  if (others.empty()) return others;
  Socket own;
  if (rendezvous.listening < 0) {
    auto address = loopback(rendezvous.port);
    address.sin_addr.s_addr = htonl(INADDR_ANY);
    own = listen_on(address);
  }
  const int listening = rendezvous.listening < 0 ? own.get() : rendezvous.listening;
  const auto end = Clock::now() + rendezvous.timeout;
  for (std::size_t met = 0; met < others.size(); ++met) {
    pollfd waiting{.fd = listening, .events = POLLIN, .revents = 0};
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
    if (poll(&waiting, 1, static_cast<int>(std::max<long>(left, 0))) <= 0)
      throw GroupError{fmt::format("only {} of {} ranks have connected within {} s", met + 1,
                                   rendezvous.ranks, rendezvous.timeout.count())};
    Socket caller{accept(listening, nullptr, nullptr)};
    if (caller.get() < 0) fail("the connection of a rank failed");
    tune(caller);
    std::int32_t rank = 0;
    receive_all(caller, &rank, sizeof rank);
    if (rank < 1 || rank >= rendezvous.ranks || others[static_cast<std::size_t>(rank - 1)].get() >= 0)
      throw GroupError{fmt::format("two processes have rank {}", rank)};
    others[static_cast<std::size_t>(rank - 1)] = std::move(caller);
  }
  return others;
}

Socket try_to_connect(const Rendezvous& rendezvous) {
  addrinfo hints{};
  hints.ai_family = AF_INET;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(rendezvous.host.c_str(), std::to_string(rendezvous.port).c_str(), &hints, &found) != 0)
    return {};
  Socket socket{::socket(AF_INET, SOCK_STREAM, 0)};
  const bool connected = connect(socket.get(), found->ai_addr, found->ai_addrlen) == 0;
  freeaddrinfo(found);
  return connected ? std::move(socket) : Socket{};
}

Socket connect_to_rank_0(const Rendezvous& rendezvous) {
  const auto end = Clock::now() + rendezvous.timeout;
  while (true) {
    auto socket = try_to_connect(rendezvous);
    if (socket.get() >= 0) {
      tune(socket);
      const auto rank = static_cast<std::int32_t>(rendezvous.rank);
      send_all(socket, &rank, sizeof rank);
      return socket;
    }
    if (Clock::now() > end)
      throw GroupError{
          fmt::format("rank 0 does not answer at {}, port {}", rendezvous.host, rendezvous.port)};
    std::this_thread::sleep_for(50ms);
  }
}

}  // namespace

Socket::Socket(Socket&& other) noexcept : descriptor_{std::exchange(other.descriptor_, -1)} {}

Socket& Socket::operator=(Socket&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

Socket::~Socket() {
  if (descriptor_ >= 0) close(descriptor_);
}

std::pair<Socket, int> listen_on_free_port() {
  auto socket = listen_on(loopback(0));
  sockaddr_in address{};
  socklen_t size = sizeof address;
  if (getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0)
    fail("the port of a socket cannot be read");
  return {std::move(socket), ntohs(address.sin_port)};
}

Group::Group(const Rendezvous& rendezvous) : rank_{rendezvous.rank}, ranks_{rendezvous.ranks} {
  if (rank_ == 0) {
    others_ = accept_ranks(rendezvous);
  } else {
    others_.push_back(connect_to_rank_0(rendezvous));
  }
}

void Group::broadcast(void* bytes, std::size_t count) {
  if (rank_ == 0) {
    for (const auto& other : others_) send_all(other, bytes, count);
  } else {
    receive_all(others_.front(), bytes, count);
  }
}

std::vector<double> Group::gather(double number) {
  if (rank_ != 0) {
    send_all(others_.front(), &number, sizeof number);
    return {};
  }
  std::vector<double> all{number};
  for (const auto& other : others_) {
    all.emplace_back();
    receive_all(other, &all.back(), sizeof(double));
  }
  return all;
}

double Group::largest(double number) {
  const auto all = gather(number);
  return value_of_rank_0(rank_ == 0 ? *std::ranges::max_element(all) : 0);
}

}  // namespace gradway::probe
