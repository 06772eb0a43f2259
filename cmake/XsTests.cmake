# xs_add_unit_test(name source ... [LIBS xs|xsread ...] [LABELS ...] [TIMEOUT s]): one cmocka program, one process.
# A limit catches what hangs, and nothing else: a test of seconds may take minutes on a busy machine and under a sanitizer.
# Tests link the static libraries, so that hidden functions can be tested. Exit 77 = skipped.
function(xs_add_unit_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "TIMEOUT" "LIBS;LABELS;INCLUDES;DEFINES")
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 900)
  endif()
  add_executable(test_${name} ${arg_UNPARSED_ARGUMENTS})
  foreach(lib IN LISTS arg_LIBS)
    target_link_libraries(test_${name} PRIVATE ${lib}_static)
  endforeach()
  target_link_libraries(test_${name} PRIVATE XsDep::cmocka xs_build)
  target_include_directories(test_${name} PRIVATE ${PROJECT_SOURCE_DIR}/lib/src ${PROJECT_SOURCE_DIR}/tests/include
    ${XS_XXHASH_INCLUDE} ${arg_INCLUDES})
  target_compile_definitions(test_${name} PRIVATE ${arg_DEFINES})
  add_test(NAME unit.${name} COMMAND test_${name})
  set_tests_properties(unit.${name} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT ${arg_TIMEOUT} LABELS "unit;${arg_LABELS}")
endfunction()
