# Compiles the GPU kernels ahead of time and puts them into the library, with a table of what is there. Each compiler is
# optional: without it fewer images are made, and the library says so when it meets a chip that it has none for.
set(SOTTO_CUDA_ARCHITECTURES "75;80;86;89;90a;90-ptx" CACHE STRING
  "Chips that nvcc makes code for; -ptx: code that the driver translates for later chips. Needs drivers of nvcc's own version")
set(SOTTO_PTX_ARCHITECTURES "75;80" CACHE STRING
  "Chips that clang 15 makes PTX for, which drivers from 525 on translate for these and all later chips")
set(SOTTO_HIP_ARCHITECTURES
  "gfx900;gfx906;gfx908;gfx90a;gfx1010;gfx1011;gfx1012;gfx1030;gfx1031;gfx1032;gfx1033;gfx1034;gfx1035;gfx1036;gfx1100;gfx1101;gfx1102;gfx1103" CACHE STRING
  "AMD chips that clang makes code for")

find_program(SOTTO_NVCC nvcc HINTS /usr/local/cuda/bin ENV CUDA_HOME PATH_SUFFIXES bin)
find_program(SOTTO_PTX_CLANG NAMES clang-15)
# What hipcc calls. The kernels need none of HIP's headers and libraries, so nothing else of it is needed, but lld.
find_program(SOTTO_HIP_CLANG NAMES amdclang++ clang-15 HINTS /opt/rocm/llvm/bin)

set(gpu_image_folder ${PROJECT_BINARY_DIR}/gpu_images)
set(gpu_kernel_folder ${PROJECT_SOURCE_DIR}/src/backend/gpu/kernels)
file(MAKE_DIRECTORY ${gpu_image_folder})
set(gpu_image_files)
set(gpu_image_data)   # assembler
set(gpu_image_names)  # declarations
set(gpu_image_table)  # entries

# One source compiled for one chip.
#   gpu_image(VENDOR nvidia FORM cubin PATH simt ARCHITECTURE sm_90a DRIVER 13000 COMPILER "nvcc 13.0" COMMAND nvcc ...)
# -o, the dependencies and the source are added to the command.
function(gpu_image)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "VENDOR;FORM;PATH;ARCHITECTURE;DRIVER;COMPILER" "COMMAND")
  set(sources_simt simt.cu)
  set(sources_mma mma.cu)
  set(sources_wgmma hopper.cu)
  set(source ${gpu_kernel_folder}/${sources_${arg_PATH}})
  set(symbol ${arg_PATH}_${arg_ARCHITECTURE}_${arg_FORM}_${arg_DRIVER})
  set(file ${gpu_image_folder}/${symbol})
  add_custom_command(OUTPUT ${file}
    COMMAND ${arg_COMMAND} -MD -MF ${file}.d -I ${PROJECT_SOURCE_DIR}/src -o ${file} ${source}
    DEPENDS ${source} DEPFILE ${file}.d VERBATIM
    COMMENT "GPU kernels: ${arg_PATH} for ${arg_ARCHITECTURE} (${arg_FORM})")
  string(APPEND gpu_image_data
    "  .balign 64\n  .global sotto_gpu_${symbol}\n  .hidden sotto_gpu_${symbol}\nsotto_gpu_${symbol}:\n"
    "  .incbin \"${file}\"\n"
    "  .global sotto_gpu_${symbol}_end\n  .hidden sotto_gpu_${symbol}_end\nsotto_gpu_${symbol}_end:\n  .byte 0\n")
  string(APPEND gpu_image_names
    "extern \"C\" const std::byte sotto_gpu_${symbol}[], sotto_gpu_${symbol}_end[];\n")
  string(APPEND gpu_image_table
    "    {Vendor::${arg_VENDOR}, Image::Form::${arg_FORM}, Path::${arg_PATH}, \"${arg_ARCHITECTURE}\", ${arg_DRIVER},\n"
    "     \"${arg_ARCHITECTURE} ${arg_FORM} (${arg_COMPILER})\", sotto_gpu_${symbol}, sotto_gpu_${symbol}_end},\n")
  list(APPEND gpu_image_files ${file})
  return(PROPAGATE gpu_image_files gpu_image_data gpu_image_names gpu_image_table)
endfunction()

