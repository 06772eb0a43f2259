# Installs this build into a folder, then builds and runs the programs that README and docs show, which know only
# that folder: with find_package and under `xs record`, and with pkg-config. -DBUILD=... -DSOURCE=... -DWORK=... -DGENERATOR=... -DTOOLS=0|1
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
set(project ${WORK}/project)
run(sh ${CMAKE_CURRENT_LIST_DIR}/readme.sh ${SOURCE}/README.md ${project})
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/made)
file(RENAME ${WORK}/made ${WORK}/prefix) # nothing that is installed names where it was put
run(${CMAKE_COMMAND} -S ${project} -B ${WORK}/build -G ${GENERATOR} -DCMAKE_PREFIX_PATH=${WORK}/prefix -DXS_TRACE=ON -DCMAKE_C_FLAGS=-Werror)
run(${CMAKE_COMMAND} --build ${WORK}/build)
if(TOOLS)
  set(xs ${WORK}/prefix/bin/xs)
  run(${xs} record -o ${WORK}/run -- ${WORK}/build/app)
  run(${xs} query --csv ${WORK}/run "SELECT count(*) AS waits FROM wait WHERE result = 0")
  if(NOT out MATCHES "waits\r?\n4\r?\n")
    message(FATAL_ERROR "the README's program has not waited 4 times: ${out}")
  endif()
else()
  run(${WORK}/build/app)
endif()

file(GLOB_RECURSE pc ${WORK}/prefix/xs.pc)
cmake_path(GET pc PARENT_PATH folder)
set(ENV{PKG_CONFIG_PATH} ${folder})
find_program(sh sh REQUIRED)
cmake_path(GET folder PARENT_PATH lib)
# One file alone, so the kernel is defined where it is included.
run(${sh} -c "cd ${WORK} && cc -std=gnu17 -DXS_TRACE=1 -DXS_KERNELS_HERE=1 ${project}/main.c -o pc_outside $(pkg-config --cflags --libs xs) && \
  LD_LIBRARY_PATH=${lib} ./pc_outside")
include(${CMAKE_CURRENT_LIST_DIR}/first_program.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/own_kernel.cmake)

# What the command and its manual point to is there.
foreach(file IN ITEMS doc/xs/README.md doc/xs/docs/sql.md doc/xs/examples/own/own_traced.c xs/perfetto-sql/xs/waits.sql)
  if(NOT EXISTS ${WORK}/prefix/share/${file} AND NOT (file MATCHES "waits" AND NOT TOOLS))
    message(FATAL_ERROR "${file} is not installed")
  endif()
endforeach()
