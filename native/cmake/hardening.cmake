# What makes a fault in the C code harder to exploit, as far as this compiler, linker and C library know it.
include(CheckCCompilerFlag)
include(CheckCSourceCompiles)
include(CheckLinkerFlag)

# sizeup_harden(FLAG...) - Use the first of these compiler flags that works.
function(sizeup_harden)
  foreach(flag ${ARGN})
    string(MAKE_C_IDENTIFIER "SIZEUP_HAS${flag}" known)
    check_c_compiler_flag("${flag}" ${known})
    if(${known})
      add_compile_options("${flag}")
      return()
    endif()
  endforeach()
endfunction()

sizeup_harden(-fstack-protector-strong -fstack-protector)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64|i.86")
  sizeup_harden(-fcf-protection=full)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
  sizeup_harden(-mbranch-protection=standard)
endif()

foreach(option relro now noexecstack)
  check_linker_flag(C "-Wl,-z,${option}" SIZEUP_LINKS_${option})
  if(SIZEUP_LINKS_${option})
    add_link_options("-Wl,-z,${option}")
  endif()
endforeach()

# Checks the sizes of buffers where the compiler knows them; it needs an optimizer, and glibc warns about a level that
# the compiler is too old for. A sanitizer checks more, and knows only the plain functions.
if(NOT SIZEUP_SANITIZE)
  foreach(level 3 2)
    set(CMAKE_REQUIRED_FLAGS "-O2 -Werror -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=${level}")
    check_c_source_compiles("#include <string.h>\nint main(void) { return 0; }" SIZEUP_FORTIFIES_${level})
    unset(CMAKE_REQUIRED_FLAGS)
    if(SIZEUP_FORTIFIES_${level})
      add_compile_options("$<$<CONFIG:Release,RelWithDebInfo,MinSizeRel>:-U_FORTIFY_SOURCE>"
                          "$<$<CONFIG:Release,RelWithDebInfo,MinSizeRel>:-D_FORTIFY_SOURCE=${level}>")
      break()
    endif()
  endforeach()
endif()
