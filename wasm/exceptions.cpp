// SPDX-License-Identifier: Apache-2.0
// Exceptions of C++ on WebAssembly's own, which Debian's libc++abi for wasm32 is built without.
//
// The compiler emits `throw` and `catch` instructions of WebAssembly and, before each handler, a call of
// _Unwind_CallPersonality, which finds the clause that catches. Names and layouts are those that clang 19
// expects: Itanium C++ ABI, part II; LLVM's WasmEHPrepare.cpp; the tables are those of its EHStreamer.cpp.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <typeinfo>

#include "wasm/shim_type_info.hpp"

namespace {

using Type = __cxxabiv1::__shim_type_info;

/// Precedes a thrown object in memory. A WebAssembly exception carries its address.
struct alignas(16) Exception {
  const Type* type;
  void* (*destroy)(void*);  // destructors return their object in WebAssembly
  void* caught_as;          // what the last clause that caught it refers to
  int handlers;             // that run; negative after `throw;`
  int references;           // handlers as one, and each std::exception_ptr
  Exception* outer;         // caught before it
};

/// What a handler hands to the search for its clause, and gets back.
struct LandingPad {
  std::uintptr_t index;
  const std::uint8_t* table;
  std::uintptr_t selector;
};

Exception* innermost = nullptr;  // of those whose handlers run

Exception* exception_of(void* object) {
  return static_cast<Exception*>(object) - 1;
}

void release(Exception* exception) {
  if (--exception->references > 0) return;
  if (exception->destroy != nullptr) exception->destroy(exception + 1);
  std::free(exception);
}

[[noreturn]] void raise(Exception* exception) {
  __builtin_wasm_throw(0, exception);
}

std::uintptr_t read_unsigned(const std::uint8_t*& position) {
  std::uintptr_t value = 0;
  for (int shift = 0;; shift += 7) {
    const auto byte = *position++;
    value |= static_cast<std::uintptr_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return value;
  }
}

std::intptr_t read_signed(const std::uint8_t*& position) {
  std::uintptr_t value = 0;
  for (unsigned shift = 0;;) {
    const auto byte = *position++;
    value |= static_cast<std::uintptr_t>(byte & 0x7f) << shift;
    shift += 7;
    if (byte >= 0x80) continue;
    if ((byte & 0x40) != 0 && shift < 32) value |= ~std::uintptr_t{0} << shift;
    return static_cast<std::intptr_t>(value);
  }
}

/// The clauses of a function's handlers.
struct Clauses {
  const std::uint8_t* action = nullptr;  ///< the first clause of a handler; null: it only destroys objects
  const std::uint8_t* types_end = nullptr;
};

/// @param table language-specific data of a function @param index of its handler
Clauses clauses_of(const std::uint8_t* table, std::uintptr_t index) {
  Clauses clauses;
  const auto* position = table + 1;  // no start of handlers: they have indices
  if (constexpr std::uint8_t omitted = 0xff; *position++ != omitted) {
    const auto size = read_unsigned(position);
    clauses.types_end = position + size;
  }
  ++position;  // encoding of the list of handlers
  const auto size = read_unsigned(position);
  const auto* const actions = position + size;
  while (position < actions) {
    const auto handler = read_unsigned(position);
    const auto action = read_unsigned(position);
    if (handler != index) continue;
    if (action > 0) clauses.action = actions + action - 1;
    return clauses;
  }
  std::terminate();
}

/// Number of the first clause that catches the exception; 0: none.
std::uintptr_t catching_clause(const Clauses& clauses, Exception& exception) {
  for (const auto* position = clauses.action; position != nullptr;) {
    const auto number = read_signed(position);
    const auto* const link = position;
    const auto next = read_signed(position);
    if (number > 0) {
      const Type* wanted = nullptr;  // stays for `catch (...)`
      std::memcpy(&wanted, clauses.types_end - number * static_cast<std::intptr_t>(sizeof wanted),
                  sizeof wanted);
      void* object = &exception + 1;
      if (wanted == nullptr || wanted->can_catch(exception.type, object)) {
        exception.caught_as = object;
        return static_cast<std::uintptr_t>(number);
      }
    }
    position = next == 0 ? nullptr : link + next;
  }
  return 0;
}

}  // namespace

extern "C" {

thread_local LandingPad __wasm_lpad_context;

int _Unwind_CallPersonality(void* thrown) {
  auto& handler = __wasm_lpad_context;
  handler.selector = 0;
  if (handler.table != nullptr)
    handler.selector =
        catching_clause(clauses_of(handler.table, handler.index), *static_cast<Exception*>(thrown));
  return 0;
}

int __gxx_wasm_personality_v0() {  // only its address is used
  std::terminate();
}

void* __cxa_allocate_exception(std::size_t size) noexcept {
  auto* const exception = static_cast<Exception*>(std::calloc(1, sizeof(Exception) + size));
  if (exception == nullptr) std::terminate();
  return exception + 1;
}

void __cxa_free_exception(void* object) noexcept {
  std::free(exception_of(object));
}

[[noreturn]] void __cxa_throw(void* object, std::type_info* type, void* (*destroy)(void*)) {
  auto* const exception = exception_of(object);
  exception->type = static_cast<const Type*>(type);
  exception->destroy = destroy;
  exception->references = 1;
  raise(exception);
}

void* __cxa_get_exception_ptr(void* thrown) noexcept {
  return static_cast<Exception*>(thrown)->caught_as;
}

void* __cxa_begin_catch(void* thrown) noexcept {
  auto* const exception = static_cast<Exception*>(thrown);
  exception->handlers = std::abs(exception->handlers) + 1;
  if (innermost != exception) {
    exception->outer = innermost;
    innermost = exception;
  }
  return exception->caught_as;
}

void __cxa_end_catch() {
  auto* const exception = innermost;
  const bool is_thrown_again = exception->handlers < 0;
  exception->handlers += is_thrown_again ? 1 : -1;
  if (exception->handlers != 0) return;
  innermost = exception->outer;
  if (!is_thrown_again) release(exception);
}

[[noreturn]] void __cxa_rethrow() {
  if (innermost == nullptr) std::terminate();
  innermost->handlers = -innermost->handlers;
  raise(innermost);
}

// std::exception_ptr.

void* __cxa_current_primary_exception() noexcept {
  if (innermost == nullptr) return nullptr;
  ++innermost->references;
  return innermost + 1;
}

void __cxa_increment_exception_refcount(void* object) noexcept {
  if (object != nullptr) ++exception_of(object)->references;
}

void __cxa_decrement_exception_refcount(void* object) noexcept {
  if (object != nullptr) release(exception_of(object));
}

void __cxa_rethrow_primary_exception(void* object) {
  if (object == nullptr) return;
  ++exception_of(object)->references;
  raise(exception_of(object));
}

unsigned __cxa_uncaught_exceptions() noexcept {  // only destructors ask
  return 0;
}
bool __cxa_uncaught_exception() noexcept {
  return false;
}

// Debian's compiler-rt is built with checks of the stack.
extern const std::uintptr_t __stack_chk_guard = 0x5ca1ab1e;
[[noreturn]] void __stack_chk_fail() {
  std::terminate();
}

}  // extern "C"

/// The library's own ends the program instead.
void* operator new(std::size_t size) {
  if (void* const memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc{};
}
