// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <stdexcept>
#include <string>
#include <vector>

namespace gradway::probe {

/// Another rank of the job is gone or does not answer.
class GroupError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A TCP socket; closed with its owner.
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

/// Where the ranks of a job meet: rank 0 listens, the others call.
struct Meeting {
  int rank = 0;
  int ranks = 1;
  std::string host = "127.0.0.1";
  int port = 0;
  int listening = -1;                 ///< rank 0: a socket that listens already; -1: it opens one on the port
  std::chrono::seconds patience{60};  ///< how long to wait for the others
};

/// A socket that listens on a free port of the loopback interface, and the port.
std::pair<Socket, int> listen_anywhere();

/// The ranks of a job, in step with each other: a star of sockets around rank 0.
class Group {
 public:
  /// @throws GroupError if the ranks do not meet in time
  explicit Group(const Meeting& meeting);

  int rank() const { return rank_; }
  int ranks() const { return ranks_; }

  /// All ranks get rank 0's bytes; each gives as many.
  void broadcast(void* bytes, std::size_t count);
  /// Rank 0 gets every rank's number, by rank; the others get nothing.
  std::vector<double> gather(double number);
  /// All ranks get the largest.
  double largest(double number);
  /// Returns when all ranks have called it.
  void wait_for_all() { largest(0); }
  /// The number of rank 0, everywhere.
  double decided(double number) {
    broadcast(&number, sizeof number);
    return number;
  }

 private:
  int rank_;
  int ranks_;
  std::vector<Socket> others_;  ///< of rank 0: one a rank from 1; of another: the one to rank 0
};

}  // namespace gradway::probe
