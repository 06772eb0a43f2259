# xs_add_watched_test(name COMMAND word ... [LABELS ...] [TIMEOUT s] [ENVIRONMENT ...]): a test that is ended when it hangs, and then
# says where each of its processes was. A limit catches what hangs, and nothing else: it is at least eight times what the test takes
# on a busy machine, so that the default serves those of up to half a minute.
function(xs_add_watched_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "TIMEOUT" "COMMAND;LABELS;ENVIRONMENT")
  if(NOT arg_TIMEOUT AND XS_SANITIZE)
    set(arg_TIMEOUT 600)
  elseif(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 300)
  endif()
  string(REPLACE "\\;" ";" environment "${arg_ENVIRONMENT}") # PARSE_ARGV keeps a list in one argument by escapes
  math(EXPR late "${arg_TIMEOUT} + 120") # time to say where
  add_test(NAME ${name} COMMAND bash ${PROJECT_SOURCE_DIR}/tests/support/watch.sh ${arg_TIMEOUT} ${arg_COMMAND})
  set_tests_properties(${name} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT ${late} LABELS "${arg_LABELS}" ENVIRONMENT "${environment}")
endfunction()

# xs_with_two_words(target ...): records in two words (record.h), whatever the build has.
function(xs_with_two_words)
  foreach(target IN LISTS ARGN)
    target_compile_options(${target} PRIVATE -UXS_RECORD_WORDS -DXS_RECORD_WORDS=2)
  endforeach()
endfunction()

# xs_add_unit_test(name source ... [LIBS xs|xsread ...] [LABELS ...] [TIMEOUT s]): one cmocka program, one process.
# Tests link the static libraries, so that hidden functions can be tested. Exit 77 = skipped.
function(xs_add_unit_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "TIMEOUT" "LIBS;LABELS;INCLUDES;DEFINES")
  add_executable(test_${name} ${arg_UNPARSED_ARGUMENTS})
  foreach(lib IN LISTS arg_LIBS)
    target_link_libraries(test_${name} PRIVATE ${lib}_static)
  endforeach()
  target_link_libraries(test_${name} PRIVATE XsDep::cmocka xs_build)
  target_include_directories(test_${name} PRIVATE ${PROJECT_SOURCE_DIR}/lib/src ${PROJECT_SOURCE_DIR}/tests/include
    ${XS_XXHASH_INCLUDE} ${arg_INCLUDES})
  target_compile_definitions(test_${name} PRIVATE ${arg_DEFINES})
  xs_add_watched_test(unit.${name} COMMAND $<TARGET_FILE:test_${name}> LABELS unit ${arg_LABELS} TIMEOUT ${arg_TIMEOUT})
endfunction()
