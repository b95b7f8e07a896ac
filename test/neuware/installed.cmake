# Installs the toolchain alone, builds examples/bang with find_package(BANG) against it, runs its programs and what
# docs/kernel_author.md shows.
function(must)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE code OUTPUT_VARIABLE out ERROR_VARIABLE out)
  if(NOT code EQUAL 0)
    list(JOIN ARGN " " line)
    message(FATAL_ERROR "${line}\n${out}")
  endif()
endfunction()

file(REMOVE_RECURSE ${WORK_DIR})
must(${CMAKE_COMMAND} --install ${BUILD_DIR} --prefix ${WORK_DIR}/prefix --component neuware)
must(${CMAKE_COMMAND} -G Ninja -S ${EXAMPLES} -B ${WORK_DIR}/build -DNEUWARE_HOME=${WORK_DIR}/prefix/neuware
     -DCMAKE_CXX_COMPILER=${CXX_COMPILER})
must(${CMAKE_COMMAND} --build ${WORK_DIR}/build)
foreach(example vector_add ping_pong_copy tiled_convolution cluster_sum)
  must(${WORK_DIR}/build/${example})
endforeach()

# The first kernel of docs/kernel_author.md, by the commands below it.
file(READ ${DOCS}/kernel_author.md page)
if(NOT page MATCHES "```cpp\n([^`]*)```[^`]*```sh[^\n]*\n([^`]*)```")
  message(FATAL_ERROR "docs/kernel_author.md has no first kernel")
endif()
file(WRITE ${WORK_DIR}/scale.mlu "${CMAKE_MATCH_1}")
execute_process(COMMAND ${CMAKE_COMMAND} -E env NEUWARE_HOME=${WORK_DIR}/prefix/neuware sh -ec "${CMAKE_MATCH_2}"
                WORKING_DIRECTORY ${WORK_DIR} RESULT_VARIABLE code OUTPUT_VARIABLE out ERROR_VARIABLE out)
if(NOT code EQUAL 0 OR NOT out STREQUAL "6\n")
  message(FATAL_ERROR "the first kernel of docs/kernel_author.md: ${code}, ${out}")
endif()

# A project written for an old CMake, which links in CMake's plain form. Its second build has nothing to do.
file(MAKE_DIRECTORY ${WORK_DIR}/old/options)
file(WRITE ${WORK_DIR}/old/options/answer.h "#define ANSWER 42\n#include <cnpapi.h>\n")
file(WRITE ${WORK_DIR}/old/kernel.mlu "#include <mlu.h>\n#include \"answer.h\"\n__mlu_entry__ void k() {}\n"
     "int answer() { k<<<cnrtDim3_t{1, 1, 1}, cnrtFuncTypeBlock, nullptr>>>(); return ANSWER; }\n")
file(WRITE ${WORK_DIR}/old/main.cpp "int answer();\nint main() { return answer() - 42; }\n")
file(WRITE ${WORK_DIR}/old/CMakeLists.txt "cmake_minimum_required(VERSION 3.5)\nproject(old CXX)\n"
     "list(APPEND CMAKE_MODULE_PATH \${NEUWARE_HOME}/cmake/modules)\nfind_package(BANG REQUIRED)\n"
     "list(APPEND BANG_CNCC_INCLUDE_ARGS -I\${CMAKE_CURRENT_SOURCE_DIR}/options)\n"
     "bang_add_library(kernels STATIC kernel.mlu)\ntarget_link_libraries(kernels cnrt)\n"
     "add_executable(old main.cpp)\ntarget_link_libraries(old kernels)\n")
must(${CMAKE_COMMAND} -G Ninja -S ${WORK_DIR}/old -B ${WORK_DIR}/old/build -DNEUWARE_HOME=${WORK_DIR}/prefix/neuware
     -DCMAKE_CXX_COMPILER=${CXX_COMPILER})
must(${CMAKE_COMMAND} --build ${WORK_DIR}/old/build)
must(${WORK_DIR}/old/build/old)
execute_process(COMMAND ${CMAKE_COMMAND} --build ${WORK_DIR}/old/build OUTPUT_VARIABLE out)
if(NOT out MATCHES "no work to do")
  message(FATAL_ERROR "a second build of a project for an old CMake: ${out}")
endif()

