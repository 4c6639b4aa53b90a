# What `cmake --install` puts in place: the program, its helper, the library, its headers, and the files by which CMake
# and pkg-config find it. The Python package has its own component (python/CMakeLists.txt).
include(CMakePackageConfigHelpers)
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/sotto)

# The program finds the library beside it, wherever the whole is moved to.
file(RELATIVE_PATH library_from_program ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
set_target_properties(sotto PROPERTIES INSTALL_RPATH "$ORIGIN/${library_from_program}")

install(TARGETS sotto_library EXPORT sotto-targets
  LIBRARY COMPONENT engine NAMELINK_COMPONENT engine RUNTIME COMPONENT engine ARCHIVE COMPONENT engine)
install(TARGETS sotto RUNTIME COMPONENT engine)
install(TARGETS sotto_probe RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/sotto COMPONENT engine)
install(DIRECTORY include/sotto DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT engine)

install(EXPORT sotto-targets NAMESPACE sotto:: DESTINATION ${package_folder} COMPONENT engine)
configure_package_config_file(cmake/sotto-config.cmake.in ${PROJECT_BINARY_DIR}/sotto-config.cmake
  INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/sotto-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/sotto-config.cmake ${PROJECT_BINARY_DIR}/sotto-config-version.cmake
  DESTINATION ${package_folder} COMPONENT engine)

# By its own place, so that the installed tree may be moved.
file(RELATIVE_PATH prefix_from_pc ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
configure_file(cmake/sotto.pc.in ${PROJECT_BINARY_DIR}/sotto.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/sotto.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT engine)
