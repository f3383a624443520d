// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <unordered_map>

#include <fmt/format.h>

#include "readers/hang/value_tree.hpp"
#include "sim/base/problem.hpp"

namespace gradway {
namespace {

/// Opcodes of Python's pickletools that build plain values. Others call code or build objects.
enum Opcode : unsigned char {
  op_proto = 0x80,
  op_frame = 0x95,
  op_stop = '.',
  op_mark = '(',
  op_none = 'N',
  op_true = 0x88,
  op_false = 0x89,
  op_binint = 'J',
  op_binint1 = 'K',
  op_binint2 = 'M',
  op_long1 = 0x8a,
  op_binfloat = 'G',
  op_binunicode = 'X',
  op_short_binunicode = 0x8c,
  op_binstring = 'T',
  op_short_binstring = 'U',
  op_empty_list = ']',
  op_empty_dict = '}',
  op_empty_tuple = ')',
  op_append = 'a',
  op_appends = 'e',
  op_setitem = 's',
  op_setitems = 'u',
  op_tuple = 't',
  op_tuple1 = 0x85,
  op_tuple2 = 0x86,
  op_tuple3 = 0x87,
  op_binget = 'h',
  op_long_binget = 'j',
  op_binput = 'q',
  op_long_binput = 'r',
  op_memoize = 0x94,
};

class PickleReader {
 public:
  PickleReader(std::string_view bytes, const std::string& file) : bytes_{bytes}, file_{file} {}

  ValueDocument read() {
    while (!is_complete_) step();
    if (stack_.size() != 1 || !marks_.empty()) refuse_damage();
    return {std::move(tree_), stack_.back()};
  }

 private:
  using Id = ValueTree::Id;
  using Kind = ValueTree::Kind;

  [[noreturn]] void refuse_here(std::string problem, std::string hint) const {
    refuse_at(Where{file_, 0, 0, 0, {}}, std::move(problem), std::move(hint));
  }
  [[noreturn]] void refuse_damage() const {
    refuse_here(fmt::format("the pickle is damaged at byte {}", position_ - 1),
                "copy the dump again; the rank may have died while it wrote it");
  }

  std::string_view take(std::size_t length) {
    if (length > bytes_.size() - position_)
      refuse_here(fmt::format("the pickle is cut off: it ends at byte {}", bytes_.size()),
                  "copy the dump again; the rank may have died while it wrote it");
    const auto bytes = bytes_.substr(position_, length);
    position_ += length;
    return bytes;
  }
  /// A number of some bytes, the lowest first.
  std::uint64_t number(std::size_t length) {
    std::uint64_t value = 0;
    const auto bytes = take(length);
    for (std::size_t i = length; i-- > 0;) value = value << 8U | static_cast<unsigned char>(bytes[i]);
    return value;
  }
  std::int64_t long_number() {
    const auto length = static_cast<std::size_t>(number(1));
    const auto bytes = take(length);
    if (length > sizeof(std::int64_t)) return 0;  // such as an id of a thread; none that is used
    std::uint64_t value = length > 0 && (static_cast<unsigned char>(bytes.back()) & 0x80U) != 0 ? ~0ULL : 0;
    for (std::size_t i = length; i-- > 0;) value = value << 8U | static_cast<unsigned char>(bytes[i]);
    return static_cast<std::int64_t>(value);
  }
  double real_number() {  // the highest byte first
    std::uint64_t bits = 0;
    for (const char c : take(sizeof bits)) bits = bits << 8U | static_cast<unsigned char>(c);
    double value = 0;
    std::memcpy(&value, &bits, sizeof value);
    return value;
  }

  void push(Id value) { stack_.push_back(value); }
  Id pop() {
    if (stack_.empty() || (!marks_.empty() && stack_.size() <= marks_.back())) refuse_damage();
    const auto value = stack_.back();
    stack_.pop_back();
    return value;
  }
  Id top(Kind kind) const {
    if (stack_.empty() || tree_.kind(stack_.back()) != kind) refuse_damage();
    return stack_.back();
  }
  /// What was pushed since the last mark, which is removed.
  std::vector<Id> since_mark() {
    if (marks_.empty() || marks_.back() > stack_.size()) refuse_damage();
    const auto first = stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back());
    std::vector<Id> values(first, stack_.end());
    stack_.erase(first, stack_.end());
    marks_.pop_back();
    return values;
  }
  void push_list(const std::vector<Id>& values) {
    const auto list = tree_.add(Kind::list);
    for (const auto value : values) tree_.append(list, value);
    push(list);
  }
  void push_tuple(int length) {
    std::vector<Id> values(static_cast<std::size_t>(length));
    for (auto i = values.size(); i-- > 0;) values[i] = pop();
    push_list(values);
  }
  void set_items() {
    const auto values = since_mark();
    const auto map = top(Kind::map);
    if (values.size() % 2 != 0) refuse_damage();
    for (std::size_t i = 0; i < values.size(); i += 2) tree_.set(map, values[i], values[i + 1]);
  }
  void memoize(std::uint64_t key) {
    if (stack_.empty()) refuse_damage();
    memo_[key] = stack_.back();
  }
  void recall(std::uint64_t key) {
    const auto entry = memo_.find(key);
    if (entry == memo_.end()) refuse_damage();
    push(entry->second);
  }

