# Records kept a second by the collector.
add_executable(bench_collect_rate ${CMAKE_CURRENT_LIST_DIR}/collect_rate.c ${PROJECT_SOURCE_DIR}/tests/unit/collect/frames.c)
target_link_libraries(bench_collect_rate PRIVATE xs_static xs_build)
target_include_directories(bench_collect_rate PRIVATE ${PROJECT_SOURCE_DIR}/lib/src ${PROJECT_SOURCE_DIR}/trace/collect
  ${PROJECT_SOURCE_DIR}/tests/unit/collect ${XS_XXHASH_INCLUDE})
