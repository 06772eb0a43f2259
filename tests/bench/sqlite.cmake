add_executable(bench_sqlite_rate sqlite_rate.c sqlite_capture.c ${PROJECT_SOURCE_DIR}/tests/support/capture_build.c
  ${PROJECT_SOURCE_DIR}/tests/support/capture_build_records.c ${PROJECT_SOURCE_DIR}/tests/support/capture_build_activity.c)
add_executable(bench_sqlite_histogram sqlite_histogram.c)
foreach(program IN ITEMS rate histogram)
  target_include_directories(bench_sqlite_${program} PRIVATE ${PROJECT_SOURCE_DIR}/tests/include
    ${PROJECT_SOURCE_DIR}/viewer-export/sqlite ${PROJECT_SOURCE_DIR}/lib/src ${XS_XXHASH_INCLUDE})
  target_link_libraries(bench_sqlite_${program} PRIVATE xsread_static xs_build)
endforeach()
