"""Builds the engine with CMake and puts it into the Python package (pyproject.toml says the rest).

SOTTO_BUILD_DIR names a build folder that exists already, configured with SOTTO_PYTHON=ON, to take the engine from.
"""
import os
import pathlib
import re
import subprocess
import sys

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

ROOT = pathlib.Path(__file__).resolve().parent
OUTPUT = pathlib.Path("build", "wheel")  # all that setuptools itself leaves behind


def engine_version():
    return re.search(r"project\(sotto VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text())[1]


class BuildEngine(build_ext):
    def run(self):
        folder = os.environ.get("SOTTO_BUILD_DIR")
        if not folder:
            folder = ROOT / "build" / f"python-{sys.implementation.cache_tag}"
            self.configure(folder)
        subprocess.check_call(["cmake", "--build", folder, "--target", "sotto_python", "sotto_probe"])
        package_home = "python" if self.inplace else self.build_lib
        subprocess.check_call(["cmake", "--install", folder, "--component", "python", "--prefix", package_home])

    @staticmethod
    def configure(folder):
        arguments = ["-DCMAKE_BUILD_TYPE=Release", "-DSOTTO_TESTS=OFF", "-DSOTTO_PYTHON=ON"]
        arguments.append(f"-DPython_EXECUTABLE={sys.executable}")
        try:
            import pybind11  # where pip has installed it; otherwise CMake finds the system's

            arguments.append(f"-Dpybind11_DIR={pybind11.get_cmake_dir()}")
        except ImportError:
            pass
        subprocess.check_call(["cmake", "-S", ROOT, "-B", folder, "-G", "Ninja", *arguments])


OUTPUT.mkdir(parents=True, exist_ok=True)
setup(
    version=engine_version(),
    ext_modules=[Extension("sotto._native", sources=[])],
    cmdclass={"build_ext": BuildEngine},
    options={"build": {"build_base": str(OUTPUT)}, "egg_info": {"egg_base": str(OUTPUT)}},
)
