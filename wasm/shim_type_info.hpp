// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <typeinfo>

namespace __cxxabiv1 {

/// The part of libc++abi's class that decides what a clause catches.
class __shim_type_info : public std::type_info {
 public:
  ~__shim_type_info() override;
  virtual void noop1() const;
  virtual void noop2() const;
  /// @param adjusted the thrown object; becomes its part of this type
  virtual bool can_catch(const __shim_type_info* thrown, void*& adjusted) const = 0;
};

}  // namespace __cxxabiv1
