# Warnings, sanitizers and the target that carries them to every library of the project.

add_library(halogen_options INTERFACE)
target_compile_options(halogen_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion
  $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor -Woverloaded-virtual>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13
   AND CMAKE_BUILD_TYPE STREQUAL "RelWithDebInfo")
  # GCC 12 warns of std::string's own copies when it inlines at -O3 (GCC bug 105329).
  target_compile_options(halogen_options INTERFACE -Wno-restrict)
endif()
if(HALOGEN_WERROR)
  target_compile_options(halogen_options INTERFACE -Werror)
endif()
if(HALOGEN_SANITIZE)
  add_compile_options(-fsanitize=${HALOGEN_SANITIZE} -fno-omit-frame-pointer
    -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${HALOGEN_SANITIZE})
endif()
if(HALOGEN_FUZZ)  # libFuzzer steers by what it reaches; tests/fuzz links its main
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

# halogen_add_room(name SOURCES... [PUBLIC libs...] [PRIVATE libs...])
# A room of the core: a static library halogen_<name> whose headers are included as "core/<name>/x.h".
function(halogen_add_room name)
  cmake_parse_arguments(ARG "" "" "SOURCES;PUBLIC;PRIVATE" ${ARGN})
  set(target halogen_${name})
  add_library(${target} STATIC ${ARG_SOURCES})
  target_include_directories(${target} PUBLIC "${PROJECT_SOURCE_DIR}")
  target_link_libraries(${target} PUBLIC halogen_sdk ${ARG_PUBLIC} PRIVATE halogen_options ${ARG_PRIVATE})
endfunction()
