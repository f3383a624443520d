// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "readers/hang/hang_evidence.hpp"
#include "sim/base/units.hpp"

namespace gradway {

enum class HangVerdict : std::uint8_t {
  running,    ///< nothing shows that the job hangs
  undecided,  ///< ranks wait for others, as in every running job; nothing shows for how long
  hung,
  failed,  ///< a rank died, or never started
};

enum class HangKind : std::uint8_t {
  died,          ///< a process ended
  never_joined,  ///< ranks that did not join the others at the start of the job
  not_called,    ///< a rank has not reached a call in which the others wait
  left_out,      ///< a rank left out a call that it made in earlier steps
  other_call,    ///< ranks called different collectives
  other_order,   ///< the same line, in another order or with other sizes
  other_sizes,
  other_type,
  wrong_group,  ///< a rank made a call on another group than before
  crossed,      ///< ranks wait for each other
  gpu_behind,   ///< all ranks called, but the GPU of one has not begun
  error,        ///< a call failed, or a rank reported an error
  ahead,        ///< counts differ, and nothing says who is at fault
  elsewhere,    ///< the stack of a rank is at another line than those of the others
};

/// A call of a collective, or a send or receive, as it is shown.
struct CallFacts {
  std::string operation;
  std::vector<int> members;  ///< global ranks; empty if unknown
  std::string group;         ///< name of the group, for those without members
  std::int64_t sequence = 0;
  std::string sizes;  ///< "[1051904]"; empty if unknown
  std::string type;
  Bytes bytes{};  ///< 0 if unknown
  CodePlace place;
};

struct HangFinding {
  HangKind kind{};
  std::vector<int> ranks;            ///< to look at first
  std::optional<CallFacts> call;     ///< in which the others wait
  std::vector<int> waiting;          ///< ranks that wait in it
  std::vector<int> missing;          ///< members that have not called it
  std::optional<CallFacts> instead;  ///< what the ranks called in its place
  std::optional<CallFacts> last;     ///< the last call of the first of the ranks
  CodePlace now;                     ///< where its main thread is, or was in the line before
  std::string source;                ///< "flight recorder"
  std::vector<std::string> notes;    ///< whole sentences
  std::string remedy;
  bool is_pending = false;  ///< the call had not completed on all ranks; only of calls that do not match
};

struct HangReport {
  HangVerdict verdict{};
  std::string why;  ///< what the verdict rests on
  int world = 0;
  std::vector<std::string> evidence;  ///< "flight recorder of 4 ranks"
  std::vector<HangFinding> findings;  ///< the first explains the others
  std::optional<Seconds> waited;      ///< at least
  std::optional<Seconds> timeout;     ///< of the call in which ranks wait
  std::vector<std::string> remarks;   ///< on evidence that is missing or damaged
};

/// Judges whether a job hangs, and what for.
HangReport judge_hang(const HangEvidence& evidence);

// The parts of the judgement.

/// Share of its timeout after which a call hangs: dumps come when the timeout is over.
inline constexpr double long_wait = 0.8;

/// How old what the dumps show is.
struct DumpAges {
  bool is_moving = false;  ///< ranks went on between the dumps
  std::string why_moving;
  bool stands_still = false;      ///< two dumps of each rank show the same
  std::optional<Seconds> waited;  ///< longest time between a call and the last news, or the time of the file
  std::optional<Seconds> idle;    ///< time of the file after the last news, if plausible
  std::optional<Seconds> timeout;
};

DumpAges ages_of_dumps(const HangEvidence& evidence);

/// What flight recorders say; the first finding explains the others.
/// @param is_moving the dumps are of different moments: only calls that do not match count
std::vector<HangFinding> recorded_findings(const HangEvidence& evidence, bool is_moving);
std::vector<HangFinding> ras_findings(const HangEvidence& evidence);
std::vector<HangFinding> watchdog_findings(const HangEvidence& evidence);
std::vector<HangFinding> process_findings(const HangEvidence& evidence);
std::vector<HangFinding> stack_findings(const HangEvidence& evidence);

/// The position of a call in a record at which the rank departs from what it did in earlier steps, and the
/// kind of call that it made there before.
struct Departure {
  bool departs = false;
  bool is_new = false;  ///< it never made this call before
  std::optional<std::uint32_t> expected;
};
Departure departure(const RankRecord& record, std::size_t position);

/// "rank 3", "ranks 0 to 2 and 4", "all 8 ranks"
std::string ranks_text(const std::vector<int>& ranks, int world = 0);
/// "all_reduce #47 of all 4 ranks, [1051904] Float (4.208 MB)"
std::string call_text(const CallFacts& call, int world);
/// "train.py:94 (train_step)"
std::string place_text(const CodePlace& place);
std::string_view name_of(HangKind kind);
/// What to try: the row of remedies.txt. @pre there is one
std::string remedy_text(std::string_view name);
std::string_view name_of(HangVerdict verdict);
CallFacts facts_of(const HangEvidence& evidence, const RecordedCall& call);
/// Where the main thread of a rank is, by its stack; unknown without one.
CodePlace stack_place(const HangEvidence& evidence, int rank);

}  // namespace gradway
