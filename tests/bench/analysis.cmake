add_executable(bench_analysis_rate analysis_rate.c ${PROJECT_SOURCE_DIR}/tests/support/capture_build.c
  ${PROJECT_SOURCE_DIR}/tests/support/capture_build_records.c ${PROJECT_SOURCE_DIR}/tests/support/capture_build_activity.c)
target_include_directories(bench_analysis_rate PRIVATE ${PROJECT_SOURCE_DIR}/tests/include ${PROJECT_SOURCE_DIR}/lib/src ${XS_XXHASH_INCLUDE})
target_link_libraries(bench_analysis_rate PRIVATE xsread_static xs_build)
