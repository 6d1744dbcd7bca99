# The SDK as packagers ship it: headers, a pkg-config file and a CMake package with halogen_add_plugin().
include(CMakePackageConfigHelpers)

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/halogen")
configure_package_config_file("${CMAKE_CURRENT_LIST_DIR}/halogenConfig.cmake.in"
  "${PROJECT_BINARY_DIR}/halogenConfig.cmake" INSTALL_DESTINATION "${package_dir}"
  PATH_VARS CMAKE_INSTALL_INCLUDEDIR)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/halogenConfigVersion.cmake"
  COMPATIBILITY SameMajorVersion)
# Installed under another prefix than was configured, the file still finds its headers, unless the packager chose
# absolute folders.
set(pkgconfig_prefix "${CMAKE_INSTALL_PREFIX}")
if(NOT IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}")
  file(RELATIVE_PATH up "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
  set(pkgconfig_prefix "\${pcfiledir}/${up}")
endif()
foreach(folder INCLUDEDIR LIBDIR DATADIR)
  cmake_path(ABSOLUTE_PATH CMAKE_INSTALL_${folder} BASE_DIRECTORY "\${prefix}" OUTPUT_VARIABLE pkgconfig_${folder})
endforeach()
configure_file("${CMAKE_CURRENT_LIST_DIR}/halogen-sdk.pc.in" "${PROJECT_BINARY_DIR}/halogen-sdk.pc" @ONLY)

install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/halogen" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
  COMPONENT devel FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")
install(FILES "${PROJECT_BINARY_DIR}/halogenConfig.cmake" "${PROJECT_BINARY_DIR}/halogenConfigVersion.cmake"
  "${CMAKE_CURRENT_LIST_DIR}/HalogenPlugin.cmake" "${CMAKE_CURRENT_LIST_DIR}/halogen-plugin.map"
  DESTINATION "${package_dir}" COMPONENT devel)
install(FILES "${PROJECT_BINARY_DIR}/halogen-sdk.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig"
  COMPONENT devel)

# Profiles, as the administrator finds them after installation.
install(DIRECTORY "${PROJECT_SOURCE_DIR}/etc/" DESTINATION "${CMAKE_INSTALL_SYSCONFDIR}/halogen"
  FILES_MATCHING PATTERN "*.toml")

# The unit names the program and the profile where this installation puts them.
file(READ "${PROJECT_SOURCE_DIR}/etc/halogen.service" halogen_unit)
string(REPLACE "/usr/bin/halogen" "${CMAKE_INSTALL_FULL_BINDIR}/halogen" halogen_unit "${halogen_unit}")
string(REPLACE "/etc/halogen/" "${CMAKE_INSTALL_FULL_SYSCONFDIR}/halogen/" halogen_unit "${halogen_unit}")
file(WRITE "${PROJECT_BINARY_DIR}/halogen.service" "${halogen_unit}")
install(FILES "${PROJECT_BINARY_DIR}/halogen.service" DESTINATION "lib/systemd/system")

install(FILES "${PROJECT_SOURCE_DIR}/docs/man/halogen.1" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1")
install(FILES "${PROJECT_SOURCE_DIR}/docs/man/halogen.toml.5" DESTINATION "${CMAKE_INSTALL_MANDIR}/man5")
