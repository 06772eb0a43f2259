# libxs: what an application links (lib/, trace/collect). libxsread: decoding, analysis, exporters; the xs command and tools.
# Each is compiled once, position independent, and made into a static and a shared library.
add_library(xs_objects OBJECT)
target_include_directories(xs_objects PUBLIC
  ${CMAKE_CURRENT_SOURCE_DIR}/lib/include ${CMAKE_CURRENT_SOURCE_DIR}/kernels/include)
target_include_directories(xs_objects PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/lib/src ${XS_XXHASH_INCLUDE})
target_link_libraries(xs_objects PRIVATE xs_build)

function(xs_make_library name objects map)
  add_library(${name} SHARED)
  target_link_libraries(${name} PRIVATE $<BUILD_INTERFACE:${objects}> $<BUILD_INTERFACE:xs_build>)
  target_link_options(${name} PRIVATE -Wl,--version-script=${map})
  if(NOT XS_SANITIZE) # a sanitizer's runtime is resolved in the program
    target_link_options(${name} PRIVATE -Wl,--no-undefined)
  endif()
  set_target_properties(${name} PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR} LINK_DEPENDS ${map})
  add_library(${name}_static STATIC)
  target_link_libraries(${name}_static PRIVATE $<BUILD_INTERFACE:${objects}> $<BUILD_INTERFACE:xs_build>)
  set_target_properties(${name}_static PROPERTIES OUTPUT_NAME ${name})
  foreach(kind IN ITEMS ${name} ${name}_static)
    target_include_directories(${kind} PUBLIC
      $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/lib/include>
      $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/kernels/include>
      $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/trace/include>
      $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
    if(XS_RECORD_WORDS) # kernels of those who link it, too
      target_compile_definitions(${kind} PUBLIC XS_RECORD_WORDS=${XS_RECORD_WORDS})
    endif()
    set_target_properties(${kind} PROPERTIES LINKER_LANGUAGE C)
  endforeach()
  add_library(xs::${name} ALIAS ${name})
  add_library(xs::${name}_static ALIAS ${name}_static)
endfunction()

xs_make_library(xs xs_objects ${CMAKE_CURRENT_SOURCE_DIR}/lib/libxs.map)
target_link_libraries(xs_static PUBLIC Threads::Threads)

if(XS_TOOLS)
  add_library(xsread_objects OBJECT)
  target_include_directories(xsread_objects PUBLIC
    ${CMAKE_CURRENT_SOURCE_DIR}/lib/include ${CMAKE_CURRENT_SOURCE_DIR}/trace/include)
  target_include_directories(xsread_objects PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/kernels/include ${XS_XXHASH_INCLUDE})
  target_link_libraries(xsread_objects PRIVATE xs_build XsDep::sqlite XsDep::protobuf_c XsDep::zstd)
  xs_make_library(xsread xsread_objects ${CMAKE_CURRENT_SOURCE_DIR}/trace/libxsread.map)
  target_link_libraries(xsread PRIVATE XsDep::sqlite XsDep::protobuf_c XsDep::zstd m)
  target_link_libraries(xsread_static PUBLIC XsDep::sqlite XsDep::protobuf_c XsDep::zstd m)
endif()
