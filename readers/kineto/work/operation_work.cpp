// SPDX-License-Identifier: Apache-2.0
#include "readers/kineto/work/operation_work.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>
#include <numeric>

namespace gradway {
namespace {

struct Type {
  std::string_view name;
  int bytes;
  std::optional<Precision> precision{};
};
constexpr std::array known_types{
    Type{"float", 4, Precision::fp32}, Type{"double", 8, Precision::fp32},
    Type{"c10::BFloat16", 2, Precision::bf16}, Type{"c10::Half", 2, Precision::fp16}, Type{"long int", 8},
    Type{"long", 8}, Type{"int", 4}, Type{"short int", 2}, Type{"short", 2}, Type{"unsigned char", 1},
    Type{"signed char", 1}, Type{"bool", 1}, Type{"c10::complex<float>", 8}, Type{"c10::Float8_e4m3fn", 1},
    Type{"c10::Float8_e5m2", 1},
    // Of ProcessGroupNCCL.
    Type{"Float", 4, Precision::fp32}, Type{"Double", 8, Precision::fp32},
    Type{"BFloat16", 2, Precision::bf16}, Type{"Half", 2, Precision::fp16}, Type{"Long", 8}, Type{"Int", 4},
    Type{"Float8_e4m3fn", 1}, Type{"Float8_e5m2", 1}, Type{"Char", 1}, Type{"Byte", 1}};

const Type* type_of(std::string_view name) {
  const auto* const entry = std::ranges::find(known_types, name, &Type::name);
  return entry == known_types.end() ? nullptr : entry;
}

double operand_bytes(const Operand& operand) {
  const auto size = element_bytes(operand.type);
  double sum = 0;
  for (const auto& shape : operand.shapes) sum += element_count(shape) * size;
  return sum;
}

/// Product x W over the last two dimensions; `first` is the operand x.
OperationWork product(const Signature& signature, std::size_t first) {
  const auto* left = operands::shape(signature, first);
  const auto* right = operands::shape(signature, first + 1);
  if (left == nullptr || right == nullptr || left->size() < 2 || right->size() != left->size()) return {};
  const double outputs = static_cast<double>(right->back());
  const double inner = static_cast<double>(left->back());
  const double results = element_count(*left) / std::max(1.0, inner) * outputs;
  const double size = element_bytes(signature.operands[first].type);
  return {KernelClass::matrix, Flops{2 * results * inner}, 1,
          Bytes{size * (element_count(*left) + element_count(*right) + results)}};
}

/// Product x W^T over the last dimension.
OperationWork linear(const Signature& signature, std::size_t) {
  const auto* rows = operands::shape(signature, 0);
  const auto* weight = operands::shape(signature, 1);
  if (rows == nullptr || weight == nullptr || rows->empty() || weight->size() != 2) return {};
  const double results = element_count(*rows) / std::max(1.0, static_cast<double>(rows->back())) *
                         static_cast<double>(weight->front());
  const double size = element_bytes(signature.operands[0].type);
  return {KernelClass::matrix, Flops{2 * results * static_cast<double>(rows->back())}, 1,
          Bytes{size * (element_count(*rows) + element_count(*weight) + results)}};
}

struct Product {
  std::string_view operation;
  OperationWork (*work)(const Signature&, std::size_t);
  std::size_t first;  ///< Position of the operand x.
};
constexpr std::array products{Product{"aten::mm", product, 0},
                              Product{"aten::bmm", product, 0},
                              Product{"aten::addmm", product, 1},
                              Product{"aten::addmm_", product, 1},
                              Product{"aten::baddbmm", product, 1},
                              Product{"aten::baddbmm_", product, 1},
                              Product{"aten::_addmm_activation", product, 1},
                              Product{"aten::_scaled_mm", product, 0},
                              Product{"aten::_int_mm", product, 0},
                              Product{"aten::linear", linear, 0}};

/// Operations that write one of their operands and read the others.
bool only_writes_operands(std::string_view name) {
  constexpr std::array<std::string_view, 3> names{"aten::copy_", "aten::fill_", "aten::zero_"};
  return std::ranges::find(names, name) != names.end();
}

Bytes bytes_of(const Signature& signature) {
  double sum = 0;
  double largest = 0;
  for (const auto& operand : signature.operands) {
    const auto bytes = operand_bytes(operand);
    sum += bytes;
    largest = std::max(largest, bytes);
  }
  return Bytes{only_writes_operands(signature.name) ? sum : sum + largest};
}

}  // namespace

double element_count(const Operand::Shape& shape) {
  return std::accumulate(shape.begin(), shape.end(), 1.0, std::multiplies<>{});
}

std::vector<std::int64_t> whole_numbers(const Signature& signature, std::size_t argument) {
  std::vector<std::int64_t> result;
  if (argument >= signature.values.size()) return result;
  std::string_view text = signature.values[argument];
  while (!text.empty()) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc{}) result.push_back(value);
    text.remove_prefix(error == std::errc{} ? static_cast<std::size_t>(end - text.data()) : 1);
  }
  return result;
}

int element_bytes(std::string_view type) {
  const auto* known = type_of(type);
  return known == nullptr ? 0 : known->bytes;
}

double elements(const Signature& signature, std::size_t operand) {
  const auto* shape = operands::shape(signature, operand);
  return shape == nullptr ? 0 : element_count(*shape);
}

std::optional<Precision> precision_of(const Signature& signature) {
  for (const auto& operand : signature.operands) {
    const auto* type = type_of(operand.type);
    if (type != nullptr && type->precision) return type->precision;
  }
  return std::nullopt;
}

OperationWork work_of(const Signature& signature) {
  const auto known = std::ranges::find(products, signature.name, &Product::operation);
  OperationWork work;
  if (known != products.end()) {
    work = known->work(signature, known->first);
  } else if (const auto attention = attention_work(signature)) {
    work = *attention;
  } else if (const auto convolution = convolution_work(signature)) {
    work = *convolution;
  }
  if (work.bytes == Bytes{}) work.bytes = bytes_of(signature);
  constexpr double implausible = 1e20;
  if (!(work.flops.value() < implausible)) work.flops = Flops{};
  if (!(work.bytes.value() < implausible)) work.bytes = Bytes{};
  return work;
}

}  // namespace gradway
