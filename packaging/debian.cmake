# The package for Debian and Ubuntu, which scripts/package makes. It depends on the libraries that dpkg-shlibdeps finds, in the
# versions of the system on which it was built.
set(CPACK_GENERATOR DEB)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_PACKAGE_NAME gradway)
set(CPACK_PACKAGE_VENDOR "the maintainers of gradway")
set(CPACK_PACKAGE_CONTACT "the maintainers of gradway <maintainers@gradway.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "simulator of distributed training steps")
set(CPACK_PACKAGE_DESCRIPTION "gradway predicts how long a distributed training step takes on hardware you
do not have yet, where the time goes, and what it costs.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS python3)
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/debian_files.cmake)
include(CPack)
