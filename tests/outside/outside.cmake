# Installs this build into a folder, then builds and runs a project that knows only that folder: once with find_package, once
# with pkg-config. -DBUILD=... -DSOURCE=... -DWORK=... -DGENERATOR=...
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE out ERROR_VARIABLE out)
  if(NOT status EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${command}: ${status}\n${out}")
  endif()
  set(out "${out}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK})
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix)
run(${CMAKE_COMMAND} -S ${SOURCE} -B ${WORK}/build -G ${GENERATOR} -DCMAKE_PREFIX_PATH=${WORK}/prefix)
run(${CMAKE_COMMAND} --build ${WORK}/build)
run(${WORK}/build/outside)
message(STATUS "find_package: ${out}")

file(GLOB_RECURSE pc ${WORK}/prefix/xs.pc)
cmake_path(GET pc PARENT_PATH folder)
file(READ ${pc} text)
string(REGEX REPLACE "prefix=[^\n]*\n" "prefix=${WORK}/prefix\n" text "${text}") # installed below another prefix
string(REGEX REPLACE "(libdir|includedir)=\\$" "\\1=$" text "${text}")
file(WRITE ${pc} "${text}")
set(ENV{PKG_CONFIG_PATH} ${folder})
find_program(sh sh REQUIRED)
cmake_path(GET folder PARENT_PATH lib)
# One file alone, so the kernel is defined where it is included.
run(${sh} -c "cd ${WORK} && cc -std=gnu17 -DXS_TRACE=1 -DXS_KERNELS_HERE=1 ${SOURCE}/main.c -o pc_outside $(pkg-config --cflags --libs xs) && \
  LD_LIBRARY_PATH=${lib} ./pc_outside")
message(STATUS "pkg-config: ${out}")
