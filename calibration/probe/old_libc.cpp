// SPDX-License-Identifier: Apache-2.0
// Functions that an old C library has in another form. The linker gets --wrap for each function here, and for
// those of old_libc.S, so that what was compiled for this system's C library also starts with an older one.
#include <cstdint>

#include <dlfcn.h>
#include <link.h>
#include <sys/stat.h>

// Before 2.34 a program contains the code that runs its initializers, and passes it to the C library.
asm(".symver old_libc_start_main, __libc_start_main@GLIBC_2.2.5");
// Before 2.33 `stat` was a call with the version of its structure.
asm(".symver old_stat, __xstat@GLIBC_2.2.5");
asm(".symver old_fstat, __fxstat@GLIBC_2.2.5");

namespace {

using Initializer = void (*)(int, char**, char**);
constexpr int version_of_stat = 1;

}  // namespace

extern "C" {

int old_libc_start_main(int (*main)(int, char**, char**), int count, char** arguments, Initializer initialize,
                        void (*finish)(), void (*finish_loader)(), void* stack);
int old_stat(int version, const char* file, struct stat* result);
int old_fstat(int version, int file, struct stat* result);

#pragma GCC visibility push(hidden)

extern const Initializer __preinit_array_start[];
extern const Initializer __preinit_array_end[];
extern const Initializer __init_array_start[];
extern const Initializer __init_array_end[];

/// Since 2.32: whether there is a single thread, which may save work.
char __libc_single_threaded = 0;

static void initialize(int count, char** arguments, char** environment) {
  for (auto at = __preinit_array_start; at != __preinit_array_end; ++at) (*at)(count, arguments, environment);
  for (auto at = __init_array_start; at != __init_array_end; ++at) (*at)(count, arguments, environment);
}

int __wrap___libc_start_main(int (*main)(int, char**, char**), int count, char** arguments, Initializer,
                             void (*finish)(), void (*finish_loader)(), void* stack) {
  return old_libc_start_main(main, count, arguments, initialize, finish, finish_loader, stack);
}

int __wrap_stat(const char* file, struct stat* result) {
  return old_stat(version_of_stat, file, result);
}

int __wrap_fstat64(int file, struct stat* result) {
  return old_fstat(version_of_stat, file, result);
}

#ifdef DLFO_STRUCT_HAS_EH_DBASE
struct Sought {
  std::uintptr_t address;
  dl_find_object* found;
};

static int look_into(dl_phdr_info* module, std::size_t, void* given) {
  const auto& sought = *static_cast<Sought*>(given);
  bool is_inside = false;
  void* frames = nullptr;
  for (int i = 0; i < module->dlpi_phnum; ++i) {
    const auto& segment = module->dlpi_phdr[i];
    const auto begin = module->dlpi_addr + segment.p_vaddr;
    if (segment.p_type == PT_LOAD && sought.address - begin < segment.p_memsz) is_inside = true;
    if (segment.p_type == PT_GNU_EH_FRAME) frames = reinterpret_cast<void*>(begin);
  }
  if (!is_inside || frames == nullptr) return 0;
  *sought.found = {};
  sought.found->dlfo_eh_frame = frames;
  return 1;
}

/// Since 2.35: describes the frames of the code at an address. Only exceptions ask for it, and they only need
/// part of it.
int __wrap__dl_find_object(void* address, dl_find_object* result) {
  Sought sought{reinterpret_cast<std::uintptr_t>(address), result};
  return dl_iterate_phdr(look_into, &sought) == 1 ? 0 : -1;
}
#endif

#pragma GCC visibility pop
}
