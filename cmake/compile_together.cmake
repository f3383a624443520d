# Where sources are compiled together, those of a folder of sim/, or of another folder with sources, are, as one unit: each unit of
# its own reads the same headers and instantiates the same templates once more. Subfolders named in APART are units of their own,
# because they are large. Names in unnamed namespaces must therefore be unique within a unit.
function(gradway_compile_together target)
  cmake_parse_arguments(ARG "" "" "APART;SOURCES" ${ARGN})
  set_target_properties(${target} PROPERTIES UNITY_BUILD_MODE GROUP)
  foreach(source ${ARG_SOURCES})
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE path)
    string(REGEX REPLACE "^sim/" "" path "${path}")
    string(REGEX REPLACE "/.*" "" unit "${path}")
    foreach(folder ${ARG_APART})
      if(path MATCHES "^[^/]*/${folder}/")
        string(APPEND unit "_${folder}")
      endif()
    endforeach()
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${unit})
  endforeach()
endfunction()