if(SOTTO_NVCC AND SOTTO_CUDA_ARCHITECTURES)
  execute_process(COMMAND ${SOTTO_NVCC} --version OUTPUT_VARIABLE nvcc_version)
  string(REGEX MATCH "release ([0-9]+)\\.([0-9]+)" nvcc_version "${nvcc_version}")
  math(EXPR nvcc_oldest "${CMAKE_MATCH_1} * 1000")                 # code runs on every driver of the same major version
  math(EXPR nvcc_own "${nvcc_oldest} + ${CMAKE_MATCH_2} * 10")     # PTX needs its own version
  set(nvcc_name "nvcc ${CMAKE_MATCH_1}.${CMAKE_MATCH_2}")
  foreach(chip IN LISTS SOTTO_CUDA_ARCHITECTURES)
    set(paths simt)
    string(REGEX MATCH "^[0-9]+" capability ${chip})
    if(capability GREATER_EQUAL 80)
      list(APPEND paths mma)
    endif()
    if(chip STREQUAL 90a)
      list(APPEND paths wgmma)
    endif()
    foreach(path IN LISTS paths)
      if(chip MATCHES "-ptx$")
        gpu_image(VENDOR nvidia FORM ptx PATH ${path} ARCHITECTURE sm_${capability} DRIVER ${nvcc_own} COMPILER ${nvcc_name}
          COMMAND ${SOTTO_NVCC} -std=c++20 -O3 -ptx -arch=compute_${capability})
      else()
        gpu_image(VENDOR nvidia FORM cubin PATH ${path} ARCHITECTURE sm_${chip} DRIVER ${nvcc_oldest} COMPILER ${nvcc_name}
          COMMAND ${SOTTO_NVCC} -std=c++20 -O3 -cubin -arch=sm_${chip})
      endif()
    endforeach()
  endforeach()
  message(STATUS "GPU kernels for NVIDIA by ${nvcc_name}: ${SOTTO_CUDA_ARCHITECTURES}")
elseif(SOTTO_CUDA_ARCHITECTURES)
  message(STATUS "No nvcc: no kernels made for NVIDIA's newest drivers in particular")
endif()

if(SOTTO_PTX_CLANG AND SOTTO_PTX_ARCHITECTURES)
  foreach(chip IN LISTS SOTTO_PTX_ARCHITECTURES)
    set(paths simt)
    if(chip GREATER_EQUAL 80)
      list(APPEND paths mma)
    endif()
    foreach(path IN LISTS paths)
      gpu_image(VENDOR nvidia FORM ptx PATH ${path} ARCHITECTURE sm_${chip} DRIVER 12000 COMPILER "clang 15"
        COMMAND ${SOTTO_PTX_CLANG} -x cuda -std=c++20 -O3 --cuda-device-only -nocudainc -nocudalib
          --cuda-gpu-arch=sm_${chip} -Xclang -target-feature -Xclang +ptx75 -Wno-unknown-cuda-version -Wno-pass-failed -S)
    endforeach()
  endforeach()
  message(STATUS "GPU kernels for NVIDIA drivers from 525 on by clang 15: ${SOTTO_PTX_ARCHITECTURES}")
elseif(SOTTO_PTX_ARCHITECTURES)
  message(STATUS "No clang 15: no kernels for NVIDIA drivers before nvcc's (Debian: clang-15)")
endif()

if(SOTTO_HIP_CLANG AND SOTTO_HIP_ARCHITECTURES)
  get_filename_component(hip_clang_name ${SOTTO_HIP_CLANG} NAME)
  foreach(chip IN LISTS SOTTO_HIP_ARCHITECTURES)
    gpu_image(VENDOR amd FORM code_object PATH simt ARCHITECTURE ${chip} DRIVER 50000000 COMPILER ${hip_clang_name}
      COMMAND ${SOTTO_HIP_CLANG} -x hip -std=c++20 -O3 --cuda-device-only --no-gpu-bundle-output -nogpuinc -nogpulib
        -Wno-pass-failed --offload-arch=${chip})
  endforeach()
  message(STATUS "GPU kernels for AMD by ${hip_clang_name}: ${SOTTO_HIP_ARCHITECTURES}")
elseif(SOTTO_HIP_ARCHITECTURES)
  message(STATUS "No clang for AMD: no kernels for its chips (Debian: clang-15 lld-15)")
endif()

file(CONFIGURE OUTPUT ${gpu_image_folder}/images.S @ONLY CONTENT
"  .section .rodata
@gpu_image_data@
  .section .note.GNU-stack, \"\", %progbits
")
file(CONFIGURE OUTPUT ${gpu_image_folder}/image_table.cpp @ONLY CONTENT
"#include <vector>

#include \"backend/gpu/images.h\"

@gpu_image_names@
namespace sotto::gpu {

std::span<const Image> images() noexcept {
  static const std::vector<Image> table{
@gpu_image_table@  };
  return table;
}

}  // namespace sotto::gpu
")
set_source_files_properties(${gpu_image_folder}/images.S PROPERTIES OBJECT_DEPENDS "${gpu_image_files}")
