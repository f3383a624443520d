// SPDX-License-Identifier: Apache-2.0
#include "calibration/harness/host.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

namespace gradway::probe {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::size_t mebibyte = std::size_t{1} << 20;
constexpr std::size_t aligned_to = 4096;  // for files that are read and written without the page cache

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// Copies of all cores at once, each between buffers of its own that no cache holds. @return seconds
double copy_time(std::vector<std::vector<char>>& from, std::vector<std::vector<char>>& to) {
  const auto begin = Clock::now();
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < from.size(); ++i)
      threads.emplace_back([&, i] { std::memcpy(to[i].data(), from[i].data(), from[i].size()); });
  }
  return seconds_since(begin);
}

void probe_memory(Context& context) {
  const std::size_t each = (context.quick ? 64 : 256) * mebibyte;
  constexpr int repeats = 5;
  const auto threads = static_cast<std::size_t>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
  std::vector<std::vector<char>> from(threads);
  std::vector<std::vector<char>> to(threads);
  {
    std::vector<std::jthread> workers;  // Pages belong to the node of the core that touches them first.
    for (std::size_t i = 0; i < threads; ++i) {
      workers.emplace_back([&, i] {
        from[i].assign(each, 'a');
        to[i].assign(each, 'b');
      });
    }
  }
  std::vector<Seconds> times;
  for (int i = 0; i < repeats; ++i) times.emplace_back(copy_time(from, to));
  context.emit(measured({{"kind", "host_memory"}, {"threads", threads}, {"bytes", 2 * each * threads}},
                        summary(times, false)));
}

struct File {
  File(const std::filesystem::path& name, int flags) : number{open(name.c_str(), flags, 0600)} {}
  ~File() {
    if (number >= 0) close(number);
  }
  File(const File&) = delete;
  int number;
};

/// @return seconds to write or read the whole file; -1 if that fails
double pass(const File& file, bool writes, char* block, std::size_t size, std::size_t bytes) {
  const auto begin = Clock::now();
  for (std::size_t done = 0; done < bytes; done += size) {
    const auto count = writes ? write(file.number, block, size) : read(file.number, block, size);
    if (count != static_cast<ssize_t>(size)) return -1;
  }
  if (writes && fsync(file.number) != 0) return -1;
  return seconds_since(begin);
}

void probe_disk(Context& context, const std::filesystem::path& folder) {
  const std::size_t bytes = (context.quick ? 256 : 2048) * mebibyte;
  constexpr std::size_t size = 16 * mebibyte;
  const auto name = folder / fmt::format(".gradway-probe-{}", getpid());
  const std::unique_ptr<void, void (*)(void*)> memory{std::aligned_alloc(aligned_to, size), std::free};
  auto* const block = static_cast<char*>(memory.get());
  std::fill(block, block + size, 'x');
  for (const bool writes : {true, false}) {
    const int flags = writes ? O_WRONLY | O_CREAT : O_RDONLY;
    auto file = std::make_unique<File>(name, flags | O_DIRECT);
    bool is_direct = file->number >= 0;
    if (!is_direct) file = std::make_unique<File>(name, flags);
    if (!is_direct && !writes && file->number >= 0) posix_fadvise(file->number, 0, 0, POSIX_FADV_DONTNEED);
    const auto time = file->number < 0 ? -1 : pass(*file, writes, block, size, bytes);
    if (time <= 0) {
      context.remark(fmt::format("the disk could not be {}", writes ? "written" : "read"));
      break;
    }
    context.emit(measured(
        {{"kind", "disk"}, {"op", writes ? "write" : "read"}, {"bytes", bytes}, {"direct", is_direct}},
        summary({Seconds{time}}, false)));
  }
  std::error_code ignored;
  std::filesystem::remove(name, ignored);
}

}  // namespace

void probe_host(Context& context, const std::filesystem::path& folder) {
  probe_memory(context);
  context.done(0.5);
  probe_disk(context, folder.empty() ? std::filesystem::path{"."} : folder);
}

}  // namespace gradway::probe
