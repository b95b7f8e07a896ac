# A Debian machine's own packages instead of ConanCenter's, and two operator families, to try the recipe in five minutes of CPU time:
#   conan create packaging/conan -pr:a packaging/conan/trial.profile --no-remote
[settings]
os=Linux
arch=x86_64
compiler=gcc
compiler.version=12
compiler.libcxx=libstdc++11
compiler.cppstd=20
build_type=Release
[platform_requires]
highway/1.0.3
[platform_tool_requires]
cmake/3.25.1
ninja/1.11.1
[conf]
tools.cmake.cmaketoolchain:extra_variables={"MLUOPS_OPERATORS": "roi_align;nms", "MLUOPS_LEVELS": "native"}
tools.build:jobs=2
