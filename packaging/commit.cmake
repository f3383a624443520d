# SPDX-License-Identifier: Apache-2.0
# Writes OUT, the definition of built_from(): the commit of the checkout ROOT. If ROOT is not a checkout (an
# unpacked archive), or git is missing, the commit is unknown. OUT is kept if its contents would not change.
cmake_minimum_required(VERSION 3.25)

function(git result)
  execute_process(COMMAND ${GIT} -C ${ROOT} ${ARGN}
    OUTPUT_VARIABLE said ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE status)
  set(${result} "${said}" PARENT_SCOPE)
  set(status "${status}" PARENT_SCOPE)
endfunction()

set(text "commit unknown")
if(GIT)
  git(folder rev-parse --show-prefix)
  if(status EQUAL 0 AND folder STREQUAL "")
    git(commit rev-parse --short=12 HEAD)
    if(status EQUAL 0)
      set(text "commit ${commit}")
      git(changes diff --quiet HEAD --)
      if(NOT status EQUAL 0)
        string(APPEND text " and changes")
      endif()
    endif()
  endif()
endif()
file(CONFIGURE OUTPUT ${OUT} @ONLY CONTENT
  "#include \"cli/shell/program_digest.hpp\"\nstd::string_view gradway::cli::built_from() { return \"@text@\"; }\n")
