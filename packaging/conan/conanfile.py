from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, get, rmdir
from conan.tools.scm import Version
import os

required_conan_version = ">=2.0"


class MluopHostConan(ConanFile):
    name = "mluop-host"
    version = "0.2.0"
    description = "Cambricon's mluOp operators on CPUs, with an emulated MLU as a second backend"
    license = "MIT"
    topics = ("computer-vision", "point-cloud", "operators", "emulation")
    package_type = "shared-library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"openmp": [True, False], "tbb": [True, False], "onnxruntime": [True, False]}
    default_options = {"openmp": True, "tbb": False, "onnxruntime": False}

    def layout(self):
        cmake_layout(self, src_folder="src")

    def requirements(self):
        self.requires("highway/[>=1.0.3 <2]")
        if self.options.tbb:
            self.requires("onetbb/[>=2021.8]")

    def build_requirements(self):
        self.tool_requires("cmake/[>=3.25]")
        self.tool_requires("ninja/[>=1.10]")

    def validate(self):
        check_min_cppstd(self, 20)
        if self.settings.os != "Linux" or self.settings.arch not in ("x86_64", "armv8"):
            raise ConanInvalidConfiguration("mluop-host is tested on Linux, on x86-64 and aarch64")
        if self.settings.compiler == "gcc" and Version(self.settings.compiler.version) < "12":
            raise ConanInvalidConfiguration("mluop-host needs g++ 12 or newer")

    def source(self):
        # Only the recipe of an index has data. In this repository, export_sources() provides the sources.
        if self.conan_data:
            get(self, **self.conan_data["sources"][self.version], strip_root=True)

    def export_sources(self):
        root = os.path.join(self.recipe_folder, "..", "..")
        for pattern in ("CMakeLists.txt", "LICENSE", "api/*", "backends/*", "common/*", "cmake/*", "page/*"):
            copy(self, pattern, root, os.path.join(self.export_sources_folder, "src"), excludes="*.pyc")

    def generate(self):
        toolchain = CMakeToolchain(self, generator="Ninja")
        for part in ("TESTS", "BENCH", "NEUWARE"):
            toolchain.cache_variables[f"MLUOPS_BUILD_{part}"] = False
        toolchain.cache_variables["MLUOPS_BUILD_ONNXRUNTIME"] = bool(self.options.onnxruntime)
        toolchain.cache_variables["MLUOPS_OPENMP"] = bool(self.options.openmp)
        toolchain.cache_variables["MLUOPS_TBB"] = bool(self.options.tbb)
        toolchain.generate()
        deps = CMakeDeps(self)
        deps.set_property("highway", "cmake_file_name", "HWY")  # the name of Highway's own package
        deps.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        CMake(self).install()
        rmdir(self, os.path.join(self.package_folder, "lib", "cmake"))
        rmdir(self, os.path.join(self.package_folder, "lib", "pkgconfig"))

    def package_info(self):
        self.cpp_info.set_property("cmake_file_name", "mluops")
        self.cpp_info.set_property("cmake_target_name", "mluops::mluops")
        self.cpp_info.set_property("pkg_config_name", "mluops")
        self.cpp_info.includedirs = [os.path.join("include", "mluops-host")]
        self.cpp_info.libs = ["mluops"]
