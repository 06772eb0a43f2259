# Records kept a second by the collector.
add_executable(bench_collect_rate ${CMAKE_CURRENT_LIST_DIR}/collect_rate.c ${PROJECT_SOURCE_DIR}/tests/unit/collect/frames.c)
target_link_libraries(bench_collect_rate PRIVATE xs_static xs_build)
target_include_directories(bench_collect_rate PRIVATE ${PROJECT_SOURCE_DIR}/lib/src ${PROJECT_SOURCE_DIR}/trace/collect
  ${PROJECT_SOURCE_DIR}/tests/unit/collect ${XS_XXHASH_INCLUDE})

# Records a second out of the rings of running kernels. The host's form is for the test below and for profiling.
function(xs_add_ring_rate name)
  add_executable(${name} ${PROJECT_SOURCE_DIR}/tests/bench/ring_rate.c ${PROJECT_SOURCE_DIR}/tests/bench/ring_rate_load.c)
  xs_add_kernels(${name} TRACE 1 ${ARGN} ${PROJECT_SOURCE_DIR}/tests/bench/ring_rate.kernel.h)
  target_link_libraries(${name} PRIVATE xs_static xs_build)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/lib/src ${PROJECT_SOURCE_DIR}/trace/collect
    ${PROJECT_SOURCE_DIR}/tests/bench ${XS_XXHASH_INCLUDE})
endfunction()
xs_add_ring_rate(bench_ring_rate HOST_ONLY)
if(XS_TESTS) # not its rates: that what is lost is counted exactly, and a burst whole
  add_test(NAME bench.ring_rate.exact COMMAND bench_ring_rate backend=host blocks=4 block=32 seconds=0.1 least=1 most=1)
  set_tests_properties(bench.ring_rate.exact PROPERTIES LABELS unit TIMEOUT 900 PASS_REGULAR_EXPRESSION "PASS: what was lost")
endif()
if(XS_HAVE_CUDA AND XS_GPU_TESTS)
  xs_add_ring_rate(bench_gpu_ring_rate)
  xs_gpu_target(bench_gpu_ring_rate)
endif()
