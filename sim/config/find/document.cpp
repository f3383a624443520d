// SPDX-License-Identifier: Apache-2.0
#include "sim/config/find/document.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "sim/base/make_warning.hpp"
#include "sim/config/yaml/reader.hpp"
#include "sim/config/yaml/scalars.hpp"

namespace gradway::config {
namespace {

Node broken(const Where& file) {
  return Node{.kind = Node::Kind::broken, .where = file};
}

/// Checks and removes the key. @return false for an unsupported schema, whose keys are unknown
bool check_schema(Node& root, Problems& problems) {
  const auto* schema = root.find("schema");
  if (schema == nullptr) {
    problems.add(root.where, "the key 'schema' is missing", "start the file with 'schema: 1'");
    return true;
  }
  if (schema != &root.entries.front()) {
    problems.add(schema->where, "'schema' must be the first key", "move it to the top of the file");
  }
  const auto where = schema->value.where;
  const auto number = schema->value.kind == Node::Kind::scalar ? schema->value.text : describe(schema->value);
  std::erase_if(root.entries, [](const Entry& entry) { return entry.key == "schema"; });
  if (number == "1") return true;
  problems.add(where, fmt::format("unsupported schema {}", number), "this version of gradway reads schema 1");
  return false;
}

std::string circle(const std::vector<FoundFile>& chain, const FoundFile& again) {
  std::string text;
  const auto start = std::ranges::find(chain, again.shown, &FoundFile::shown);
  for (auto file = start; file != chain.end(); ++file) text += file->shown + " -> ";
  return text + again.shown;
}

Node load_chain(DataKind kind, const FoundFile& file, const Lookup& lookup, Problems& problems,
                std::vector<FoundFile>& chain) {
  auto root = load_document(file, problems);
  chain.push_back(file);
  const auto* base = root.find("based_on");
  if (base == nullptr) return root;
  const auto base_value = base->value;
  std::erase_if(root.entries, [](const Entry& entry) { return entry.key == "based_on"; });
  const auto base_file = problems.attempt([&]() -> std::optional<FoundFile> {
    const auto target = lookup.find(kind, text(base_value), base_value.where);
    if (std::ranges::find(chain, target.path, &FoundFile::path) == chain.end()) return target;
    fail(base_value.where, fmt::format("'based_on' is circular: {}", circle(chain, target)),
         "remove 'based_on' from one of these files");
  });
  if (!base_file) return broken(in_file(file.shown));
  auto inherited = load_chain(kind, *base_file, lookup, problems, chain);
  if (inherited.kind == Node::Kind::broken) return broken(in_file(file.shown));
  for (auto& entry : inherited.entries) {
    if (root.find(entry.key) == nullptr) root.entries.push_back(std::move(entry));
  }
  return root;
}

}  // namespace

Node load_document(const FoundFile& file, Problems& problems) {
  if (!file.instead_of.empty()) {
    problems.add_to_digest(file.instead_of);  // reports contain the warning
    problems.add_to_digest(file.shown);
    problems.warn(make_warning<"replaced-file", "file", "path">(file.instead_of, file.shown));
  }
  const auto source = problems.attempt([&] {
    if (file.text) return std::optional{SourceText{file.shown, *file.text}};
    problems.add_file(state_of(file.path));
    return std::optional{read_source(file.path, file.shown)};
  });
  return source ? read_document(*source, problems) : broken(in_file(file.shown));
}

Node read_document(const SourceText& source, Problems& problems) {
  auto root = parse_yaml(source, problems);
  if (root.kind == Node::Kind::null) {
    problems.add(source.whole(), "the file is empty", "start it with 'schema: 1'");
  } else if (root.kind != Node::Kind::map && root.kind != Node::Kind::broken) {
    problems.add(root.where, fmt::format("expected a map of keys and values, found {}", describe(root)),
                 "start it with 'schema: 1'");
  }
  if (root.kind != Node::Kind::map) return broken(source.whole());
  root.where = source.whole();
  return check_schema(root, problems) ? root : broken(source.whole());
}

Node load_with_base(DataKind kind, const FoundFile& file, const Lookup& lookup, Problems& problems) {
  std::vector<FoundFile> chain;
  return load_chain(kind, file, lookup, problems, chain);
}

}  // namespace gradway::config
