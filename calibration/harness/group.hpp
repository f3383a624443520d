// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <stdexcept>
#include <string>
#include <vector>

namespace gradway::probe {

/// Another rank of the job has ended or does not answer.
class GroupError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A TCP socket, closed by its destructor.
class Socket {
 public:
  Socket() = default;
  explicit Socket(int descriptor) : descriptor_{descriptor} {}
  Socket(Socket&& other) noexcept;
  Socket& operator=(Socket&& other) noexcept;
  ~Socket();
  int get() const { return descriptor_; }

 private:
  int descriptor_ = -1;
};

/// Address of the ranks of a job: rank 0 listens, the others connect to it.
struct Rendezvous {
  int rank = 0;
  int ranks = 1;
  std::string host = "127.0.0.1";
  int port = 0;
  int listening = -1;                ///< Rank 0: a listening socket; -1 to open one on the port.
  std::chrono::seconds timeout{60};  ///< How long to wait for the other ranks.
};

/// A socket that listens on a free port of the loopback interface, and its port.
std::pair<Socket, int> listen_on_free_port();

/// The ranks of a job, synchronised by a star of sockets around rank 0.
class Group {
 public:
  /// @throws GroupError if the ranks do not connect in time
  explicit Group(const Rendezvous& rendezvous);

  int rank() const { return rank_; }
  int ranks() const { return ranks_; }

  /// All ranks receive rank 0's bytes; all pass the same count.
  void broadcast(void* bytes, std::size_t count);
  /// Rank 0 receives the numbers of all ranks; the others receive nothing.
  std::vector<double> gather(double number);
  /// All ranks receive the largest number.
  double largest(double number);
  /// Returns when all ranks have called it.
  void wait_for_all() { largest(0); }
  /// All ranks receive the number of rank 0.
  double value_of_rank_0(double number) {
    broadcast(&number, sizeof number);
    return number;
  }

 private:
  int rank_;
  int ranks_;
  std::vector<Socket> others_;  ///< Rank 0: one per other rank; other ranks: one to rank 0.
};

}  // namespace gradway::probe
