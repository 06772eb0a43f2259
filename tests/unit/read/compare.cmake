# cmake -DPROGRAM=... -DARGUMENT=... -DEXPECTED=... -DOUT=... -P compare.cmake: runs the program, compares what it prints.
execute_process(COMMAND ${PROGRAM} ${ARGUMENT} OUTPUT_FILE ${OUT} RESULT_VARIABLE rc)
if(NOT rc EQUAL 0)
  message(FATAL_ERROR "${PROGRAM} ${ARGUMENT}: exit ${rc}")
endif()
execute_process(COMMAND ${CMAKE_COMMAND} -E compare_files ${OUT} ${EXPECTED} RESULT_VARIABLE differs)
if(differs)
  message(FATAL_ERROR "${EXPECTED} is out of date: make it anew with `${PROGRAM} ${ARGUMENT}`")
endif()
