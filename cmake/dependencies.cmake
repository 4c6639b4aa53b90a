# Everything comes from Debian's packages (tools/setup installs them); nothing is downloaded here.
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
find_package(nlohmann_json 3.9 REQUIRED)
find_package(ZLIB REQUIRED)
find_package(CLI11 REQUIRED)
find_package(tomlplusplus REQUIRED)  # its headers alone: nothing of it is linked
find_package(PkgConfig REQUIRED)
pkg_check_modules(FFMPEG REQUIRED IMPORTED_TARGET libavformat libavcodec libavutil libswresample)
pkg_check_modules(KISSFFT REQUIRED IMPORTED_TARGET kissfft-float)