  void step() {
    if (tree_.is_full() || std::max(stack_.size(), marks_.size()) > ValueTree::most_values)
      refuse_here(fmt::format("the pickle has more than {} values", ValueTree::most_values),
                  "lower TORCH_FR_BUFFER_SIZE, or give JSON of a part of it");
    const auto opcode = static_cast<unsigned char>(take(1).front());
    if (read_scalar(opcode) || read_container(opcode)) return;
    refuse_here(
        fmt::format("the pickle has the opcode 0x{:02x} at byte {}, which plain values do not need", opcode,
                    position_ - 1),
        "it could run code, so gradway does not read on; dumps of PyTorch's flight recorder have plain "
        "values only");
  }

  bool read_scalar(unsigned char opcode) {
    switch (opcode) {
      case op_proto:
        static_cast<void>(take(1));
        return true;
      case op_frame:
        static_cast<void>(take(8));
        return true;
      case op_stop:
        is_complete_ = true;
        return true;
      case op_none:
        push(ValueTree::nothing);
        return true;
      case op_true:
        push(tree_.add_boolean(true));
        return true;
      case op_false:
        push(tree_.add_boolean(false));
        return true;
      case op_binint:
        push(tree_.add_integer(static_cast<std::int32_t>(number(4))));
        return true;
      case op_binint1:
        push(tree_.add_integer(static_cast<std::int64_t>(number(1))));
        return true;
      case op_binint2:
        push(tree_.add_integer(static_cast<std::int64_t>(number(2))));
        return true;
      case op_long1:
        push(tree_.add_integer(long_number()));
        return true;
      case op_binfloat:
        push(tree_.add_real(real_number()));
        return true;
      case op_binstring:
      case op_binunicode:
        push(tree_.add_text(std::string{take(number(4))}));
        return true;
      case op_short_binstring:
      case op_short_binunicode:
        push(tree_.add_text(std::string{take(number(1))}));
        return true;
      default:
        return false;
    }
  }

  bool read_container(unsigned char opcode) {
    switch (opcode) {
      case op_mark:
        marks_.push_back(stack_.size());
        return true;
      case op_empty_tuple:
      case op_empty_list:
        push(tree_.add(Kind::list));
        return true;
      case op_empty_dict:
        push(tree_.add(Kind::map));
        return true;
      case op_append: {
        const auto value = pop();
        tree_.append(top(Kind::list), value);
        return true;
      }
      case op_appends: {
        const auto values = since_mark();
        const auto list = top(Kind::list);
        for (const auto value : values) tree_.append(list, value);
        return true;
      }
      case op_setitem: {
        const auto value = pop();
        const auto key = pop();
        tree_.set(top(Kind::map), key, value);
        return true;
      }
      case op_setitems:
        set_items();
        return true;
      case op_tuple:
        push_list(since_mark());
        return true;
      case op_tuple1:
        push_tuple(1);
        return true;
      case op_tuple2:
        push_tuple(2);
        return true;
      case op_tuple3:
        push_tuple(3);
        return true;
      case op_binput:
        memoize(number(1));
        return true;
      case op_long_binput:
        memoize(number(4));
        return true;
      case op_memoize:
        memoize(memo_.size());
        return true;
      case op_binget:
        recall(number(1));
        return true;
      case op_long_binget:
        recall(number(4));
        return true;
      default:
        return false;
    }
  }

  std::string_view bytes_;
  const std::string& file_;
  std::size_t position_ = 0;
  bool is_complete_ = false;
  ValueTree tree_;
  std::vector<Id> stack_;
  std::vector<std::size_t> marks_;
  std::unordered_map<std::uint64_t, Id> memo_;
};

}  // namespace

ValueDocument read_pickle(std::string_view bytes, const std::string& file) {
  return PickleReader{bytes, file}.read();
}

}  // namespace gradway
