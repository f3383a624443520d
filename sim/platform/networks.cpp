// SPDX-License-Identifier: Apache-2.0
#include "sim/platform/networks.hpp"

#include <algorithm>
#include <array>

namespace gradway {
namespace {

// Efficiencies.
// infiniband: a loopback over HDR peaks at 23.3 of 25 GB/s (microsoft/superbenchmark at 700d6501, tests/data,
//   ib_loopback). roce: the same NICs; taken as InfiniBand, not checked by us.
// efa: ib_write_bw over SRD on a p5en reaches 193.72 of 200 Gbit/s (awslabs awsome-distributed-training at
//   7217859f). EFA of the first generation has less: see the platforms.
// tcp and its kin: 8948 bytes of payload in the 9038 that a frame of 9000 takes on the wire (Ethernet 38,
//   IPv4 20, TCP with time stamps 32), less 1 % for what acknowledges it (assumed).
//
// Latencies of a message beyond those that NCCL's cost model has for NET, which were made for InfiniBand.
// efa: the tuner of github.com/aws/aws-ofi-nccl at 2daf7d30 takes 20 us a message (18 us on a p5en).
// tcp: an all-reduce of 1 KiB on 2 GPUs of an H200 node over TCP on the loopback takes 32.9 us
//   (own measurement, 2026-11-21, calibration/results/h200-4x), 10.5 us a message beyond NCCL's figures;
//   NICs and a switch about as much again (assumed).
// tcpxo: 60 us, from an all-reduce of 8 bytes on 16 ranks of two a3-megagpu-8g, which takes 136 us in
//   lessizzmore/create-a3mega-ztan-fork and 145 us here. tcpx: the same stack, an older generation; taken as
//   tcpxo.
constexpr std::array all{
    NetworkFacts{NetworkKind::wire, "wire", 1, true, Seconds{}},
    NetworkFacts{NetworkKind::infiniband, "infiniband", 0.93, true, Seconds{}},
    NetworkFacts{NetworkKind::roce, "roce", 0.93, true, Seconds{}},
    NetworkFacts{NetworkKind::efa, "efa", 0.969, true, 20_us},
    NetworkFacts{NetworkKind::tcp, "tcp", 0.98, false, 20_us},
    NetworkFacts{NetworkKind::tcpx, "tcpx", 0.98, true, 60_us},
    NetworkFacts{NetworkKind::tcpxo, "tcpxo", 0.98, true, 60_us},
};

}  // namespace

std::span<const NetworkFacts> networks() {
  return all;
}

const NetworkFacts& facts_of(NetworkKind kind) {
  return *std::ranges::find(all, kind, &NetworkFacts::kind);
}

}  // namespace gradway
