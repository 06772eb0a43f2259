# Benchmarks that need a GPU: bench_gpu_NAME; exit code 77 where there is none.
if(NOT XS_HAVE_CUDA OR NOT XS_GPU_TESTS)
  return()
endif()
set(gpu_bench ${CMAKE_CURRENT_LIST_DIR}/gpu)
function(xs_add_gpu_bench name)
  add_executable(bench_gpu_${name} ${ARGN})
  target_link_libraries(bench_gpu_${name} PRIVATE xs_static xs_build CUDA::cudart_static)
  target_include_directories(bench_gpu_${name} PRIVATE ${PROJECT_SOURCE_DIR}/lib/src ${gpu_bench} ${PROJECT_SOURCE_DIR}/tests/gpu/common)
  xs_gpu_target(bench_gpu_${name})
endfunction()

xs_add_gpu_bench(record_cost ${gpu_bench}/record_cost.cu)
xs_add_gpu_bench(record_cost_words ${gpu_bench}/record_cost.cu) # the same of records of two words
xs_with_two_words(bench_gpu_record_cost_words)
xs_add_gpu_bench(order_faults ${gpu_bench}/order_faults.cu ${gpu_bench}/order_faults_run.cu ${gpu_bench}/order_faults_plain.cu
  ${gpu_bench}/order_faults_traced.cu)
xs_add_gpu_bench(primitive_cost ${gpu_bench}/primitive_cost.cu ${gpu_bench}/primitive_cost_plain.cu ${gpu_bench}/primitive_cost_traced.cu)
xs_add_gpu_bench(hang_answer ${gpu_bench}/hang_answer.c)
xs_add_gpu_bench(host_word ${gpu_bench}/host_word.cu)

# Examples traced and plain; the timed combine has rows of two words, its setup too.
set(overhead ${gpu_bench}/example_overhead.c ${gpu_bench}/overhead_bed.c ${gpu_bench}/ratio.c ${PROJECT_SOURCE_DIR}/examples/combine/setup.c)
set_source_files_properties(${PROJECT_SOURCE_DIR}/examples/combine/setup.c PROPERTIES COMPILE_DEFINITIONS WORDS=2)
function(overhead_kernel name example kind defines)
  string(COMPARE EQUAL ${kind} traced trace)
  set(source ${CMAKE_CURRENT_BINARY_DIR}/example_overhead.kernels/${name}_${kind}.cu)
  file(GENERATE OUTPUT ${source} CONTENT "#define XS_TRACE ${trace}
${defines}#define OVERHEAD_KERNEL overhead_${name}_${kind}
#define OVERHEAD_HEADER <${example}/${example}.kernel.h>
#include <example_overhead_kernel.h>
")
  set_source_files_properties(${source} PROPERTIES GENERATED ON)
  list(APPEND overhead ${source})
  set(overhead "${overhead}" PARENT_SCOPE)
endfunction()
foreach(kind IN ITEMS plain traced)
  foreach(example IN ITEMS combine pipeline barrier publish)
    overhead_kernel(${example} ${example} ${kind} "")
  endforeach()
  overhead_kernel(combine_narrow combine ${kind} "#define WORDS 2\n")
endforeach()
xs_add_gpu_bench(example_overhead ${overhead})
target_include_directories(bench_gpu_example_overhead PRIVATE ${PROJECT_SOURCE_DIR}/examples)
target_compile_definitions(bench_gpu_example_overhead PRIVATE OVERHEAD_WORDS=2)
target_link_libraries(bench_gpu_example_overhead PRIVATE m)
