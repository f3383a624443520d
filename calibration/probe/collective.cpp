// SPDX-License-Identifier: Apache-2.0
#include "calibration/probe/collective.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "calibration/probe/fill.hpp"
#include "calibration/probe/nccl_library.hpp"

namespace gradway::probe {
namespace {

using namespace std::string_view_literals;

constexpr std::array names{"all_reduce"sv, "all_gather"sv, "reduce_scatter"sv,
                           "broadcast"sv,  "all_to_all"sv, "send_recv"sv};
constexpr int calls_behind_a_gate = 50;  // NCCL queues its work descriptors in 1 MB.
constexpr double safe_exponent =
    120;  // Power of two: single precision ends at 128, and values begin below 1.

bool is_in_parts(Operation operation) {
  return operation == Operation::all_gather || operation == Operation::reduce_scatter ||
         operation == Operation::all_to_all;
}

}  // namespace

std::string_view name_of(Operation operation) {
  return names[static_cast<std::size_t>(operation)];
}

Collective::Collective(Operation operation, Communicator& communicator, DeviceBuffer& send,
                       DeviceBuffer& receive, std::size_t bytes)
    : operation_{operation},
      communicator_{&communicator},
      send_{static_cast<float*>(send.get())},
      receive_{static_cast<float*>(receive.get())},
      count_{bytes / sizeof(float)},
      part_{count_} {
  if (!is_in_parts(operation)) return;
  const auto members = static_cast<std::size_t>(communicator.members());
  part_ = std::max<std::size_t>(1, count_ / members);
  count_ = part_ * members;
}

void Collective::prepare(const Stream& stream) const {
  const auto count = operation_ == Operation::all_gather ? part_ : count_;
  fill_random(stream, send_, count, communicator_->rank());
}

void Collective::run(const Stream& stream, void* receive) const {
  const auto& library = nccl();
  auto* const comm = communicator_->get();
  const int rank = communicator_->rank();
  const int members = communicator_->members();
  const auto what = [&](ncclResult_t status) { check(status, name_of(operation_).data()); };
  switch (operation_) {
    case Operation::all_reduce:
      return what(library.all_reduce(send_, receive, count_, ncclFloat, ncclSum, comm, stream.get()));
    case Operation::all_gather:
      return what(library.all_gather(send_, receive, part_, ncclFloat, comm, stream.get()));
    case Operation::reduce_scatter:
      return what(library.reduce_scatter(send_, receive, part_, ncclFloat, ncclSum, comm, stream.get()));
    case Operation::broadcast:
      return what(library.broadcast(send_, receive, count_, ncclFloat, 0, comm, stream.get()));
    case Operation::all_to_all:
      what(library.group_start());
      for (int peer = 0; peer < members; ++peer) {
        const auto offset = static_cast<std::size_t>(peer) * part_;
        what(library.send(send_ + offset, part_, ncclFloat, peer, comm, stream.get()));
        what(library.receive(static_cast<float*>(receive) + offset, part_, ncclFloat, peer, comm,
                             stream.get()));
      }
      return what(library.group_end());
    case Operation::send_recv:
      what(library.group_start());
      what(library.send(send_, count_, ncclFloat, (rank + 1) % members, comm, stream.get()));
      what(library.receive(receive, count_, ncclFloat, (rank + members - 1) % members, comm, stream.get()));
      return what(library.group_end());
  }
}

void Collective::issue(const Stream& stream) const {
  run(stream, operation_ == Operation::all_reduce ? send_ : receive_);
}

void Collective::issue_out_of_place(const Stream& stream) const {
  run(stream, receive_);
}

void Collective::verify(const Stream& stream) const {
  const int rank = communicator_->rank();
  const int members = communicator_->members();
  const auto own_part = static_cast<std::size_t>(rank) * part_;
  prepare(stream);
  run(stream, receive_);
  std::size_t wrong = 0;
  const auto expect = [&](std::size_t at, std::size_t count, int first, int last, std::size_t begin) {
    wrong += count_wrong(stream, receive_ + at, count, first, last, begin);
  };
  switch (operation_) {
    case Operation::all_reduce:
      expect(0, count_, 0, members - 1, 0);
      break;
    case Operation::all_gather:
      for (int peer = 0; peer < members; ++peer)
        expect(static_cast<std::size_t>(peer) * part_, part_, peer, peer, 0);
      break;
    case Operation::reduce_scatter:
      expect(0, part_, 0, members - 1, own_part);
      break;
    case Operation::broadcast:
      expect(0, count_, 0, 0, 0);
      break;
    case Operation::all_to_all:
      for (int peer = 0; peer < members; ++peer)
        expect(static_cast<std::size_t>(peer) * part_, part_, peer, peer, own_part);
      break;
    case Operation::send_recv:
      expect(0, count_, (rank + members - 1) % members, (rank + members - 1) % members, 0);
      break;
  }
  if (wrong > 0)
    throw Failure{fmt::format("{} of {} bytes over {} ranks produced {} wrong numbers on rank {}",
                              name_of(operation_), bytes(), members, wrong, rank)};
}

int Collective::most_calls() const {
  if (operation_ != Operation::all_reduce) return calls_behind_a_gate;
  const auto calls = safe_exponent / std::log2(communicator_->members());
  return std::min(calls_behind_a_gate, static_cast<int>(calls));
}

}  // namespace gradway::probe
