// SPDX-License-Identifier: Apache-2.0
#include "cli/ui/site.hpp"

#include <sys/random.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <sstream>
#include <utility>

#include <fmt/format.h>

#include "cli/shell/failure.hpp"
#include "sim/base/problem.hpp"
#include "sim/config/find/lookup.hpp"
#include "sim/report/page/page.hpp"

namespace gradway::cli {
namespace {

/// The question with the files that the user has chosen. Models and scenarios are below 1 MB; a profile with
/// every kernel of a step is 5 MB.
constexpr std::size_t most_bytes = 32U << 20U;

/// A browser opens up to 6 connections to a server, so that several tabs can wait for answers.
constexpr std::size_t most_requests = 24;

constexpr std::size_t token_bytes = 16;

/// Part of an address that others cannot guess: 128 random bits of the system in hexadecimal.
std::string new_token() {
  std::array<unsigned char, token_bytes> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    throw SimulationError{fmt::format("the system has no random numbers: {}", std::strerror(errno))};
  std::string token;
  for (const auto byte : bytes) token += fmt::format("{:02x}", byte);
  return token;
}

/// Compares in constant time, so that the duration reveals nothing of the token.
bool is_equal(std::string_view first, std::string_view second) {
  if (first.size() != second.size()) return false;
  unsigned differences = 0;
  for (std::size_t i = 0; i < first.size(); ++i)
    differences |= static_cast<unsigned char>(first[i]) ^ static_cast<unsigned char>(second[i]);
  return differences == 0;
}

/// The part of a path after "/TOKEN"; nothing: it has another token.
std::optional<std::string_view> after_token(std::string_view path, std::string_view token) {
  if (!path.starts_with('/')) return std::nullopt;
  path.remove_prefix(1);
  const auto end = std::min(path.find('/'), path.size());
  if (!is_equal(path.substr(0, end), token)) return std::nullopt;
  return path.substr(end);
}

constexpr std::string_view ask_path = "/ask/";

const QuestionKind* kind_of(std::string_view path) {
  if (!path.starts_with(ask_path)) return nullptr;
  const auto kinds = question_kinds();
  const auto kind = std::ranges::find(kinds, path.substr(ask_path.size()), &QuestionKind::name);
  return kind == kinds.end() ? nullptr : &*kind;
}

HttpAnswer message(int status, std::string text) {
  return {status, "text/plain; charset=utf-8", std::move(text) + "\n"};
}

void send_answer(int status, std::string_view text, const SendPart& send) {
  if (send(fmt::format("answer {}\n", status))) send(text);
}

constexpr auto form_of_stream = "application/octet-stream";  // others would be compressed, and wait for that

}  // namespace

Site::Site(DataPath data, std::string scenario, std::string command)
    : data_{std::move(data)},
      scenario_{std::move(scenario)},
      command_{std::move(command)},
      allowed_{data_, scenario_},
      token_{new_token()} {}

HttpSite Site::http(int port) {
  return {.port = port,
          .most_bytes = most_bytes,
          .most_requests = most_requests,
          .headers = {{"X-Content-Type-Options", "nosniff"},
                      {"Cache-Control", "no-store"},
                      {"Referrer-Policy", "no-referrer"},
                      {"Cross-Origin-Resource-Policy", "same-origin"},
                      {"Content-Security-Policy", report::policy_of_served_page()}},
          .ends_at_head =
              [this](const HttpRequest& request) { return request.method != "POST" || refusal(request); },
          .answer = [this](const HttpRequest& request) { return answer(request); }};
}

std::string Site::open_at(int port) {
  port_ = port;
  return fmt::format("http://127.0.0.1:{}/{}/", port_, token_);
}

std::optional<HttpAnswer> Site::refusal(const HttpRequest& request) const {
  // A page of another site can make a browser send requests to this address, also under a name of its own
  // that it has pointed here. It cannot read the token, and cannot choose these headers.
  const std::array names{fmt::format("127.0.0.1:{}", port_), fmt::format("localhost:{}", port_)};
  const auto is_here = [&](std::string_view name) { return std::ranges::find(names, name) != names.end(); };
  constexpr std::string_view scheme = "http://";
  const auto is_own = [&](std::string_view origin) {
    return origin.starts_with(scheme) && is_here(origin.substr(scheme.size()));
  };
  const auto path = after_token(request.path, token_);
  if (request.hosts.size() != 1 || !is_here(request.hosts.front()) || !path ||
      (request.method == "POST" && !std::ranges::all_of(request.origins, is_own)))
    return message(403, "This is the server of 'gradway ui'. Open the address that it has printed.");
  if (request.method == "POST") {
    if (kind_of(*path) != nullptr) return std::nullopt;
  } else if (request.method != "GET" && request.method != "HEAD") {
    return message(405, "This server answers GET and POST.");
  } else if (*path == "/") {
    return std::nullopt;
  }
  return message(404, "There is no such page.");
}

HttpAnswer Site::answer(const HttpRequest& request) {
  if (auto refused = refusal(request)) return *std::move(refused);
  if (request.method != "POST") return page();
  const auto* kind = kind_of(*after_token(request.path, token_));
  return {200, form_of_stream, "", [this, kind, body = request.body](const SendPart& send) {
            const auto failure = failure_of([&] {
              answer_question(*kind, parse_question(body), send);
              return Status::done;
            });
            if (!failure.text.empty()) send_answer(static_cast<int>(failure.status), failure.text, send);
          }};
}

HttpAnswer Site::page() const {
  report::UiStart start{.scenario = scenario_,
                        .command = command_,
                        .scenarios = list_names(DataKind::scenario, data_),
                        .own = config::scenario_files("."),
                        .platforms = list_names(DataKind::platform, data_)};
  std::ostringstream text;
  report::write_served_page(text, start, GRADWAY_VERSION);
  return {200, "text/html; charset=utf-8", std::move(text).str()};
}

void Site::answer_question(const QuestionKind& kind, const Question& question, const SendPart& send) {
  allowed_.check(question);
  // Sent even without progress: if it fails, the client has disconnected.
  const auto goes_on = [&](std::string_view progress) {
    return !ending_ && send(fmt::format("progress {}\n", progress.empty() ? "- starting" : progress));
  };
  const auto answered = children_.ask({kind.arguments(question), question.files}, goes_on);
  if (!answered) return;
  // Of a sweep some points may have failed; their document says so.
  if (!answered->results.empty()) return send_answer(0, answered->results, send);
  send_answer(answered->status, answered->messages, send);
}

}  // namespace gradway::cli
