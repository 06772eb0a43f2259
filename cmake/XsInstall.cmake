# find_package(xs) and pkg-config xs.
if(NOT PROJECT_IS_TOP_LEVEL)
  return()
endif()
include(CMakePackageConfigHelpers)
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/xs)

set(libraries xs xs_static)
if(XS_TOOLS)
  list(APPEND libraries xsread)
endif()
install(TARGETS ${libraries} EXPORT xsTargets)
install(EXPORT xsTargets NAMESPACE xs:: DESTINATION ${package})
install(DIRECTORY lib/include/xs kernels/include/xs DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
if(XS_TOOLS)
  install(DIRECTORY trace/include/xs DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
endif()

configure_package_config_file(cmake/xsConfig.cmake.in ${PROJECT_BINARY_DIR}/xsConfig.cmake INSTALL_DESTINATION ${package})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/xsConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/xsConfig.cmake ${PROJECT_BINARY_DIR}/xsConfigVersion.cmake cmake/XsKernels.cmake
  DESTINATION ${package})
# The prefix as seen from the file: it may be another one at installation (cmake --install --prefix), and the tree may be moved.
file(RELATIVE_PATH XS_PREFIX_FROM_PC ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
if(XS_RECORD_WORDS)
  set(XS_CFLAGS " -DXS_RECORD_WORDS=${XS_RECORD_WORDS}")
endif()
configure_file(cmake/xs.pc.in ${PROJECT_BINARY_DIR}/xs.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/xs.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# What the command and the man pages point to.
install(FILES README.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR} FILES_MATCHING PATTERN *.md)
install(FILES examples/own/own_options.h examples/own/own_plain.c examples/own/own_traced.c DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples/own)
if(XS_TOOLS)
  install(DIRECTORY viewer-export/sql/xs DESTINATION ${CMAKE_INSTALL_DATADIR}/xs/perfetto-sql)
endif()
