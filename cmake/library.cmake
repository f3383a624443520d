include(${CMAKE_CURRENT_LIST_DIR}/compile_together.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/tables.cmake)

# What takes no part in a simulation is compiled with fewer optimisations: that takes a third off its time.
set(quick_to_compile $<$<CONFIG:Release>:-O1>)
# GCC looks for unused memory whenever its heap has doubled, from 128 MB (see its manual); the
# largest units spend a tenth of their time there, for some 200 MB less.
set(rare_collections $<$<COMPILE_LANG_AND_ID:CXX,GNU>:--param=ggc-min-heapsize=400000>) # kB

# A library of the folder of its name, or of FOLDERS; the order of the calls is that of the layers: a library
# links only what was declared before it. Folders named "module" are loaded at run time and not part of it.
function(gradway_library name)
  cmake_parse_arguments(ARG "QUICK_TO_COMPILE" "" "APART;DEPENDS;FOLDERS" ${ARGN})
  if(NOT ARG_FOLDERS)
    set(ARG_FOLDERS ${name})
  endif()
  list(TRANSFORM ARG_FOLDERS REPLACE ".+" "${CMAKE_CURRENT_SOURCE_DIR}/\\0/*.cpp")
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${ARG_FOLDERS})
  list(FILTER sources EXCLUDE REGEX "/module/")
  add_library(gradway_${name} STATIC ${sources})
  gradway_compile_together(gradway_${name} APART ${ARG_APART} SOURCES ${sources})
  target_include_directories(gradway_${name} PUBLIC ${PROJECT_SOURCE_DIR})
  target_link_libraries(gradway_${name} PUBLIC ${ARG_DEPENDS})
  target_compile_options(gradway_${name} PRIVATE ${rare_collections})
  if(ARG_QUICK_TO_COMPILE)
    target_compile_options(gradway_${name} PRIVATE ${quick_to_compile})
  endif()
endfunction()

# A shared library of SOURCES that the program loads when it needs it (see sim/base/module.hpp), and USER builds along.
function(gradway_module name)
  cmake_parse_arguments(ARG "" "USER" "SOURCES;DEPENDS" ${ARGN})
  add_library(gradway_${name} MODULE ${ARG_SOURCES})
  target_include_directories(gradway_${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(gradway_${name} PRIVATE ${ARG_DEPENDS})
  target_compile_options(gradway_${name} PRIVATE ${quick_to_compile} ${rare_collections})
  set_target_properties(gradway_${name} PROPERTIES
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR} CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  add_dependencies(${ARG_USER} gradway_${name})
  install(TARGETS gradway_${name} DESTINATION lib/gradway)
endfunction()
