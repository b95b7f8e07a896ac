# Finds cncc and lets a project build .mlu files beside C++ ones.
#
#   set(CMAKE_MODULE_PATH ${CMAKE_MODULE_PATH} $ENV{NEUWARE_HOME}/cmake/modules)
#   find_package(BANG)
#   bang_add_executable(demo main.cpp kernel.mlu)
#   bang_add_library(kernels SHARED a.mlu b.cpp)
#
# Defines BANG_FOUND, BANG_CNCC_EXECUTABLE, NEUWARE_ROOT_DIR. Reads BANG_CNCC_FLAGS: options of every .mlu file, as a list
# or as one string, and BANG_CNCC_INCLUDE_ARGS: more of them, -Ifolder. A target's own include directories and definitions
# reach its .mlu files too.
if(POLICY CMP0116)
  cmake_policy(SET CMP0116 NEW)  # else projects for an old CMake compile every .mlu file each time
endif()
get_filename_component(_bang_prefix ${CMAKE_CURRENT_LIST_DIR}/../.. ABSOLUTE)
set(NEUWARE_ROOT_DIR ${_bang_prefix})
find_program(BANG_CNCC_EXECUTABLE cncc PATHS ${_bang_prefix}/bin NO_DEFAULT_PATH)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(BANG REQUIRED_VARS BANG_CNCC_EXECUTABLE NEUWARE_ROOT_DIR)

# Adds a rule for one .mlu file of a target; the object's path goes to <out>.
function(_bang_object target source out)
  get_filename_component(path ${source} ABSOLUTE)
  string(MAKE_C_IDENTIFIER ${source} name)
  set(object ${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/${target}.dir/${name}.o)
  set(flags ${BANG_CNCC_FLAGS} ${BANG_CNCC_INCLUDE_ARGS})
  separate_arguments(flags)
  set(directories $<TARGET_PROPERTY:${target},INCLUDE_DIRECTORIES>)
  set(definitions $<TARGET_PROPERTY:${target},COMPILE_DEFINITIONS>)
  add_custom_command(
    OUTPUT ${object}
    COMMAND ${BANG_CNCC_EXECUTABLE} ${flags} -fPIC "$<$<BOOL:${directories}>:-I$<JOIN:${directories},;-I>>"
            "$<$<BOOL:${definitions}>:-D$<JOIN:${definitions},;-D>>" -MD -MF ${object}.d -c ${path} -o ${object}
    MAIN_DEPENDENCY ${path}
    DEPENDS ${BANG_CNCC_EXECUTABLE}
    DEPFILE ${object}.d
    COMMAND_EXPAND_LISTS VERBATIM
    COMMENT "Building BANG object ${source}")
  set_source_files_properties(${object} PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
  set(${out} ${object} PARENT_SCOPE)
endfunction()

# Replaces the .mlu files of a list by their objects.
function(_bang_sources target out)
  set(result "")
  foreach(source ${ARGN})
    if(source MATCHES "\\.mlu$")
      _bang_object(${target} ${source} object)
      list(APPEND result ${object})
    else()
      list(APPEND result ${source})
    endif()
  endforeach()
  set(${out} ${result} PARENT_SCOPE)
endfunction()

function(_bang_link target)
  target_include_directories(${target} PRIVATE ${NEUWARE_ROOT_DIR}/include)
  target_link_directories(${target} PUBLIC ${NEUWARE_ROOT_DIR}/lib64)
  # Not by target_link_libraries(): the project's own calls choose whether they name PUBLIC and PRIVATE, and must agree.
  set_property(TARGET ${target} APPEND PROPERTY LINK_LIBRARIES cnrt)
  set_property(TARGET ${target} APPEND PROPERTY INTERFACE_LINK_LIBRARIES cnrt)
  set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX BUILD_RPATH ${NEUWARE_ROOT_DIR}/lib64)
endfunction()

# bang_add_executable(<target> <files>...)
macro(bang_add_executable target)
  _bang_sources(${target} _bang_files ${ARGN})
  add_executable(${target} ${_bang_files})
  _bang_link(${target})
endmacro()

# bang_add_library(<target> [STATIC|SHARED|MODULE] <files>...)
macro(bang_add_library target)
  _bang_sources(${target} _bang_files ${ARGN})
  add_library(${target} ${_bang_files})
  _bang_link(${target})
endmacro()