# The page about a program's launches.
function(expect_on_page program)
  execute_process(COMMAND ${CMAKE_COMMAND} -E env MLUOP_EMU_REPORT=${WORK_DIR}/page.html ${program} OUTPUT_QUIET
                          ERROR_QUIET)
  file(READ ${WORK_DIR}/page.html page)
  foreach(part ${ARGN})
    string(FIND "${page}" "${part}" found)
    if(found EQUAL -1)
      message(FATAL_ERROR "the page about ${program} lacks \"${part}\"")
    endif()
  endforeach()
endfunction()
expect_on_page(${WORK_DIR}/build/vector_add "\"kind\": \"launches\"" "\"name\": \"mtp_592\"" "IO-DMA"
               "vector_add.mlu" "__bang_add" "a_nram" "block 1" "% of the time" "\"two_buffers\"" "__bang_add(out_nram[slot]")

# Each seeded bug of docs/kernel_author.md is found, with the text that page promises.
function(expect_bug name source from to text)
  file(READ ${EXAMPLES}/${source} content)
  string(REPLACE "${from}" "${to}" seeded "${content}")
  if(seeded STREQUAL content)
    message(FATAL_ERROR "${source} has no \"${from}\"")
  endif()
  file(WRITE ${WORK_DIR}/${name}.mlu "${seeded}")
  must(${WORK_DIR}/prefix/neuware/bin/cncc -O1 --bang-mlu-arch=mtp_592 ${WORK_DIR}/${name}.mlu -o ${WORK_DIR}/${name})
  execute_process(COMMAND ${WORK_DIR}/${name} RESULT_VARIABLE code OUTPUT_VARIABLE out ERROR_VARIABLE out)
  string(FIND "${out}" "${text}" found)
  if(code EQUAL 0 OR found EQUAL -1)
    message(FATAL_ERROR "${name}: wanted \"${text}\", got ${code}: ${out}")
  endif()
endfunction()

expect_bug(no_barrier vector_add.mlu "    __sync();" "" "the target of a copy still in flight")
expect_bug(overlap vector_add.mlu "begin += step" "begin += step - CHUNK" "was written by another task of this launch, task ")
expect_bug(no_end vector_add.mlu "std::min(CHUNK, n - begin)" "CHUNK" "outside of the tensor's 4000012 bytes")
expect_bug(no_load vector_add.mlu "  __memcpy_async(b_nram[slot], b + begin, count * sizeof(float), GDRAM2NRAM);" ""
           "never written, or computed from what never was")
expect_bug(too_large vector_add.mlu "CHUNK 4096" "CHUNK 65536" "are left by the objects before it")
expect_bug(no_stages ping_pong_copy.mlu "    __sync();" "" "the target of a copy still in flight on another engine")
expect_bug(no_border tiled_convolution.mlu "  __bang_write_value(tile, (ROWS + 2) * PADDED, 0.0f);" ""
           "2000 bytes: never written, or computed from what never was, at sums+0 (NRAM offset 68608, declared at")
expect_bug(one_waits cluster_sum.mlu "  __sync_cluster();\n  if (coreId == 0) {"
           "  if (coreId == 0) {\n    __sync_cluster();" "deadlock: task 0 waited, missing: task 1 (ended)")

# mluops_check tells of faults, passes on the rest.
execute_process(COMMAND ${WORK_DIR}/prefix/neuware/bin/mluops_check --report ${WORK_DIR}/found.sarif -- ${WORK_DIR}/overlap
                RESULT_VARIABLE code OUTPUT_VARIABLE out ERROR_QUIET)
file(READ ${WORK_DIR}/found.sarif sarif)
string(JSON line ERROR_VARIABLE wrong GET ${sarif} runs 0 results 0 locations 0 physicalLocation region startLine)
if(code EQUAL 0 OR NOT wrong STREQUAL "NOTFOUND" OR NOT out MATCHES "overlap.mlu:${line}: error: .*\n1 faults, 0 warnings")
  message(FATAL_ERROR "mluops_check of a wrong program: ${code}, line ${line}: ${out}")
endif()
execute_process(COMMAND ${WORK_DIR}/prefix/neuware/bin/mluops_check --warnings-are-errors ${WORK_DIR}/build/vector_add
                RESULT_VARIABLE code OUTPUT_VARIABLE out)
if(NOT code EQUAL 0 OR NOT out MATCHES "0 faults, 0 warnings")
  message(FATAL_ERROR "mluops_check of a right program: ${code}: ${out}")
endif()
expect_on_page(${WORK_DIR}/one_waits "one_waits.mlu" "deadlock: task 0 waited")
