# Benchmarks that need a GPU: bench_gpu_NAME, run where there is one.
if(XS_HAVE_CUDA AND XS_GPU_TESTS)
  add_executable(bench_gpu_record_cost ${CMAKE_CURRENT_LIST_DIR}/gpu/record_cost.cu)
  target_link_libraries(bench_gpu_record_cost PRIVATE xs_static CUDA::cudart_static)
  target_include_directories(bench_gpu_record_cost PRIVATE ${PROJECT_SOURCE_DIR}/lib/src)
endif()
