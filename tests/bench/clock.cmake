# How well a GPU's clock is brought to the host's, against CUPTI. Run where there is a GPU.
if(XS_HAVE_CUDA AND XS_GPU_TESTS)
  add_executable(bench_clock_residual ${CMAKE_CURRENT_LIST_DIR}/gpu/clock_residual.c ${CMAKE_CURRENT_LIST_DIR}/gpu/clock_measure.c
    ${CMAKE_CURRENT_LIST_DIR}/gpu/clock_middles.c)
  xs_add_kernels(bench_clock_residual TRACE 1 ${PROJECT_SOURCE_DIR}/tests/gpu/common/brief.kernel.h)
  target_include_directories(bench_clock_residual PRIVATE ${CMAKE_CURRENT_LIST_DIR}/gpu ${PROJECT_SOURCE_DIR}/tests/gpu/common)
  target_link_libraries(bench_clock_residual PRIVATE xs_static xsread_static xs_build)
endif()
