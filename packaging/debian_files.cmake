# SPDX-License-Identifier: Apache-2.0
# What Debian's policy asks of every package, done to the files that CPack has laid out: a compressed manual page, and copyright.
set(share ${CPACK_TEMPORARY_DIRECTORY}${CPACK_PACKAGING_INSTALL_PREFIX}/share)
execute_process(COMMAND gzip -9n ${share}/man/man1/gradway.1 COMMAND_ERROR_IS_FATAL ANY)
file(READ ${share}/doc/gradway/NOTICE notice)
file(WRITE ${share}/doc/gradway/copyright
  "${notice}\nDebian has the Apache License, Version 2.0, in /usr/share/common-licenses/Apache-2.0.\n")
