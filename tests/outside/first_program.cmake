# The program of docs/first-program.md, as told there: traced, in one process, simulated, a process a rank; untraced; and without CMake.
set(relay ${WORK}/relay)
run(sh ${CMAKE_CURRENT_LIST_DIR}/readme.sh ${SOURCE}/docs/first-program.md ${relay})
foreach(trace IN ITEMS ON OFF)
  run(${CMAKE_COMMAND} -S ${relay} -B ${WORK}/relay.${trace} -G ${GENERATOR} -DCMAKE_PREFIX_PATH=${WORK}/prefix -DXS_TRACE=${trace}
    "-DCMAKE_C_FLAGS=-Werror -Wall -Wextra")
  run(${CMAKE_COMMAND} --build ${WORK}/relay.${trace})
endforeach()
set(program ${WORK}/relay.ON/relay)
file(WRITE ${WORK}/three.sh "for r in 0 1 2
do
  XS_WORLD=${WORK} XS_RANK=$r XS_RANKS=3 ${program} &
  pids=\"$pids $!\"
done
for p in $pids
do
  wait $p || exit 1
done
")

# 3 ranks, 50 rounds: a wait for `full` in each, and for `room` in each but the first; a mark every ten.
function(relay name)
  run(${xs} record --no-export -o ${WORK}/${name} -- ${ARGN})
  run(${xs} query --csv ${WORK}/${name} "SELECT (SELECT count(*) FROM wait WHERE result = 0) AS waits, (SELECT count(*) FROM wait WHERE open) AS open,
    (SELECT count(*) FROM events WHERE event = 'mark' AND name = 'ten rounds') AS marks, (SELECT ranks FROM run) AS ranks, (SELECT lost FROM run) AS lost")
  if(NOT out MATCHES "\n297,0,15,3,0\r?\n")
    message(FATAL_ERROR "relay, ${name}: not 297 waits, all ended, 15 marks, 3 ranks, nothing lost: ${out}")
  endif()
  run(${xs} check ${WORK}/${name})
endfunction()
if(TOOLS)
  relay(one ${CMAKE_COMMAND} -E env XS_RANKS=3 ${program})
  relay(sim ${CMAKE_COMMAND} -E env XS_RANKS=3 XS_SCHEDULER=sim ${program})
  relay(many ${sh} ${WORK}/three.sh)
endif()
run(${CMAKE_COMMAND} -E env XS_RANKS=3 ${WORK}/relay.OFF/relay)
run(${sh} -c "cd ${relay} && printf '#define XS_KERNELS_HERE 1\\n#include \"relay.kernel.h\"\\n' > kernel.c &&
  cc -std=gnu17 -DXS_TRACE=1 relay.c kernel.c -o relay $(pkg-config --cflags --libs xs) && XS_RANKS=3 LD_LIBRARY_PATH=${lib} ./relay")
