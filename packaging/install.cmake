# Files that `cmake --install` installs below a prefix. gradway finds its data relative to the program: PREFIX/bin/gradway uses
# PREFIX/share/gradway, and its modules in PREFIX/lib/gradway.

# The program writes its manual page and its shell completions itself, so they are always up to date.
set(written ${CMAKE_BINARY_DIR}/written-by-gradway)
file(MAKE_DIRECTORY ${written})
add_custom_command(TARGET gradway POST_BUILD
  COMMAND gradway manual > ${written}/gradway.1
  COMMAND gradway completion bash > ${written}/gradway.bash
  COMMAND gradway completion zsh > ${written}/gradway.zsh
  COMMAND gradway completion fish > ${written}/gradway.fish VERBATIM)

install(TARGETS gradway DESTINATION bin)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/models ${PROJECT_SOURCE_DIR}/platforms ${PROJECT_SOURCE_DIR}/scenarios
  DESTINATION share/gradway FILES_MATCHING PATTERN "*.yaml")
install(DIRECTORY ${PROJECT_SOURCE_DIR}/calibration/results DESTINATION share/gradway/calibration FILES_MATCHING PATTERN "*.yaml")

# Where Debian's Python looks if the prefix is /usr; the package finds the program from there.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/python/gradway DESTINATION lib/python3/dist-packages
  PATTERN __pycache__ EXCLUDE)

install(FILES ${written}/gradway.1 DESTINATION share/man/man1)
install(FILES ${written}/gradway.bash DESTINATION share/bash-completion/completions RENAME gradway)
install(FILES ${written}/gradway.zsh DESTINATION share/zsh/vendor-completions RENAME _gradway)
install(FILES ${written}/gradway.fish DESTINATION share/fish/vendor_completions.d)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/NOTICE ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/CHANGELOG.md
  DESTINATION share/doc/gradway)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs DESTINATION share/doc/gradway FILES_MATCHING PATTERN "*.md")
