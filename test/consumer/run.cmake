# Installs BUILD_DIR, moves what was installed, and builds PROJECT_DIR and the C programs, C++ programs and plugin of
# EXAMPLES_DIR against it: with CMake and, if there is one, with pkg-config. Runs the programs.
function(must)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE code OUTPUT_VARIABLE out ERROR_VARIABLE out)
  if(NOT code EQUAL 0)
    list(JOIN ARGN " " line)
    message(FATAL_ERROR "${line}\n${out}")
  endif()
endfunction()

set(prefix ${WORK_DIR}/moved)
file(REMOVE_RECURSE ${WORK_DIR})
must(${CMAKE_COMMAND} --install ${BUILD_DIR} --prefix ${WORK_DIR}/prefix)
file(RENAME ${WORK_DIR}/prefix ${prefix})

must(${CMAKE_COMMAND} -G Ninja -S ${PROJECT_DIR} -B ${WORK_DIR}/build -DCMAKE_PREFIX_PATH=${prefix} -DWANTED_VERSION=${VERSION}
     -DCMAKE_C_COMPILER=${C_COMPILER} -DCMAKE_CXX_COMPILER=${CXX_COMPILER})
must(${CMAKE_COMMAND} --build ${WORK_DIR}/build)
must(${WORK_DIR}/build/sample)
must(${WORK_DIR}/build/abi)

must(${CMAKE_COMMAND} -G Ninja -S ${EXAMPLES_DIR}/cpp -B ${WORK_DIR}/cpp -DCMAKE_PREFIX_PATH=${prefix}
     -DCMAKE_CXX_COMPILER=${CXX_COMPILER})
must(${CMAKE_COMMAND} --build ${WORK_DIR}/cpp)
must(${WORK_DIR}/cpp/nms)

must(${CMAKE_COMMAND} -G Ninja -S ${EXAMPLES_DIR}/plugin -B ${WORK_DIR}/plugin -DCMAKE_PREFIX_PATH=${prefix}
     -DCMAKE_C_COMPILER=${C_COMPILER})
must(${CMAKE_COMMAND} --build ${WORK_DIR}/plugin)
must(${CMAKE_COMMAND} -E env MLUOP_BACKEND_PATH=${WORK_DIR}/plugin/mine.so MLUOP_BACKEND=mine,cpu
     ${WORK_DIR}/plugin/use_mine)

find_program(pkg_config pkg-config)
if(pkg_config)
  file(GLOB_RECURSE description ${prefix}/mluops.pc)
  cmake_path(GET description PARENT_PATH folder)
  execute_process(COMMAND ${CMAKE_COMMAND} -E env PKG_CONFIG_LIBDIR=${folder} ${pkg_config} --cflags --libs mluops
                  OUTPUT_VARIABLE flags OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  separate_arguments(flags UNIX_COMMAND "${flags}")
  cmake_path(GET folder PARENT_PATH libdir)
  must(${CXX_COMPILER} -std=c++11 ${PROJECT_DIR}/sample.cpp ${flags} -Wl,-rpath,${libdir} -o ${WORK_DIR}/sample)
  must(${WORK_DIR}/sample)
  must(${C_COMPILER} -std=c99 -Wall -Wextra -Werror ${EXAMPLES_DIR}/c/roi_align.c ${flags} -Wl,-rpath,${libdir}
       -o ${WORK_DIR}/roi_align)
  must(${WORK_DIR}/roi_align)
  must(${CMAKE_COMMAND} -E env MLUOP_BACKEND=mlu_emu,cpu ${WORK_DIR}/roi_align)
endif()
