# halogen_add_plugin(name SOURCES... [MANIFEST file] [LIBRARIES libs...])
#
# A plugin: a MODULE that exports the entry symbol and nothing else. Also part of the installed SDK.
# In the build tree the object and its manifest land side by side in <build>/plugins, which is where
# a halogen started from the build tree looks.

function(halogen_add_plugin name)
  cmake_parse_arguments(ARG "" "MANIFEST" "SOURCES;LIBRARIES" ${ARGN})
  set(target halogen_plugin_${name})
  set(map "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/halogen-plugin.map")
  add_library(${target} MODULE ${ARG_SOURCES})
  set_target_properties(${target} PROPERTIES
    PREFIX "" OUTPUT_NAME "${name}"
    LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/plugins"
    C_VISIBILITY_PRESET hidden CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
    LINK_DEPENDS "${map}")
  target_link_libraries(${target} PRIVATE halogen::sdk ${ARG_LIBRARIES})
  target_compile_options(${target} PRIVATE
    $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:GNU>>:-fno-gnu-unique>)
  target_link_options(${target} PRIVATE "LINKER:--version-script=${map}")
  if(NOT HALOGEN_SANITIZE)  # a sanitizer's runtime lives in the executable, which -z defs forbids
    target_link_options(${target} PRIVATE "LINKER:-z,defs")
  endif()
  if(ARG_MANIFEST)
    get_filename_component(manifest_name "${ARG_MANIFEST}" NAME)
    configure_file("${ARG_MANIFEST}" "${CMAKE_BINARY_DIR}/plugins/${manifest_name}" COPYONLY)
  endif()
  install(TARGETS ${target} LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}/halogen/plugins")
  if(ARG_MANIFEST)
    install(FILES "${ARG_MANIFEST}" DESTINATION "${CMAKE_INSTALL_DATADIR}/halogen/plugins")
  endif()
endfunction()
