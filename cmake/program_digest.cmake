# SPDX-License-Identifier: Apache-2.0
# Writes OUT, the definition of program_digest(): SOURCES (a file that lists them, from ROOT) and SETTINGS decide it.
file(STRINGS ${SOURCES} sources)
set(digests "${SETTINGS}")
foreach(source IN LISTS sources)
  file(SHA256 ${ROOT}/${source} digest)
  string(APPEND digests "\n${source} ${digest}")
endforeach()
string(SHA256 digest "${digests}")
string(SUBSTRING ${digest} 0 16 digest)
file(WRITE ${OUT} "#include \"cli/shell/program_digest.hpp\"\nstd::string_view gradway::cli::program_digest() { return \"${digest}\"; }\n")
