// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <memory>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cli/commands.hpp"
#include "cli/shell/argument_words.hpp"
#include "sim/base/nearest.hpp"

namespace gradway::cli {
namespace {

/// A shell, and the script that makes it call `gradway --complete WORDS`.
struct Shell {
  std::string_view name;
  std::string_view script;
};
constexpr std::array all_shells{
    Shell{"bash", R"(# Completes gradway's commands, options and names: source <(gradway completion bash)
_gradway() {
  local line=${COMP_LINE:0:COMP_POINT} words current
  read -r -a words <<<"$line"
  if [[ $line == *[[:space:]] ]]; then words+=(""); fi
  current=${words[-1]}
  mapfile -t COMPREPLY < <("${1/#\~/$HOME}" --complete "${words[@]:1}" 2>/dev/null)
  COMPREPLY=("${COMPREPLY[@]%%$'\t'*}")
  # Readline replaces only what follows '='.
  if [[ $current == *=* ]]; then COMPREPLY=("${COMPREPLY[@]#"${current%"${current##*=}"}"}"); fi
  if [[ ${COMPREPLY[0]-} == *= ]]; then compopt -o nospace; fi
}
complete -o default -F _gradway gradway
)"},
    Shell{"zsh", R"(#compdef gradway
# Completes gradway's commands, options and names: source <(gradway completion zsh)
_gradway() {
  local line
  local -a plain keys
  for line in "${(@f)$(${~words[1]} --complete "${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
    [[ -n $line ]] || continue
    local word=${line%%$'\t'*} help=${line#*$'\t'}
    [[ $word == $line ]] && help=
    if [[ $word == *= ]]; then keys+=("${word//:/\\:}${help:+:$help}"); else plain+=("${word//:/\\:}${help:+:$help}"); fi
  done
  if (( $#plain + $#keys == 0 )); then _files; return; fi
  (( $#plain )) && _describe -V gradway plain
  (( $#keys )) && _describe -V gradway keys -S ''
}
if [[ $funcstack[1] == _gradway ]]; then _gradway "$@"; else compdef _gradway gradway; fi
)"},
    Shell{"fish", R"(# Completes gradway's commands, options and names: gradway completion fish | source
complete -c gradway -a '(gradway --complete (commandline -opc)[2..-1] (commandline -ct) 2>/dev/null)'
)"}};

}  // namespace

std::vector<std::string> shells() {
  std::vector<std::string> names;
  for (const auto& shell : all_shells) names.emplace_back(shell.name);
  return names;
}

Action add_completion(CLI::App& app) {
  const auto name = std::make_shared<std::string>();
  app.add_option("SHELL", *name, "shell: bash, zsh or fish")->required();
  return [name](const CommandContext& context) {
    const auto shell = std::ranges::find(all_shells, *name, &Shell::name);
    if (shell == all_shells.end())
      refuse(fmt::format("there is no completion script for '{}'", *name), suggestion(*name, shells()));
    context.results << shell->script;
    return Status::done;
  };
}

}  // namespace gradway::cli
