# halogen_add_test(name SOURCES... LIBS... [PROPERTIES...]): one GoogleTest binary, each test registered with CTest.
# Tests find the data folder through HALOGEN_TEST_DATA and skip visibly where it is missing.

set(HALOGEN_TEST_DATA "${PROJECT_SOURCE_DIR}/../shared/data" CACHE PATH "Where the test data lies")

# GCC 12 believes some concatenations of folder names to be out of bounds, depending on how long the folder's name
# is: such a warning must not fail the build of a checkout that happens to lie there.
add_library(halogen_test_options INTERFACE)
target_compile_options(halogen_test_options INTERFACE
  "$<$<CXX_COMPILER_ID:GNU>:-Wno-error=array-bounds;-Wno-error=restrict;-Wno-error=stringop-overflow;-Wno-error=stringop-overread>")

function(halogen_add_test name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBS;PROPERTIES" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}")
  target_link_libraries(${name} PRIVATE halogen_options halogen_test_options ${ARG_LIBS} GTest::gtest_main)
  target_compile_definitions(${name} PRIVATE
    HALOGEN_TEST_DATA="${HALOGEN_TEST_DATA}"
    HALOGEN_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
    HALOGEN_BUILD_DIR="${PROJECT_BINARY_DIR}")
  # GoogleTest's header is half the time of compiling a small test.
  list(LENGTH ARG_SOURCES n_sources)
  if(n_sources GREATER 2)
    target_precompile_headers(${name} PRIVATE <gtest/gtest.h>)
  endif()
  gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT 300 ${ARG_PROPERTIES})
endfunction()
