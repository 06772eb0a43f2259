# Language standard, warnings, sanitizers: one interface target that every target of this project links.
set(CMAKE_C_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "" FORCE)
endif()

add_library(xs_build INTERFACE)
target_compile_options(xs_build INTERFACE
  $<$<COMPILE_LANGUAGE:C>:-Wall -Wextra -Wshadow -Wvla -Wno-missing-field-initializers -fvisibility=hidden>)
target_compile_definitions(xs_build INTERFACE $<$<COMPILE_LANGUAGE:C>:_GNU_SOURCE> XS_SEQUENCE_BITS=${XS_SEQUENCE_BITS})
if(XS_RECORD_WORDS) # else as lib/include/xs/record.h says
  target_compile_definitions(xs_build INTERFACE XS_RECORD_WORDS=${XS_RECORD_WORDS})
endif()
if(XS_FUZZ) # the fuzzer follows what it tries into the libraries
  target_compile_options(xs_build INTERFACE $<$<COMPILE_LANGUAGE:C>:-fsanitize=fuzzer-no-link>)
  target_link_options(xs_build INTERFACE -fsanitize=fuzzer-no-link)
endif()
if(XS_SANITIZE)
  target_compile_options(xs_build INTERFACE
    $<$<COMPILE_LANGUAGE:C>:-fsanitize=${XS_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all>)
  target_link_options(xs_build INTERFACE -fsanitize=${XS_SANITIZE})
endif()
find_package(Threads REQUIRED)
target_link_libraries(xs_build INTERFACE Threads::Threads)
