# lockstep_library(NAME): one folder = one static library. Links are PRIVATE, so a folder reaches only what it names;
# what a folder's own headers show (base types) is PUBLIC. tests/tidy checks the include table on top of that.
#   lockstep_library(core_wire SOURCES a.cpp b.cpp PUBLIC core_base PRIVATE xxhash)
function(lockstep_library name)
  cmake_parse_arguments(ARG "QT" "" "SOURCES;PUBLIC;PRIVATE" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_include_directories(${name} PUBLIC "${PROJECT_SOURCE_DIR}")
  target_link_libraries(${name} PUBLIC ${ARG_PUBLIC} PRIVATE ${ARG_PRIVATE} lockstep_warnings)
  if(ARG_QT)
    lockstep_qt(${name})
  endif()
endfunction()

# Qt targets: moc, and the strict string and keyword rules.
function(lockstep_qt name)
  set_target_properties(${name} PROPERTIES AUTOMOC ON AUTOUIC ON AUTORCC ON)
  target_compile_definitions(${name} PRIVATE QT_NO_KEYWORDS QT_NO_CAST_TO_ASCII QT_NO_CAST_FROM_BYTEARRAY
    QT_NO_URL_CAST_FROM_STRING QT_NO_FOREACH QT_NO_NARROWING_CONVERSIONS_IN_CONNECT QT_STRICT_ITERATORS)
endfunction()

# lockstep_test(tst_x SOURCES tst_x.cpp LIBS core_base LABELS fast): one Qt Test program. Tests find the source tree, the
# programs and the shared corpus through compile-time paths, and run with the offscreen platform unless they say otherwise.
# CTest alone limits the time: Qt Test would abort a function after five minutes, which a busy machine can need.
function(lockstep_test name)
  cmake_parse_arguments(ARG "" "TIMEOUT;PLATFORM" "SOURCES;LIBS;LABELS" ${ARGN})
  if(NOT ARG_SOURCES)
    set(ARG_SOURCES ${name}.cpp)
  endif()
  if(NOT ARG_PLATFORM)
    set(ARG_PLATFORM offscreen)
  endif()
  add_executable(${name} ${ARG_SOURCES})
  lockstep_qt(${name})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/tests")
  target_link_libraries(${name} PRIVATE ${ARG_LIBS} Qt6::Test Qt6::Core lockstep_warnings)
  target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}" "${PROJECT_SOURCE_DIR}/tests")
  target_compile_options(${name} PRIVATE -O1) # what they test is optimised; they themselves compile a fifth faster
  target_compile_definitions(${name} PRIVATE
    LOCKSTEP_SOURCE_DIR="${PROJECT_SOURCE_DIR}" LOCKSTEP_BIN_DIR="${CMAKE_BINARY_DIR}/bin"
    LOCKSTEP_TEST_DATA="${PROJECT_SOURCE_DIR}/tests/data" LOCKSTEP_SHARED_DIR="${PROJECT_SOURCE_DIR}/../shared"
    LOCKSTEP_VENV_PYTHON="${PROJECT_SOURCE_DIR}/.venv/bin/python")
  add_test(NAME ${name} COMMAND ${name})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 120)
  endif()
  set_tests_properties(${name} PROPERTIES TIMEOUT ${ARG_TIMEOUT} LABELS "${ARG_LABELS}"
    ENVIRONMENT "QT_QPA_PLATFORM=${ARG_PLATFORM};QT_FATAL_WARNINGS=0;OMP_NUM_THREADS=1;QTEST_FUNCTION_TIMEOUT=3600000")
endfunction()
