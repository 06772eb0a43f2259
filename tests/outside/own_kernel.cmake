# Builds examples/own as it is installed by the lines that docs/own-kernels.md gives for CMake, and counts its waits. Included by outside.cmake.
file(STRINGS ${SOURCE}/docs/own-kernels.md lines REGEX "^ +target_[a-z_]+\\(app ")
list(LENGTH lines count)
if(NOT count EQUAL 2)
  message(FATAL_ERROR "docs/own-kernels.md does not give two lines for CMake")
endif()
list(JOIN lines "\n" lines)
file(WRITE ${WORK}/own/CMakeLists.txt "cmake_minimum_required(VERSION 3.25)\nproject(own LANGUAGES C)\nfind_package(xs REQUIRED)\n"
  "add_executable(app ${WORK}/prefix/share/doc/xs/examples/own/own_traced.c)\n${lines}\n")
run(${CMAKE_COMMAND} -S ${WORK}/own -B ${WORK}/own/build -G ${GENERATOR} -DCMAKE_PREFIX_PATH=${WORK}/prefix -DCMAKE_C_FLAGS=-Werror)
run(${CMAKE_COMMAND} --build ${WORK}/own/build)
if(TOOLS)
  run(${xs} record -o ${WORK}/own/run -- ${WORK}/own/build/app)
  run(${xs} query --csv ${WORK}/own/run "SELECT count(*) AS waits FROM wait WHERE result = 0")
  if(NOT out MATCHES "waits\r?\n300\r?\n") # 50 rounds, three ranks wait for the token and three for an answer
    message(FATAL_ERROR "own_traced has not waited 300 times: ${out}")
  endif()
endif()
