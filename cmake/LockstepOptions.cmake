# Language level, warnings, sanitizers and output folders: everything that holds for every target of ours.
include(FeatureSummary)
include(GNUInstallDirs)

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
# Never -ffast-math: it removes the NaN tests and changes the bits the product compares.
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -g1")

set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib")

find_program(LOCKSTEP_CCACHE ccache)
if(LOCKSTEP_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CMAKE_COMMAND}" -E env CCACHE_SLOPPINESS=pch_defines,time_macros "${LOCKSTEP_CCACHE}")
endif()
find_program(LOCKSTEP_LLD ld.lld)
if(LOCKSTEP_LLD)
  add_link_options(-fuse-ld=lld)
endif()

if(LOCKSTEP_SANITIZE)
  string(REPLACE ";" "," sanitizers "${LOCKSTEP_SANITIZE}")
  add_compile_options(-fsanitize=${sanitizers} -fno-omit-frame-pointer -g1 -O1)
  if("undefined" IN_LIST LOCKSTEP_SANITIZE)
    add_compile_options(-fno-sanitize-recover=undefined)
  endif()
  add_link_options(-fsanitize=${sanitizers})
endif()

add_library(lockstep_warnings INTERFACE)
target_compile_options(lockstep_warnings INTERFACE -Wall -Wextra -Wnon-virtual-dtor -Woverloaded-virtual
  $<$<BOOL:${LOCKSTEP_WERROR}>:-Werror>)
