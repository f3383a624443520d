// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/process.hpp"

namespace gradway::cli {

/// A command line for a child, and texts that replace files of these names.
struct ChildRequest {
  std::vector<std::string> arguments;  ///< as they would follow "gradway"
  std::map<std::string, std::string> texts{};
};

struct ChildAnswer {
  int status = 0;
  std::string results;   ///< standard output
  std::string messages;  ///< standard error
};

/// Called several times a second while a child works, with its last line of progress ("SHARE WORDS", or empty
/// before the first). @return false: the answer is not wanted any more
using GoesOn = std::function<bool(std::string_view progress)>;

/// The same program in a process of its own that runs command lines (shell/serve.hpp). A simulation that runs
/// out of memory, or is not wanted any more, ends with its process.
class Child {
 public:
  /// @throws SimulationError if no process can be started
  Child();
  /// Ends the process.
  ~Child();
  Child(const Child&) = delete;

  /// @return nothing if it is not wanted any more; the child cannot be asked again then
  std::optional<ChildAnswer> ask(const ChildRequest& request, const GoesOn& goes_on);
  bool is_alive() const { return answers_.is_open(); }

 private:
  bool has_messages() const;
  void read_messages();
  std::optional<ChildAnswer> whole_answer();
  ChildAnswer last_words();

  pid_t process_ = -1;
  FileDescriptor requests_;
  FileDescriptor answers_;
  FileDescriptor messages_;
  std::string answer_;       ///< what has been read of it
  std::string unread_line_;  ///< of its standard error
  std::string progress_;
  std::string printed_;  ///< lines of standard error that are not progress
};

/// Children for any number of threads. Some stay idle, so that the next request does not wait for the start
/// of a program and finds the data read.
class Children {
 public:
  Children();
  std::optional<ChildAnswer> ask(const ChildRequest& request, const GoesOn& goes_on);

 private:
  std::unique_ptr<Child> take();
  void give_back(std::unique_ptr<Child> child);

  std::mutex mutex_;
  std::vector<std::unique_ptr<Child>> idle_;
};

}  // namespace gradway::cli
