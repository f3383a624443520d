// SPDX-License-Identifier: Apache-2.0
#include "sim/platform/networks.hpp"

#include <algorithm>
#include <array>

namespace gradway {
namespace {

// Efficiencies:
// infiniband: a loopback over HDR peaks at 23.3 of 25 GB/s (microsoft/superbenchmark at 700d6501, tests/data,
//   ib_loopback). roce: the same NICs; a packet at the MTU of Ethernet has 1024 bytes of payload in 1106
//   bytes on the wire (RoCE version 2: Ethernet 38, IPv4 20, UDP 8, InfiniBand 16), which is 0.926.
// omni_path: all-reduces of 4 GB on four nodes of 8 A100 have 40.5 Gbit/s of bus bandwidth, with 4 GPUs per
//   node 39.9; the ring of NCCL 2.10.3 uses one NIC of 100 Gbit/s per direction
//   (bigscience-workshop/bigscience at 358e3c8f, experiments/bandwidth/all_reduce_bench-a100-n4.txt and
//   n4_a100_all_reduce_bench.txt). The log shows NET/IB without GDRDMA.
// efa: ib_write_bw over SRD on a p5en reaches 193.72 of 200 Gbit/s (awslabs awsome-distributed-training at
//   7217859f). EFA of the first generation reaches less: see the platforms.
// tcp, tcpx and tcpxo: a frame of 9000 bytes has 8948 bytes of payload in 9038 bytes on the wire (Ethernet
// 38,
//   IPv4 20, TCP with time stamps 32), less 1 % for acknowledgements (assumed).
//
// Latencies of a message in addition to those of NET in NCCL's cost model, which was made for InfiniBand:
// efa: the tuner of github.com/aws/aws-ofi-nccl at 2daf7d30 assumes 20 us per message (18 us on a p5en).
// tcp: an all-reduce of 1 KiB on 2 GPUs of an H200 node over TCP on the loopback takes 32.9 us
//   (own measurement, 2026-11-21, calibration/results/h200-4x), which is 10.5 us per message more than NCCL's
//   figures; NICs and a switch are assumed to add as much again.
// tcpxo: 60 us, from an all-reduce of 8 bytes on 16 ranks of two a3-megagpu-8g, which takes 136 us in
//   lessizzmore/create-a3mega-ztan-fork; the simulation gives 145 us. tcpx: an older generation of the same
//   stack, assumed to equal tcpxo.
//
// Connections: NCCL's proxy thread copies for all sockets of a channel, and a network card steers a
//   connection to one core. tcp: four nodes of 8 V100 with 100 Gbit/s reach 4 to 6 GB/s of bus bandwidth with
//   four channels of one connection each, 1.0 to 1.5 GB/s a connection, and more connections were slower
//   (github.com/NVIDIA/nccl issue 450); 32 Gbit/s are used to 60 % (issue 209); EC2 limits a connection to 10
//   Gbit/s inside a placement group (EC2 user guide, network bandwidth).
//
// Packets: InfiniBand's largest MTU, 4096 bytes; RoCE in frames of Ethernet's 1500 bytes, 1024 bytes; EFA, 8
// KiB. EFA's SRD repeats the lost packet alone (Shalev et al., IEEE Micro 40(6), 2020); the others go back N.
//
// Paths: SRD sprays over 64 at a time, for the memory of its NIC (B. Bouffler, In the search for performance,
//   there's more than one way to build a network, AWS HPC blog, 2021).
constexpr std::array network_facts{
    NetworkFacts{NetworkKind::wire, "wire", 1, true, Seconds{}, true},
    NetworkFacts{NetworkKind::infiniband, "infiniband", 0.93, true, Seconds{}},
    NetworkFacts{NetworkKind::roce, "roce", 0.93, true, Seconds{}, false, 1024_B},
    NetworkFacts{NetworkKind::omni_path, "omni_path", 0.405, false, Seconds{}},
    NetworkFacts{.kind = NetworkKind::efa,
                 .name = "efa",
                 .efficiency = 0.969,
                 .message_latency = 20_us,
                 .packet = 8_KiB,
                 .retransmission = Retransmission::selective,
                 .paths = 64},
    NetworkFacts{.kind = NetworkKind::tcp,
                 .name = "tcp",
                 .efficiency = 0.98,
                 .gpudirect = false,
                 .message_latency = 20_us,
                 .has_connections = true,
                 .stream_rate = 1.25_GBps},
    NetworkFacts{NetworkKind::tcpx, "tcpx", 0.98, true, 60_us, true},
    NetworkFacts{NetworkKind::tcpxo, "tcpxo", 0.98, true, 60_us, true},
};

}  // namespace

std::span<const NetworkFacts> networks() {
  return network_facts;
}

const NetworkFacts& facts_of(NetworkKind kind) {
  return *std::ranges::find(network_facts, kind, &NetworkFacts::kind);
}

}  // namespace gradway
