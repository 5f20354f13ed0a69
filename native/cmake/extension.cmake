# sizeup_extension(PACKAGE HEADER...) - the cffi extension PACKAGE._native over public headers.
#
# The headers themselves are the declarations: preprocessor lines that cffi cannot read (guards,
# includes, conditionals) are dropped, constants (#define NAME number) are kept.
function(sizeup_extension package)
  set(cdef "")
  set(prelude "")
  foreach(header ${ARGN})
    set(path "${CMAKE_CURRENT_SOURCE_DIR}/include/sizeup/${header}")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${path}")
    file(READ "${path}" text)
    string(REGEX REPLACE "(^|\n)#(include|ifndef|ifdef|if|else|endif|pragma)[^\n]*" "\\1" text "${text}")
    string(REGEX REPLACE "(^|\n)#define SIZEUP_[A-Z0-9_]*_H[ ]*\n" "\\1\n" text "${text}")
    string(APPEND cdef "${text}\n")
    string(APPEND prelude "#include <sizeup/${header}>\n")
  endforeach()
  set(folder "${CMAKE_CURRENT_BINARY_DIR}/${package}")
  file(MAKE_DIRECTORY "${folder}")
  file(CONFIGURE OUTPUT "${folder}/native.cdef" CONTENT "@cdef@" @ONLY)
  file(CONFIGURE OUTPUT "${folder}/native.prelude" CONTENT "@prelude@" @ONLY)
  add_custom_command(
    OUTPUT "${folder}/_native.c"
    COMMAND Python::Interpreter -P -m cffi.gen_src read-sources ${package}._native
            "${folder}/native.cdef" "${folder}/native.prelude" "${folder}/_native.c"
    DEPENDS "${folder}/native.cdef" "${folder}/native.prelude"
    VERBATIM)
  set(target "${package}_native")
  Python_add_library(${target} MODULE USE_SABI 3.11 WITH_SOABI "${folder}/_native.c")
  set_target_properties(${target} PROPERTIES OUTPUT_NAME _native
                        LIBRARY_OUTPUT_DIRECTORY "${folder}")
  # cffi's generated code, not ours: its warnings are not errors.
  target_compile_options(${target} PRIVATE -Wno-error -w)
  target_link_libraries(${target} PRIVATE sizeup)
  install(TARGETS ${target} LIBRARY DESTINATION ${package})
endfunction()
