// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <limits>

namespace gradway {

/// A physical quantity: a double that cannot be mixed with other kinds. Zero by default.
///
/// The value is in the SI base unit of the kind (bytes, seconds, operations, and their rates). Amounts of
/// bytes are exact up to 2^53. A fraction of a byte is legal because a ring sends 2(n-1)/n of a buffer.
template <class Kind>
class Quantity {
 public:
  constexpr Quantity() = default;
  constexpr explicit Quantity(double value) : value_{value} {}
  constexpr double value() const { return value_; }
  constexpr auto operator<=>(const Quantity&) const = default;

  constexpr Quantity& operator+=(Quantity quantity) {
    value_ += quantity.value_;
    return *this;
  }
  constexpr Quantity& operator-=(Quantity quantity) {
    value_ -= quantity.value_;
    return *this;
  }
  friend constexpr Quantity operator+(Quantity a, Quantity b) { return Quantity{a.value_ + b.value_}; }
  friend constexpr Quantity operator-(Quantity a, Quantity b) { return Quantity{a.value_ - b.value_}; }
  friend constexpr Quantity operator*(Quantity a, double factor) { return Quantity{a.value_ * factor}; }
  friend constexpr Quantity operator*(double factor, Quantity a) { return a * factor; }
  friend constexpr Quantity operator/(Quantity a, double divisor) { return Quantity{a.value_ / divisor}; }
  friend constexpr double operator/(Quantity a, Quantity b) { return a.value_ / b.value_; }

  static constexpr Quantity infinite() { return Quantity{std::numeric_limits<double>::infinity()}; }

 private:
  double value_ = 0;
};

using Bytes = Quantity<struct BytesKind>;      ///< amount of data
using Seconds = Quantity<struct SecondsKind>;  ///< duration, or time since the start of a run
using Flops = Quantity<struct FlopsKind>;      ///< floating-point operations (a multiply-add counts as two)
using BytesPerSecond = Quantity<struct BytesPerSecondKind>;  ///< rate of a link or a memory
using FlopsPerSecond = Quantity<struct FlopsPerSecondKind>;  ///< rate of a processor
using Watts = Quantity<struct WattsKind>;                    ///< power
using UsdPerHour = Quantity<struct UsdPerHourKind>;          ///< price of an instance

constexpr Seconds operator/(Bytes amount, BytesPerSecond rate) {
  return Seconds{amount.value() / rate.value()};
}
constexpr Seconds operator/(Flops work, FlopsPerSecond rate) {
  return Seconds{work.value() / rate.value()};
}
constexpr BytesPerSecond operator/(Bytes amount, Seconds time) {
  return BytesPerSecond{amount.value() / time.value()};
}
constexpr FlopsPerSecond operator/(Flops work, Seconds time) {
  return FlopsPerSecond{work.value() / time.value()};
}
constexpr Bytes operator*(BytesPerSecond rate, Seconds time) {
  return Bytes{rate.value() * time.value()};
}

inline namespace literals {
constexpr Bytes operator""_B(unsigned long long v) {
  return Bytes{static_cast<double>(v)};
}
constexpr Bytes operator""_KiB(unsigned long long v) {
  return Bytes{static_cast<double>(v) * 1024};
}
constexpr Bytes operator""_MiB(unsigned long long v) {
  return Bytes{static_cast<double>(v) * 1048576};
}
constexpr Bytes operator""_GiB(unsigned long long v) {
  return Bytes{static_cast<double>(v) * 1073741824};
}
constexpr Bytes operator""_MB(unsigned long long v) {
  return Bytes{static_cast<double>(v) * 1e6};
}
constexpr Bytes operator""_GB(unsigned long long v) {
  return Bytes{static_cast<double>(v) * 1e9};
}
constexpr Seconds operator""_s(long double v) {
  return Seconds{static_cast<double>(v)};
}
constexpr Seconds operator""_ms(long double v) {
  return Seconds{static_cast<double>(v) / 1e3};
}
constexpr Seconds operator""_us(long double v) {
  return Seconds{static_cast<double>(v) / 1e6};
}
constexpr Seconds operator""_ms(unsigned long long v) {
  return Seconds{static_cast<double>(v) / 1e3};
}
constexpr Seconds operator""_us(unsigned long long v) {
  return Seconds{static_cast<double>(v) / 1e6};
}
constexpr BytesPerSecond operator""_GBps(long double v) {
  return BytesPerSecond{static_cast<double>(v) * 1e9};
}
constexpr BytesPerSecond operator""_GBps(unsigned long long v) {
  return BytesPerSecond{static_cast<double>(v) * 1e9};
}
}  // namespace literals

static_assert(900_GB / 450_GBps == Seconds{2});
static_assert(450_GBps * Seconds{2} == 900_GB);

}  // namespace gradway
